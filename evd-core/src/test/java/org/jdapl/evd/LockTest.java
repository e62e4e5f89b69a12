package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.lang.management.MonitorInfo;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.Delivery;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Which monitors are held where foreign code runs; the JVM says so. */
@ExtendWith(HandBed.Closing.class)
class LockTest {

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final long NAP = TimeUnit.MICROSECONDS.toNanos(200);
  private static final String FRAMEWORK = "org.jdapl.evd.";

  private final Set<String> called = ConcurrentHashMap.newKeySet();
  private final List<String> held = new CopyOnWriteArrayList<>();

  /** Foreign code runs here. */
  private void look(final String where) {
    called.add(where);
    final ThreadInfo thread =
        THREADS.getThreadInfo(new long[] {Thread.currentThread().getId()}, true, false)[0];
    for (final MonitorInfo monitor : thread.getLockedMonitors()) {
      if (monitor.getLockedStackFrame().getClassName().startsWith(FRAMEWORK)) {
        held.add(where + ": " + monitor + " at " + monitor.getLockedStackFrame());
      }
    }
  }

  /** Looks, and closes what it gets. */
  private final class Looking implements EventHandler {
    @Override
    public void onRequest(final ConnectionRequestEvent event) {
      look("onRequest");
      event.request().reject(null);
    }

    @Override
    public void onEvent(final Event event) {
      look("onEvent");
    }

    @Override
    public void onTurnEnd(final Evd evd) {
      look("onTurnEnd");
    }
  }

  @Test
  void shouldSeeALockThatIsHeld() {
    synchronized (this) {
      look("here");
    }
    assertThat(held).hasSize(1);
  }

  @Test
  void required_U13_noLockIsHeldInHandlersAndVerbs() {
    final InterceptedBed bed = new InterceptedBed();
    bed.provider.hook = this::look;
    final Looking handler = new Looking();

    life(bed, handler);
    policies(bed, handler);
    ends(bed, handler);

    assertThat(held).isEmpty();
    assertThat(called)
        .contains("onEvent", "onRequest", "onTurnEnd", "onReady", "stage")
        .contains("create_cq", "create_qp", "alloc_pd", "reg_mr", "listen", "connect", "accept")
        .contains("post_send", "post_recv", "poll_cq", "req_notify_cq", "modify_qp", "reject")
        .contains("disconnect", "rdma_notify", "destroy_qp", "destroy_id", "dereg_mr", "dealloc_pd")
        .contains("close_listener", "destroy_cq", "close_device");
  }

  /** Two endpoints come and are connected; requests are accepted and rejected. */
  private void life(final InterceptedBed bed, final Looking handler) {
    bed.ia.createEndpoint(
        bed.ia.createPz(), bed.createEvd(), EndpointAttributes.defaults().withMaxDtos(4, 4));
    final PublicServicePoint psp = bed.ia.createPsp(1, bed.evd);
    final EndpointImpl passive = bed.createEndpoint();
    bed.provider.ask();
    assertThat(
            bed.evd.dequeue(
                new EventHandler() {
                  @Override
                  public void onRequest(final ConnectionRequestEvent event) {
                    look("onRequest");
                    event.request().accept(passive, null);
                  }
                }))
        .isEqualTo(Outcome.SUCCESS);
    assertThat(passive.postReceive(bed.lmr, 0, 8, 0)).isEqualTo(Outcome.SUCCESS);
    bed.provider.receive(2); // a message before ESTABLISHED
    bed.evd.upcall(handler);
    bed.settle();
    assertThat(passive.state()).isEqualTo(EndpointState.CONNECTED);
    bed.provider.ask();
    bed.settle();
    psp.close();
    bed.connected();
    assertThat(bed.endpoint.postReceive(bed.lmr, 0, 8, 1)).isEqualTo(Outcome.SUCCESS);
    assertThat(bed.endpoint.postSend(bed.lmr, 0, 8, 2)).isEqualTo(Outcome.SUCCESS);
    bed.settle();
  }

  /** Each policy has its upcall, and events are dequeued. */
  private void policies(final InterceptedBed bed, final Looking handler) {
    for (final Invoke when : Invoke.values()) {
      bed.evd.upcall(handler, Concurrency.many(2), when);
      assertThat(bed.evd.postSoftwareEvent(1)).isEqualTo(Outcome.SUCCESS);
      bed.settle();
      bed.evd.disable();
      bed.evd.notifyOnce(evd -> look("onReady"), when);
      assertThat(bed.evd.postSoftwareEvent(2)).isEqualTo(Outcome.SUCCESS);
      bed.settle();
      assertThat(bed.evd.drain(handler, 9)).isEqualTo(1);
    }
    bed.evd.upcall(handler);
    bed.provider.fail(0, AsyncType.QP_ACCESS_ERR);
    bed.settle();
    assertThat(bed.ia.asyncEvd().drain(handler, 9)).isEqualTo(1);
  }

  /** Everything is closed, one by one and then with the adapter. */
  private void ends(final InterceptedBed bed, final Looking handler) {
    final var unused = bed.endpoint.closeAsync(Duration.ofSeconds(1)).thenRun(() -> look("stage"));
    bed.settle();
    final Evd other = bed.createEvd();
    other.upcall(handler);
    other.teardown();
    other.close();
    final Lmr lmr = bed.createLmr();
    lmr.close();
    final ProtectionZone pz = bed.ia.createPz();
    pz.close();
    bed.ia.createPsp(2, bed.evd);
    bed.ia.closeAbruptly(Duration.ofSeconds(1));
  }

  @Test
  void required_U13_noLockIsHeldWhenAPolicyWakesTheProvidersChannel() throws InterruptedException {
    final InterceptedProvider provider = new InterceptedProvider(Delivery.CHANNEL);
    provider.hook = this::look;
    try (Jdapl jdapl = Jdapl.with(provider).start()) {
      final InterfaceAdapter ia = jdapl.open();
      final Evd evd = ia.createEvd(8, EventStream.SOFTWARE);
      while (!called.contains("wakeup")) {
        final CountDownLatch came = new CountDownLatch(1);
        assertThat(evd.postSoftwareEvent(1)).isEqualTo(Outcome.SUCCESS);
        LockSupport.parkNanos(NAP); // the dispatcher falls asleep
        evd.upcall(InterceptedBed.on(event -> came.countDown()));
        assertThat(came.await(1, TimeUnit.MINUTES)).isTrue();
        evd.teardown();
      }
      ia.closeAbruptly(Duration.ofSeconds(1));
    }
    assertThat(held).isEmpty();
  }
}
