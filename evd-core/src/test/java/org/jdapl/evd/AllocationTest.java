package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.ExtensionOp;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.Rmr;
import org.jdapl.dat.RmrBindCompletion;
import org.jdapl.dat.Segments;
import org.jdapl.dat.SharedReceiveQueue;
import org.jdapl.dat.SoftwareEvent;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Counts the bytes that the event path allocates. Assertions are off: they make copies of events.
 */
@Tag("allocation")
class AllocationTest {

  private static final int BURST = 16;
  private static final int RUNS = 3;
  private static final int EVENTS = 10_000_000;
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final class Count implements EventHandler {
    private long completions;
    private long software;
    private long binds;
    private long invalidated;

    @Override
    public void onCompletion(final DtoCompletion event) {
      completions += event.transferredLength();
      if (event.operation() == DtoOperation.RECEIVE_WITH_INVALIDATE) {
        invalidated++;
      }
    }

    @Override
    public void onRmrBind(final RmrBindCompletion event) {
      binds++;
    }

    @Override
    public void onSoftware(final SoftwareEvent event) {
      software++;
    }
  }

  /** Time stands still: the watchdog's timer, four times a second, is no event. */
  private static Jdapl start() {
    return Jdapl.with(new Loopback()).byHand().clock(new HandClock()).start();
  }

  @Test
  void required_E10_softwareEventsAllocateNothing() {
    try (Jdapl jdapl = start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = ia.createEvd(BURST, EventStream.SOFTWARE)) {
      final Count count = new Count();
      final Object payload = new Object();
      evd.upcall(count);

      final long bytes =
          bytesOf(
              () -> {
                for (int i = 0; i < BURST; i++) {
                  evd.postSoftwareEvent(payload);
                }
                jdapl.round();
              },
              BURST);

      assertThat(count.software).isEqualTo((long) RUNS * EVENTS);
      assertThat(bytes).as("bytes for " + EVENTS + " software events").isZero();
    }
  }

  @Test
  void required_E10_completionsAllocateNothingFromPostToHandler() {
    try (Jdapl jdapl = start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = ia.createEvd(4 * BURST, EventStream.DTO, EventStream.CONNECTION);
        ProtectionZone pz = ia.createPz();
        Lmr lmr = pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
        Endpoint endpoint = ia.createEndpoint(pz, evd, EndpointAttributes.defaults())) {
      final Count count = new Count();
      evd.upcall(count);
      endpoint.connect(ia.address(), 1, Duration.ofSeconds(1), null);
      jdapl.round();

      final long bytes =
          bytesOf(
              () -> {
                for (int i = 0; i < BURST / 2; i++) {
                  post(endpoint, lmr, i);
                }
                jdapl.round();
              },
              BURST);

      assertThat(count.completions).isEqualTo((long) RUNS * EVENTS);
      assertThat(bytes).as("bytes for " + EVENTS + " completions").isZero();
    }
  }

  @Test
  void required_E10_atomicsAndImmediateDataAllocateNothingFromPostToHandler() {
    try (Jdapl jdapl = start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = ia.createEvd(4 * BURST, EventStream.DTO, EventStream.CONNECTION);
        ProtectionZone pz = ia.createPz();
        Lmr lmr = pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
        Endpoint endpoint = ia.createEndpoint(pz, evd, EndpointAttributes.defaults())) {
      final Count count = new Count();
      final Segments segments = new Segments(1).add(lmr, 0, 1);
      final Segments number = new Segments(1).add(lmr, 0, Long.BYTES);
      evd.upcall(count);
      endpoint.connect(ia.address(), 1, Duration.ofSeconds(1), null);
      jdapl.round();

      final long bytes =
          bytesOf(
              () -> {
                for (int i = 0; i < BURST / 4; i++) {
                  if (endpoint.postReceive(lmr, 0, 1, i) != Outcome.SUCCESS
                      || endpoint.postRdmaWriteImmed(segments, 1, 8, i, i, count, 0)
                          != Outcome.SUCCESS
                      || endpoint.extensionOp(
                              ExtensionOp.FETCH_AND_ADD, number, 1, 8, 1, 0, i, count, 0)
                          != Outcome.SUCCESS
                      || endpoint.postCompareAndSwap(lmr, 8, 1, 8, 1, 2, i, count, 0)
                          != Outcome.SUCCESS) {
                    throw new IllegalStateException("a queue is full");
                  }
                }
                jdapl.round();
              },
              BURST);

      assertThat(count.completions).as("bytes transferred").isGreaterThan(EVENTS);
      assertThat(bytes).as("bytes for " + EVENTS + " completions").isZero();
    }
  }

  @Test
  void required_E10_sharedReceivesAllocateNothingFromPostToHandler() {
    try (Jdapl jdapl = start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = ia.createEvd(4 * BURST, EventStream.DTO, EventStream.CONNECTION);
        ProtectionZone pz = ia.createPz();
        Lmr lmr = pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
        SharedReceiveQueue srq = ia.createSrq(pz, BURST, 1);
        Endpoint endpoint =
            ia.createEndpoint(pz, evd, evd, evd, srq, EndpointAttributes.defaults())) {
      final Count count = new Count();
      evd.upcall(count);
      endpoint.connect(ia.address(), 1, Duration.ofSeconds(1), null);
      jdapl.round();

      final long bytes =
          bytesOf(
              () -> {
                for (int i = 0; i < BURST / 2; i++) {
                  if (srq.postReceive(lmr, 0, 1, i) != Outcome.SUCCESS
                      || endpoint.postSend(lmr, 0, 1, i) != Outcome.SUCCESS) {
                    throw new IllegalStateException("a queue is full");
                  }
                }
                jdapl.round();
              },
              BURST);

      assertThat(count.completions).isEqualTo((long) RUNS * EVENTS);
      assertThat(bytes).as("bytes for " + EVENTS + " completions").isZero();
    }
  }

  @Test
  void required_E10_bindsAndMessagesThatEndWindowsAllocateNothingFromPostToHandler() {
    try (Jdapl jdapl = start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd =
            ia.createEvd(4 * BURST, EventStream.DTO, EventStream.RMR_BIND, EventStream.CONNECTION);
        ProtectionZone pz = ia.createPz();
        Lmr lmr = pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
        Rmr rmr = pz.createRmrForEndpoint();
        Endpoint endpoint = ia.createEndpoint(pz, evd, EndpointAttributes.defaults())) {
      final Count count = new Count();
      final Set<Privilege> privileges = EnumSet.of(Privilege.REMOTE_READ, Privilege.REMOTE_WRITE);
      evd.upcall(count);
      endpoint.connect(ia.address(), 1, Duration.ofSeconds(1), null);
      jdapl.round();

      final long bytes =
          bytesOf(
              () -> {
                if (rmr.bind(lmr, 0, 64, privileges, endpoint, 1, null, 0) != Outcome.SUCCESS
                    || endpoint.postReceive(lmr, 0, 1, 2) != Outcome.SUCCESS
                    || endpoint.postSendWithInvalidate(lmr, 0, 1, rmr.rmrContext(), 3)
                        != Outcome.SUCCESS) {
                  throw new IllegalStateException("a queue is full");
                }
                jdapl.round();
              },
              BURST);

      assertThat(count.binds).isEqualTo((long) RUNS * EVENTS / BURST);
      assertThat(count.invalidated).isEqualTo(count.binds);
      assertThat(bytes).as("bytes for " + count.binds / RUNS + " binds").isZero();
    }
  }

  @Test
  void required_E10_threadsAllocateNothingFromPostToHandler() {
    final Thread[] dispatcher = new Thread[1];
    try (Jdapl jdapl =
            Jdapl.with(new Loopback())
                .waitStrategy(WaitStrategy.BUSY_SPIN)
                .threads(loop -> remembered(loop, dispatcher))
                .start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = ia.createEvd(BURST, EventStream.SOFTWARE)) {
      final AtomicLong handled = new AtomicLong();
      final Object payload = new Object();
      evd.upcall(
          new EventHandler() {
            @Override
            public void onSoftware(final SoftwareEvent event) {
              handled.lazySet(handled.getPlain() + 1);
            }
          });

      long bytes = 0;
      long due = 0;
      for (int run = 0; run < RUNS; run++) {
        final long before = bytesOf(dispatcher[0]);
        due += EVENTS / 10;
        for (int i = 0; i < EVENTS / 10; i++) {
          while (evd.postSoftwareEvent(payload) != Outcome.SUCCESS) {
            Thread.yield();
          }
        }
        while (handled.get() < due) {
          Thread.yield();
        }
        bytes = bytesOf(dispatcher[0]) - before;
      }

      assertThat(bytes).as("bytes for " + EVENTS / 10 + " events, of both threads").isZero();
    }
  }

  private static Thread remembered(final Runnable loop, final Thread[] dispatcher) {
    final Thread thread = new Thread(loop, "allocation-" + loop);
    thread.setDaemon(true);
    if (loop instanceof Dispatcher) {
      dispatcher[0] = thread;
    }
    return thread;
  }

  private static long bytesOf(final Thread dispatcher) {
    return THREADS.getCurrentThreadAllocatedBytes()
        + THREADS.getThreadAllocatedBytes(dispatcher.getId());
  }

  private static void post(final Endpoint endpoint, final Lmr lmr, final long cookie) {
    if (endpoint.postReceive(lmr, 0, 1, cookie) != Outcome.SUCCESS
        || endpoint.postSend(lmr, 0, 1, cookie) != Outcome.SUCCESS) {
      throw new IllegalStateException("the queue is full although everything was handed out");
    }
  }

  /** Bytes of the last of three equal runs: the others warm up, this measurement included. */
  private static long bytesOf(final Runnable burst, final int events) {
    long bytes = 0;
    for (int run = 0; run < RUNS; run++) {
      final long before = THREADS.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < EVENTS / events; i++) {
        burst.run();
      }
      bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
    }
    return bytes;
  }
}
