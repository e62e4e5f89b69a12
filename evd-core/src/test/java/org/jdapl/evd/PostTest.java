package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.ExtensionOp;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.ProviderAttributes;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Segments;
import org.jdapl.dat.SharedReceiveQueue;
import org.jdapl.evd.ScriptedDevice.Behavior;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.SendRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What rides along with a post, posts from several threads, and posts in silence. */
@ExtendWith(HandBed.Closing.class)
class PostTest {

  /** It may be accepted: that it is open shows when the guard is free. */
  @Test
  void required_T02_aQueueIsNotGivenUpInTheMiddleOfAPost() {
    final WorkQueue queue = new WorkQueue(false, new Counters(), 0, 1, 1);
    queue.seal();
    queue.lock();
    assertThat(queue.abandon()).isFalse();
    assertThat(queue.isDrained()).isFalse();
    queue.unlock();
    assertThat(queue.abandon()).isTrue();
    assertThat(queue.isDrained()).isTrue();
  }

  /** The queue pair was never connected: the device takes nothing before it is in error. */
  @Test
  void required_T03_whatIsPostedRightAfterAConnectThatFailedIsFlushed() {
    final ScriptedBed bed = new ScriptedBed(new ScriptedDevice(Behavior.WEAK).withSilentPeer(), 1);
    bed.connect();
    bed.enable();
    bed.clock.advance(Duration.ofSeconds(1));
    bed.jdapl.round();
    assertThat(bed.endpoint.state()).isEqualTo(EndpointState.DISCONNECTED);

    assertThat(bed.endpoint.postSend(bed.lmr, 0, 8, 7)).isEqualTo(Outcome.SUCCESS);
    bed.settle();

    assertThat(bed.cookies).containsExactlyInAnyOrder(0L, 7L);
  }

  private static final EndpointAttributes ATTRIBUTES =
      EndpointAttributes.defaults().withMaxDtos(1, 1);

  private static final Duration LONG = Duration.ofSeconds(60);

  @Test
  void required_D03_cookieAndContextComeBackWithTheirRequest() {
    final InterceptedBed bed = new InterceptedBed();
    bed.connected();
    bed.evd.drain(bed.recording(), 9);
    final Segments message = new Segments(1).add(bed.lmr, 0, 8);
    for (final long cookie : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 40}) {
      for (final Object context : new Object[] {new Object(), null}) {
        final List<DtoCompletion> seen = new ArrayList<>();
        assertThat(bed.endpoint.postSend(message, cookie, context, CompletionFlags.DEFAULT))
            .isEqualTo(Outcome.SUCCESS);
        assertThat(bed.endpoint.postReceive(message, ~cookie, context)).isEqualTo(Outcome.SUCCESS);
        bed.provider.receive(0);
        bed.evd.drain(InterceptedBed.on(event -> seen.add(((DtoCompletion) event).copy())), 9);

        assertThat(seen).extracting(DtoCompletion::cookie).containsExactly(cookie, ~cookie);
        assertThat(seen).allMatch(completion -> completion.context() == context);
      }
    }
  }

  @Test
  void required_D01_whatTheDeviceCannotDoIsNotSupported() {
    final ScriptedBed bed = new ScriptedBed(new ScriptedDevice(Behavior.WEAK).withoutOptions(), 2);
    final Segments message = new Segments(1).add(bed.lmr, 0, 8);
    final Endpoint endpoint =
        bed.ia.createEndpoint(bed.pz, bed.evd, bed.evd, bed.connectEvd, ATTRIBUTES);
    endpoint.connect(bed.ia.address(), 1, LONG, null);
    bed.settle();

    isNotSupported(endpoint, () -> endpoint.postFetchAndAdd(bed.lmr, 0, 1, 8, 1, 1, null, 0));
    isNotSupported(endpoint, () -> endpoint.postCompareAndSwap(bed.lmr, 0, 1, 8, 1, 1, 1, null, 0));
    isNotSupported(endpoint, () -> endpoint.postRdmaWriteImmed(message, 1, 8, 1, 1, null, 0));
    for (final ExtensionOp operation : ExtensionOp.values()) {
      isNotSupported(
          endpoint, () -> endpoint.extensionOp(operation, message, 1, 8, 1, 1, 1, null, 0));
    }
    isNotSupported(endpoint, () -> endpoint.postSendWithInvalidate(bed.lmr, 0, 8, 1, 1));
    isNotSupported(endpoint, () -> endpoint.postSendWithInvalidate(message, 1, 1, null, 0));
    isNotSupported(bed.pz, bed.pz::createRmr);
    isNotSupported(bed.pz, bed.pz::createRmrForEndpoint);
    isNotSupported(bed.ia, () -> bed.ia.createSrq(bed.pz, 1, 1));

    final ProviderAttributes supported = bed.ia.providerAttributes();
    assertThat(supported.extensions()).as("it says so").isEmpty();
    assertThat(supported.isSrqSupported()).as("it says so").isFalse();
    assertThat(bed.ia.attributes().maxSrqs()).as("it says so").isZero();
    assertThat(endpoint.isRequestIdle()).as("nothing was posted").isTrue();
    assertThat(endpoint.postSend(bed.lmr, 0, 8, 1)).as("room is left").isEqualTo(Outcome.SUCCESS);
  }

  @Test
  void required_D01_aSharedReceiveQueueThatTheDeviceCannotResizeKeepsItsSize() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 2);
    final SharedReceiveQueue srq = bed.ia.createSrq(bed.pz, 2, 1);

    isNotSupported(srq, () -> srq.resize(4));
    isNotSupported(srq, () -> srq.resize(1));

    assertThat(srq.maxReceives()).as("as before").isEqualTo(2);
  }

  private static void isNotSupported(
      final DatObject object, final ThrowableAssert.ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            DatException.class, e -> assertThat(e.type()).isEqualTo(ReturnType.MODEL_NOT_SUPPORTED))
        .hasMessageContaining(object.name());
  }

  /** What a device does about a fence does not show where requests are done in their order. */
  @Test
  void required_D01_theFlagsOfARequestReachTheDevice() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 2);
    final Segments message = new Segments(1).add(bed.lmr, 0, 8);
    bed.connect();
    bed.settle();

    for (int flags = 0; flags < 16; flags++) {
      assertThat(bed.endpoint.postSend(message, 1, null, flags)).isEqualTo(Outcome.SUCCESS);
      final SendRequest posted = bed.qp().lastSend();
      assertThat(posted.fence)
          .as("fence of flags %d", flags)
          .isEqualTo((flags & CompletionFlags.BARRIER_FENCE) != 0);
      assertThat(posted.solicited)
          .as("solicited of flags %d", flags)
          .isEqualTo((flags & CompletionFlags.SOLICITED_WAIT) != 0);
      bed.qp().completeSignaledSends();
      bed.evd.drain(bed, 9);
    }
  }

  @Test
  void required_D04_threadsThatPostToOneEndpointAtOnceDisturbNoPost() throws InterruptedException {
    final int threads = 4;
    final int each = 2000;
    final InterceptedProvider provider = new InterceptedProvider();
    final AtomicInteger inside = new AtomicInteger();
    final CompletableFuture<Boolean> overlap = new CompletableFuture<>();
    provider.hook =
        verb -> {
          if (verb.equals("post_send")) {
            if (inside.getAndIncrement() > 0) {
              overlap.complete(true);
            }
            Thread.yield();
            inside.decrementAndGet();
          }
        };
    try (Jdapl jdapl = Jdapl.with(provider).start()) {
      final InterfaceAdapter ia = jdapl.open();
      final ProtectionZone pz = ia.createPz();
      final Lmr lmr = pz.createLmr(ByteBuffer.allocateDirect(8), Privilege.values());
      final Evd evd = ia.createEvd(64, EventStream.DTO, EventStream.CONNECTION);
      final Endpoint endpoint =
          ia.createEndpoint(pz, evd, EndpointAttributes.defaults().withMaxDtos(1, 8));
      final CountDownLatch established = new CountDownLatch(1);
      final List<Long> cookies = Collections.synchronizedList(new ArrayList<>());
      evd.upcall(
          new EventHandler() {
            @Override
            public void onConnection(final ConnectionEvent event) {
              established.countDown();
            }

            @Override
            public void onCompletion(final DtoCompletion event) {
              cookies.add(event.cookie());
              if (cookies.size() == threads * each) {
                overlap.complete(false);
              }
            }
          });
      endpoint.connect(ia.address(), 1, LONG, null);
      provider.tell(CmEventType.ESTABLISHED, 0);
      assertThat(established.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
      final CyclicBarrier start = new CyclicBarrier(threads);

      for (int t = 0; t < threads; t++) {
        final long first = (long) t * each;
        final Thread poster = new Thread(() -> post(start, endpoint, lmr, first, each), "posts");
        poster.setDaemon(true);
        poster.start();
      }

      assertThat(overlap)
          .as("two posts are in the verb at once")
          .succeedsWithin(LONG)
          .isEqualTo(false);
      for (long t = 0; t < threads; t++) {
        final long poster = t;
        assertThat(cookies.stream().filter(cookie -> cookie / each == poster))
            .as("of poster %d, in order", t)
            .containsExactlyElementsOf(LongStream.range(t * each, (t + 1) * each).boxed().toList());
      }
      ia.closeAbruptly(LONG);
    }
  }

  private static void post(
      final CyclicBarrier start,
      final Endpoint endpoint,
      final Lmr lmr,
      final long first,
      final int count) {
    try {
      start.await();
    } catch (final InterruptedException | BrokenBarrierException e) {
      throw new AssertionError(e);
    }
    for (long cookie = first; cookie < first + count; ) {
      if (endpoint.postSend(lmr, 0, 8, cookie) == Outcome.SUCCESS) {
        cookie++;
      } else {
        Thread.yield(); // to the dispatcher, which makes room
      }
    }
  }

  /** A send queue is freed by completions, and a suppressed success has none. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void required_D05_aConsumerThatSuppressesEverythingNeverRunsDry(final boolean enabled) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 2);
    for (int most = 1; most <= 5; most++) {
      final Endpoint endpoint =
          bed.ia.createEndpoint(
              bed.pz,
              bed.evd,
              bed.evd,
              bed.connectEvd,
              EndpointAttributes.defaults().withMaxDtos(1, most));
      endpoint.connect(bed.ia.address(), 1, LONG, null);
      if (enabled) {
        bed.enable();
      }
      final Segments message = new Segments(1).add(bed.lmr, 0, 8);
      for (int round = 0; round < 100; round++) {
        int accepted = 0;
        while (endpoint.postSend(message, accepted, null, CompletionFlags.SUPPRESS)
            == Outcome.SUCCESS) {
          accepted++;
        }
        assertThat(accepted).as("in round %d of %d at most", round, most).isPositive();
        bed.device.lastQp().completeSignaledSends();
        if (enabled) {
          bed.settle();
        } else {
          assertThat(bed.evd.dequeue(bed)).isEqualTo(Outcome.QUEUE_EMPTY);
        }
      }
      endpoint.close();
      bed.evd.disable();
    }
    assertThat(bed.cookies).as("all in silence").isEmpty();
  }

  @Test
  void required_D05_aReceiveIsNotSuppressed() {
    final InterceptedBed bed = new InterceptedBed();
    assertThatThrownBy(
            () ->
                bed.ia.createEndpoint(
                    bed.pz,
                    bed.evd,
                    EndpointAttributes.defaults().withReceiveFlags(CompletionFlags.SUPPRESS)))
        .isInstanceOfSatisfying(
            DatException.class, e -> assertThat(e.type()).isEqualTo(ReturnType.INVALID_PARAMETER));
  }
}
