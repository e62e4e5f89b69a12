package org.jdapl.rdmacore;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.BindRequest;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.MemoryWindow;
import org.jdapl.verbs.MwType;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;

/**
 * Calls every verb, on two sides of a connection. One call of the fake libraries may be told to
 * fail: then it ends early, and everything that was created is closed all the same.
 *
 * <p>As a program it runs once for each call that can fail, for tools that watch a process.
 */
final class Scenario {

  private static final byte[] HELLO = "hello".getBytes(StandardCharsets.US_ASCII);
  private static final int ROUNDS = 20;

  /** What was expected did not come, because a call had failed. */
  static final class Stopped extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Stopped(final String what) {
      super(what);
    }
  }

  private final EventChannel channel;
  private final Side a;
  private final Side b;

  private Scenario(final EventChannel channel) {
    this.channel = channel;
    a = new Side(channel);
    b = new Side(channel);
  }

  /**
   * Runs once.
   *
   * @return what ended it early; null if nothing did.
   */
  static RuntimeException run() {
    new RdmaCoreProvider().problem();
    final EventChannel channel;
    try {
      channel = new RdmaCoreProvider().createEventChannel();
    } catch (final VerbsException e) {
      return e;
    }
    final Scenario scenario = new Scenario(channel);
    RuntimeException end = null;
    try {
      scenario.play();
    } catch (final VerbsException | Stopped e) {
      end = e;
    } finally {
      scenario.a.close();
      scenario.b.close();
      channel.close();
    }
    return end;
  }

  private void play() {
    a.create(false);
    b.create(true);
    b.listen();
    beRejected();
    beRefused();
    failToResolve();
    a.connect(b, new CmParameters(ByteBuffer.wrap(HELLO), 4, 4, 7, 7));
    until("request", () -> !b.requests.isEmpty());
    b.accept();
    until("ESTABLISHED", () -> a.has(CmEventType.ESTABLISHED) && b.has(CmEventType.ESTABLISHED));
    b.id.notifyEstablished();
    notice();
    transfer();
    bind();
    resize();
    hearAsync();
    a.id.disconnect();
    until("DISCONNECTED", () -> a.has(CmEventType.DISCONNECTED) && b.has(CmEventType.DISCONNECTED));
    b.qp.modifyToError();
    drain(a.sendCq);
    drain(b.recvCq);
  }

  private void beRejected() {
    a.connect(b, Side.PARAMETERS);
    until("request", () -> !b.requests.isEmpty());
    b.requests.remove(0).reject(CmHandler.CONSUMER_REJECT, ByteBuffer.wrap(HELLO));
    until("REJECTED", () -> a.has(CmEventType.REJECTED));
    a.events.clear();
    a.id.close();
  }

  private void beRefused() {
    a.connect(b, Side.PARAMETERS);
    until("request", () -> !b.requests.isEmpty());
    b.requests.remove(0).reject(1, null);
    until("REJECTED", () -> a.has(CmEventType.REJECTED));
    a.events.clear();
    a.id.close();
  }

  private void failToResolve() {
    try {
      a.id = a.own(a.connect(InetAddress.getByName("198.51.100.1"), 1, Side.PARAMETERS));
    } catch (final UnknownHostException e) {
      throw new IllegalStateException(e);
    }
    until("ADDR_ERROR", () -> a.has(CmEventType.ADDR_ERROR));
    a.events.clear();
    a.id.close();
  }

  /** The passive side is told of its connection by a message, before the answer's answer came. */
  private void notice() {
    final Side c = new Side(channel);
    final Side d = new Side(channel);
    try (c;
        d) {
      c.create(false);
      d.create(false);
      d.listen();
      c.connect(d, Side.PARAMETERS);
      until("request", () -> !d.requests.isEmpty());
      d.accept();
      d.id.notifyEstablished();
      until("ESTABLISHED", () -> c.has(CmEventType.ESTABLISHED) && d.has(CmEventType.ESTABLISHED));
    }
  }

  private void transfer() {
    rearm(b.recvCq);
    b.recvCq.arm(ArmKind.SOLICITED);
    posted(b.srq.postRecv(b.recv(1, 0, 64)));
    posted(a.qp.postRecv(a.recv(2, 0, 64)));
    final RecvRequest[] recvs = {a.recv(3, 64, 64), a.recv(4, 128, 64)};
    posted(a.qp.postRecvs(recvs, 2) == 2 ? 0 : a.qp.postRecv(recvs[0]));
    final SendRequest send = a.send(5, WrOpcode.SEND_WITH_IMM, 0, 16);
    send.inline = true;
    send.immediate = 7;
    posted(a.qp.postSend(send));
    until("notification", () -> b.notified.contains(b.recvCq));
    final SendRequest[] sends = {
      a.remote(6, WrOpcode.RDMA_WRITE, 32, b, 0),
      a.remote(7, WrOpcode.RDMA_READ, 32, b, 64),
      a.remote(8, WrOpcode.ATOMIC_FETCH_AND_ADD, 8, b, 128)
    };
    posted(a.qp.postSends(sends, 3) == 3 ? 0 : VerbsException.ENOMEM);
    drain(a.sendCq);
    drain(b.recvCq);
    rearm(a.sendCq);
  }

  private void bind() {
    final MemoryWindow window = b.own(b.device.allocMw(b.pd, MwType.TYPE_1));
    final BindRequest bind = new BindRequest();
    bind.window = window;
    bind.region = b.mr;
    bind.address = b.mr.address();
    bind.length = 64;
    bind.access = Set.of(Access.REMOTE_WRITE);
    posted(b.qp.postBind(bind));
    drain(b.sendCq);
  }

  private void resize() {
    a.sendCq.resize(2 * Side.WR);
    b.srq.armLimit(1);
  }

  private void hearAsync() {
    Fake.raiseDevice(10, 1);
    until("async events", () -> !a.asyncs.isEmpty() && !b.asyncs.isEmpty());
  }

  private static void posted(final int errno) {
    if (errno != 0) {
      throw new VerbsException("post", "scenario", errno, "");
    }
  }

  private static void drain(final CompletionQueue cq) {
    final WorkCompletions batch = new WorkCompletions(RdmaCq.BATCH);
    do {
      batch.clear();
    } while (cq.poll(batch, RdmaCq.BATCH) > 0);
  }

  private static void rearm(final CompletionQueue cq) {
    final WorkCompletions batch = new WorkCompletions(Side.WR);
    cq.pollAndRearm(batch, Side.WR, ArmKind.NEXT);
  }

  /** Everything happens at once with the fake: what does not come soon never comes. */
  private void until(final String what, final BooleanSupplier condition) {
    for (int i = 0; i < ROUNDS; i++) {
      if (condition.getAsBoolean()) {
        return;
      }
      channel.await(0);
    }
    if (Fake.failed().isEmpty()) {
      throw new AssertionError("no " + what + "; a " + a.events + ", b " + b.events);
    }
    throw new Stopped(what + " did not come after " + Fake.failed() + " failed");
  }

  /** Fails every call in turn; what is wrong after it, a line each. */
  static List<String> runWithEachCallFailing(final int errno) {
    final List<String> wrong = new ArrayList<>();
    Fake.failAt(0, 0);
    final RuntimeException early = run();
    if (early != null) {
      wrong.add("without a failure it ended early: " + early);
    }
    final long calls = Fake.calls();
    for (long call = 1; call <= calls; call++) {
      Fake.failAt(call, errno);
      String end;
      try {
        end = String.valueOf(run());
      } catch (final RuntimeException | Error e) {
        end = "unexpected " + e;
        wrong.add(call + ": " + Fake.failed() + " failed: " + end);
      }
      final String where = call + " of " + calls + ": " + Fake.failed() + " failed: " + end + ": ";
      if (Fake.failed().isEmpty()) {
        wrong.add(where + "the call did not come");
      }
      if (!Fake.live().isEmpty()) {
        wrong.add(where + "left " + Fake.live());
        break;
      }
      if (!Fake.violations().isEmpty()) {
        wrong.add(where + Fake.violations());
        break;
      }
    }
    Fake.failAt(0, 0);
    return wrong;
  }

  /**
   * Runs with each call failing, in turn.
   *
   * @param arguments none.
   */
  public static void main(final String... arguments) {
    final List<String> wrong = runWithEachCallFailing(VerbsException.ENOMEM);
    wrong.forEach(System.out::println);
    System.out.println("failed: " + Fake.failedEver().strip().replace('\n', ' '));
    System.out.println(wrong.isEmpty() ? "all is well" : "not all is well");
    System.exit(wrong.isEmpty() ? 0 : 1);
  }
}
