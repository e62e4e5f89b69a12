package org.jdapl.verbs.tck;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SharedReceiveQueue;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/** The ends of objects: barriers, what is in use, late and double calls. Needs no peer. */
public abstract class TeardownTck extends VerbsTck {

  private static final int ROUNDS = 20;
  private static final int MAX_QP_NUMBER = 0xff_ffff;
  private static final String COUNTS =
      "users that are not counted, or counted down by the first close only.";
  private static final String REACHED =
      "a closed object that is still reached: with a native provider that is freed memory.";

  /** Tests of ends. */
  protected TeardownTck() {}

  @Test
  void required_T07_theDestructionOfAQueueWaitsForItsHandler() {
    final Side side = first();
    needsThreads();
    final Cq cq = side.cq();
    final QueuePair qp = side.flushing(cq);
    final CountDownLatch inside = new CountDownLatch(1);
    final CountDownLatch release = new CountDownLatch(1);
    cq.whenNotified =
        () -> {
          inside.countDown();
          hold(release, where().await);
        };
    needs(cq.armSurely(), "it hints without end, and may not be armed");
    final Background destroying = destroying("destroy both", qp, cq, inside);
    final Background again = destroying("destroy both once more", qp, cq, inside);
    final Background releasing =
        inBackground(
            "let go of the handler after a while",
            () -> {
              hold(inside, where().await);
              hold(release, where().silence);
              check(
                  !destroying.isDone() && !again.isDone(),
                  "both destructions to wait for the handler that runs",
                  "one returned while the handler ran",
                  "a close that only forbids new calls, or a second one that finds nothing to do:"
                      + " wait for those that run, too.");
              release.countDown();
            });
    side.postRecv(qp, 1);
    await(
        () -> destroying.isDone() && again.isDone() && releasing.isDone(),
        "the destruction to return when the handler did",
        () -> "handler called " + cq.notifications + " times",
        "a close that waits for an acknowledgement of an event that was never read.");
    rethrow(releasing.failure());
    rethrow(destroying.failure());
    rethrow(again.failure());
    final int before = cq.notifications.get();
    silence();
    same(before, cq.notifications.get(), "notifications", "a notification after the destruction.");
  }

  private Background destroying(
      final String what, final QueuePair qp, final Cq cq, final CountDownLatch inside) {
    return inBackground(
        what + " while the handler of the queue holds",
        () -> {
          if (hold(inside, where().await)) {
            qp.close();
            cq.queue.close();
          }
        });
  }

  @Test
  void required_T07_noNotificationComesAfterTheDestruction() {
    final Side side = first();
    for (int round = 0; round < ROUNDS; round++) {
      final Cq cq = side.cq();
      final QueuePair qp = side.flushing(cq);
      cq.arm();
      side.postRecv(qp, round);
      side.close(qp, "the queue pair");
      side.close(cq.queue, "its completion queue");
      final int before = cq.notifications.get();
      if (round % 4 == 3) {
        silence();
        same(
            before,
            cq.notifications.get(),
            "notifications after the destruction returned",
            "an event that was on its way: drop what is pending, under the lock that starts"
                + " calls.");
      }
    }
  }

  @Test
  void required_T08_theDestructionReturnsAfterManyNotifications() {
    final Side side = first();
    final Cq cq = side.cq();
    final QueuePair qp = side.flushing(cq);
    for (int round = 1; round <= ROUNDS; round++) {
      needs(cq.armSurely(), "it hints without end, and may not be armed");
      side.postRecv(qp, round);
      cq.awaitNotification(round, "an arm that was lost.");
      cq.awaitPolled(round, "a lost completion.");
    }
    side.close(qp, "the queue pair");
    side.close(cq.queue, "its completion queue: that waits for every event to be acknowledged");
  }

  @Test
  void required_M05_noCompletionComesAfterTheDestruction() {
    final Side side = first();
    final Cq cq = side.cq();
    for (int round = 0; round < ROUNDS; round++) {
      final QueuePair qp = side.qp(cq);
      for (int i = 0; i < 4; i++) {
        side.postRecv(qp, i);
      }
      if (round % 2 == 0) {
        qp.modifyToError();
      }
      side.close(qp, "the queue pair, with 4 receives in it");
      cq.pollAll();
      if (round % 4 >= 2) {
        silence();
        final List<Completion> late = cq.pollAll();
        check(
            late.isEmpty(),
            "no completion to be added after the destruction returned",
            late,
            "a flush that runs on: it must have ended, or be stopped, before the close returns.");
      }
    }
  }

  @Test
  void required_M05_theNumberOfAQueuePairIsItsOwnWhileItIsOpen() {
    final Side side = first();
    final Cq cq = side.cq();
    final List<QueuePair> open = new ArrayList<>();
    for (int round = 0; round < 3; round++) {
      while (open.size() < 8) {
        open.add(side.qp(cq));
      }
      final Set<Integer> numbers = new HashSet<>();
      for (final QueuePair qp : open) {
        check(
            numbers.add(qp.number()) && qp.number() >= 0 && qp.number() <= MAX_QP_NUMBER,
            "numbers of 24 bits that differ, of the queue pairs that are open",
            open.stream().map(QueuePair::number).toList(),
            "a number that is used again while its queue pair is open, or being closed.");
      }
      for (int i = 0; i < 4; i++) {
        side.close(open.remove(2 * i % open.size()), "a queue pair");
      }
    }
  }

  @Test
  void required_T09_whatIsInUseIsNotDestroyed() {
    final Side side = first();
    final Cq cq = side.cq();
    final QueuePair qp = side.qp(cq);
    refused("destroy a queue that is in use", cq.queue::close, COUNTS, VerbsException.EBUSY);
    refused("release a domain that is in use", side.pd::close, COUNTS, VerbsException.EBUSY);
    refused("close a device that is in use", side.device::close, COUNTS, VerbsException.EBUSY);
    qp.modifyToError();
    side.postRecv(qp, 3);
    cq.awaitPolled(1, "a close that threw, and left the object half closed.");
    side.close(qp, "the queue pair");
    side.close(cq.queue, "the completion queue");
  }

  @Test
  void required_R02_toCloseTwiceHasNoEffect() {
    final Side side = first();
    final Cq cq = side.cq();
    final QueuePair qp = side.qp(cq);
    final String often = "a second free.";
    side.close(qp, "the queue pair");
    twice(qp, "the queue pair", often);
    side.close(cq.queue, "the completion queue");
    twice(cq.queue, "the completion queue", often);
    side.close(side.mr, "the region");
    twice(side.mr, "the region", often);
    side.close(side.pd, "the domain");
    twice(side.pd, "the domain", often);
    side.close(side.device, "the device");
    twice(side.device, "the device", often);
  }

  private void twice(final AutoCloseable object, final String what, final String often) {
    did("close " + what + " again");
    try {
      object.close();
    } catch (final Exception e) {
      fail("a second close of " + what + " to have no effect", e, often);
    }
  }

  @Test
  void required_R02_aSecondCloseDoesNotReleaseAnotherObject() {
    final Side side = first();
    final Cq cq = side.cq();
    final QueuePair gone = side.qp(cq);
    side.close(gone, "a queue pair");
    final QueuePair qp = side.flushing(cq);
    twice(gone, "the first queue pair", "a close by number, which the second one has now.");
    side.postRecv(qp, 8);
    cq.awaitPolled(1, "a close by number, which the second one has now.");
    refused("destroy the queue that the second one uses", cq.queue::close, COUNTS);
  }

  @Test
  void required_R02_aClosedObjectRefuses() {
    final Side side = first();
    final Cq cq = side.cq();
    final QueuePair qp = side.qp(cq);
    side.close(qp, "the queue pair");
    refusedPost(
        "post a receive to the closed queue pair",
        () -> qp.postRecv(side.recv(1, 0, 8)),
        REACHED,
        VerbsException.EINVAL);
    refusedPost(
        "post a request to the closed queue pair",
        () -> qp.postSend(side.send(WrOpcode.SEND, 1, 0, 8)),
        REACHED,
        VerbsException.EINVAL);
    refused("modify it to the error state", qp::modifyToError, REACHED, VerbsException.EINVAL);
    side.close(cq.queue, "the completion queue");
    final WorkCompletions batch = new WorkCompletions(4);
    refused("poll", () -> cq.queue.poll(batch, 4), REACHED, VerbsException.EINVAL);
    refused("arm", () -> cq.queue.arm(ArmKind.NEXT), REACHED, VerbsException.EINVAL);
    refused(
        "pollAndRearm",
        () -> cq.queue.pollAndRearm(batch, 4, ArmKind.NEXT),
        REACHED,
        VerbsException.EINVAL);
    same(0, batch.size(), "completions appended by calls that failed", REACHED);
    refused("create a queue pair on it", () -> side.qp(cq), REACHED, VerbsException.EINVAL);
    side.close(side.mr, "the region");
    final ProtectionDomain pd = side.pd;
    side.close(pd, "the domain");
    refused(
        "register memory in the closed domain",
        () -> side.region(ByteBuffer.allocateDirect(8), Side.all()),
        REACHED,
        VerbsException.EINVAL);
  }

  @Test
  void required_R02_whatIsClosedTellsTheSame() {
    final Side side = first();
    final Cq cq = side.cq();
    final QueuePair qp = side.qp(cq);
    final Device device = side.device;
    final Supplier<List<Object>> told =
        () ->
            List.of(
                "qp number " + qp.number(),
                "maxInline " + qp.maxInline(),
                "capacity " + cq.queue.capacity(),
                "device " + cq.queue.device().name(),
                "address " + side.mr.address(),
                "length " + side.mr.length(),
                "lkey " + side.mr.lkey(),
                "rkey " + side.mr.rkey(),
                device.name(),
                device.declaration(),
                device.limits(),
                device.capabilities(),
                device.address());
    final List<Object> before = told.get();
    side.close(qp, "the queue pair");
    side.close(cq.queue, "the completion queue");
    side.close(side.mr, "the region");
    side.close(side.pd, "the domain");
    side.close(device, "the device");
    same(before, told.get(), "what they tell", REACHED);
  }

  @Test
  void required_R02_aClosedDeviceCreatesNothing() {
    final Side side = first();
    final Cq cq = side.cq();
    final Device device = side.device;
    final int shared = device.limits().maxSrq();
    side.close(cq.queue, "the completion queue");
    side.close(side.mr, "the region");
    side.close(side.pd, "the domain");
    side.close(device, "the device");
    final String often =
        "a look at the objects first, which are closed too: ENODEV says that it is the device.";
    final int errno = VerbsException.ENODEV;
    refused("allocate a domain", device::allocPd, often, errno);
    refused("create a completion queue", () -> device.createCq(4, queue -> {}), often, errno);
    refused(
        "register memory",
        () -> device.regMr(side.pd, ByteBuffer.allocateDirect(8), Side.all()),
        often,
        errno);
    refused(
        "create a queue pair",
        () -> device.createQp(new QpAttributes(side.pd, cq.queue, cq.queue, null, 4, 4, 1, 1, 0)),
        often,
        errno);
    if (shared > 0) {
      refused("create a shared queue", () -> device.createSrq(side.pd, 4, 1), often, errno);
    }
  }

  @Test
  void required_R02_aQueuePairMayBeClosedWhilePostsRun() {
    final Side side = first();
    needsThreads();
    final Cq cq = side.cq();
    final String often = "a post that looks first whether it is open, and uses it afterwards.";
    for (int round = 0; round < ROUNDS; round++) {
      final QueuePair qp = side.qp(cq);
      final AtomicInteger posts = new AtomicInteger();
      final Background posting =
          inBackground(
              "post receives until it is refused",
              () -> {
                final RecvRequest request = side.recv(1, 0, 8);
                int errno = 0;
                while (errno == 0 || errno == VerbsException.ENOMEM) {
                  errno = qp.postRecv(request);
                  posts.incrementAndGet();
                }
                same(VerbsException.EINVAL, errno, "the errno of a post that is late", often);
              });
      await(() -> posts.get() > 0, "a post", posts::get, often);
      side.close(qp, "the queue pair");
      await(posting::isDone, "the posts to be refused, as it is closed", posts::get, often);
      rethrow(posting.failure());
      cq.pollAll();
    }
  }

  @Test
  void required_R02_anObjectOfAnotherDeviceIsRefused() {
    final Side side = first();
    final Side other = second();
    final Cq cq = side.cq();
    final Cq foreign = other.cq();
    final String often = "handles that are taken as numbers, which the other device has too.";
    refused(
        "register memory in a domain of another device",
        () -> side.own(side.device.regMr(other.pd, ByteBuffer.allocateDirect(8), Side.all())),
        often,
        VerbsException.EINVAL);
    refused("a queue pair with such a queue", () -> side.qp(foreign), often, VerbsException.EINVAL);
    refused(
        "a queue pair in such a domain",
        () ->
            side.own(
                side.device.createQp(
                    new QpAttributes(other.pd, cq.queue, cq.queue, null, 4, 4, 1, 1, 0))),
        often,
        VerbsException.EINVAL);
  }

  @Test
  void required_T11_memoryThatCannotBeRegisteredIsRefused() {
    final Side side = first();
    refused(
        "register a heap buffer",
        () -> side.region(ByteBuffer.allocate(64), EnumSet.of(Access.LOCAL_WRITE)),
        "a copy of the buffer that is registered: nobody would see what arrives in it.");
  }

  @Test
  void required_D02_rightsToWriteNeedMemoryThatCanBeWritten() {
    final Side side = first();
    final String often = "rights that are added by the provider, or checked when they are used.";
    refused(
        "register with REMOTE_WRITE and without LOCAL_WRITE",
        () -> side.region(ByteBuffer.allocateDirect(64), EnumSet.of(Access.REMOTE_WRITE)),
        often,
        VerbsException.EINVAL);
    refused(
        "register a read-only buffer with LOCAL_WRITE",
        () -> side.region(ByteBuffer.allocateDirect(64).asReadOnlyBuffer(), Side.all()),
        "memory that Java promised to nobody to be written.",
        VerbsException.EINVAL);
    final ByteBuffer constant = ByteBuffer.allocateDirect(64).asReadOnlyBuffer();
    did("register a read-only buffer to be read");
    same(
        64L,
        side.region(constant, EnumSet.of(Access.REMOTE_READ)).length(),
        "the length of a region that is only read",
        "read-only buffers that are refused whatever the rights.");
  }

  @Test
  void required_T11_theRegionIsTheWholeBuffer() {
    final Side side = first();
    final ByteBuffer memory = ByteBuffer.allocateDirect(256);
    memory.position(16).limit(32);
    same(
        256L,
        side.region(memory, Side.all()).length(),
        "the length of the region",
        "a region of what remains of the buffer.");
  }

  @Test
  void required_T05_completionsOfADestroyedQueuePairDoNotBlockOthers() {
    final Side side = first();
    final Cq cq = side.cq();
    final QueuePair gone = side.flushing(cq);
    for (int i = 0; i < 4; i++) {
      side.postRecv(gone, i);
    }
    silence();
    final QueuePair qp = side.flushing(cq);
    side.postRecv(qp, 100);
    side.close(gone, "the queue pair whose completions nobody polled");
    await(
        () -> cq.pollAll().stream().anyMatch(completion -> completion.wrId() == 100),
        "the completion of the other queue pair",
        () -> cq.polled,
        "a poll that stops at a completion whose queue pair is gone, and returns 0.");
  }

  @Test
  void required_T09_aSharedReceiveQueueInUseIsNotDestroyed() {
    final Side side = first();
    needs(side.device.limits().maxSrq() > 0, "its limits say maxSrq 0");
    final Cq cq = side.cq();
    final SharedReceiveQueue srq = side.own(side.device.createSrq(side.pd, 4, 1));
    final QueuePair qp = side.qp(cq, cq, srq, 4);
    refused("destroy a shared queue in use", srq::close, COUNTS, VerbsException.EBUSY);
    side.close(qp, "the queue pair");
    side.close(srq, "the shared receive queue");
  }
}
