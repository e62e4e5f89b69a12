package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.Cno;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionEvent.Kind;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What an adapter does when its device is gone. */
@ExtendWith(HandBed.Closing.class)
class DeviceLossTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  /** Verbs that fail on a device that is gone. */
  private static final Set<String> DEAD = Set.of("modify_qp", "post_send", "post_recv");

  private final InterceptedBed bed = new InterceptedBed();
  private final InterceptedProvider provider = bed.provider;
  private final List<String> verbs = new ArrayList<>();
  private final List<AsyncEvent> errors = new ArrayList<>();

  private void watch() {
    provider.hook = verbs::add;
    bed.ia.asyncEvd().upcall(InterceptedBed.on(event -> errors.add(((AsyncEvent) event).copy())));
  }

  private void die() {
    provider.hook =
        verb -> {
          verbs.add(verb);
          if (DEAD.contains(verb)) {
            throw InterceptedProvider.refused(verb);
          }
        };
    provider.lose();
    bed.settle();
  }

  private DrainReport report(final Endpoint endpoint) {
    final CompletableFuture<DrainReport> report = endpoint.closeAsync(LONG).toCompletableFuture();
    bed.settle();
    assertThat(report).isDone();
    return report.join();
  }

  @Test
  void required_T12_theAdapterLetsGoOfALostDeviceByItself() {
    watch();
    bed.evd.upcall(bed.recording());
    bed.connected();
    verbs.clear();
    die();
    assertThat(bed.kinds).containsExactly(Kind.ESTABLISHED, Kind.BROKEN);
    assertThat(errors)
        .extracting(AsyncEvent::kind)
        .containsExactly(AsyncEvent.Kind.IA_CATASTROPHIC);
    assertThat(verbs)
        .containsSubsequence("destroy_qp", "destroy_id", "dereg_mr", "dealloc_pd", "destroy_cq")
        .endsWith("close_device");
    assertThat(bed.endpoint.state()).isEqualTo(EndpointState.CLOSED);
  }

  @Test
  void required_T12_openRequestsAreUnknown() {
    watch();
    bed.connected();
    post(41);
    post(42);
    die();
    final DrainReport report = report(bed.endpoint);
    assertThat(report.requests())
        .extracting(DrainReport.Request::cookie, DrainReport.Request::status)
        .containsExactly(
            tuple(41L, DrainReport.Status.UNKNOWN), tuple(42L, DrainReport.Status.UNKNOWN));
    assertThat(report.events())
        .as("nobody took them")
        .extracting(event -> ((ConnectionEvent) event).kind())
        .containsExactly(Kind.ESTABLISHED, Kind.BROKEN);
  }

  private void post(final long cookie) {
    assertThat(bed.endpoint.postReceive(bed.lmr, 0, 8, cookie)).isEqualTo(Outcome.SUCCESS);
  }

  @Test
  void required_T12_whatCompletedBeforeIsNotUnknown() {
    watch();
    bed.connected();
    post(41);
    post(42);
    provider.receive(0);
    die();
    assertThat(report(bed.endpoint).requests())
        .extracting(DrainReport.Request::cookie, DrainReport.Request::status)
        .containsExactly(
            tuple(41L, DrainReport.Status.SUCCESS), tuple(42L, DrainReport.Status.UNKNOWN));
  }

  @Test
  void required_T12_aConnectionThatIsPendingEndsAsItsCallEnds() {
    watch();
    bed.evd.upcall(bed.recording());
    bed.connect(bed.endpoint);
    bed.settle();
    die();
    assertThat(bed.kinds).containsExactly(Kind.UNREACHABLE);
  }

  @Test
  void required_T12_itIsSaidOnceHoweverOftenAndByWhomItIsTold() {
    watch();
    bed.evd.upcall(bed.recording());
    bed.connected();
    provider.tell(CmEventType.DEVICE_REMOVAL, 0);
    die();
    die();
    assertThat(errors)
        .extracting(AsyncEvent::kind, AsyncEvent::count)
        .containsExactly(tuple(AsyncEvent.Kind.IA_CATASTROPHIC, 1L));
    assertThat(bed.kinds).containsExactly(Kind.ESTABLISHED, Kind.BROKEN);
    assertThat(verbs).containsOnlyOnce("close_device");
  }

  @Test
  void required_T12_everyWaitEnds() {
    final Cno cno = bed.ia.createCno();
    bed.createEvd().cno(cno);
    watch();
    provider.hook =
        verb -> {
          if (verb.equals("close_device")) {
            bed.clock.advance(LONG); // who still waits then waited in vain
          }
        };
    reaper().execute(provider::lose);
    assertThat(bed.evd.await(bed.recording(), 1, LONG)).isEqualTo(Outcome.ABORT);
    assertThat(cno.await(evd -> {}, LONG)).as("one that comes later").isEqualTo(Outcome.ABORT);
  }

  @Test
  void required_T12_theWaitForACnoEnds() {
    final Cno cno = bed.ia.createCno();
    watch();
    reaper().execute(provider::lose);
    assertThat(cno.await(evd -> {}, LONG)).isEqualTo(Outcome.ABORT);
  }

  private Reaper reaper() {
    return ((IaImpl) bed.ia).reaper();
  }

  @Test
  void required_T12_softwareEventsGoOnAndAnAwaitHandsOutWhatIsThere() {
    watch();
    die();
    final List<Object> seen = new ArrayList<>();
    assertThat(bed.evd.postSoftwareEvent("after")).isEqualTo(Outcome.SUCCESS);
    assertThat(
            bed.evd.await(
                InterceptedBed.on(event -> seen.add(((SoftwareEvent) event).payload())), 1, LONG))
        .isEqualTo(Outcome.SUCCESS);
    assertThat(seen).containsExactly("after");
    assertThat(bed.evd.await(bed.recording(), 1, Duration.ZERO)).isEqualTo(Outcome.ABORT);
  }

  @Test
  void required_T12_everythingCanStillBeClosedAndNothingBeMade() {
    watch();
    bed.connected();
    die();
    assertThatExceptionOfType(DatException.class)
        .isThrownBy(() -> bed.ia.createEvd(1, EventStream.SOFTWARE))
        .withMessageContaining("its device is lost; close this adapter")
        .extracting(DatException::type)
        .isEqualTo(ReturnType.INVALID_STATE);
    assertThatExceptionOfType(DatException.class).isThrownBy(bed::createLmr);
    bed.endpoint.close();
    bed.lmr.close();
    bed.pz.close();
    bed.evd.close();
    bed.ia.close();
    bed.jdapl.close();
    assertThat(verbs).containsOnlyOnce("close_device");
  }

  @Test
  void required_T12_whatIsBeingCreatedIsFoundToo() {
    watch();
    final boolean[] lost = new boolean[1];
    provider.hook =
        verb -> {
          verbs.add(verb);
          if (verb.equals("create_qp") && !lost[0]) {
            lost[0] = true;
            provider.lose();
            assertThat(reaper().round()).as("it waits for the creation").isTrue();
          }
        };
    final Endpoint second = bed.createEndpoint();
    bed.clock.advance(Duration.ofMillis(1));
    bed.settle();
    assertThat(second.state()).isEqualTo(EndpointState.CLOSED);
    assertThat(verbs.stream().filter("destroy_qp"::equals)).hasSize(2);
    assertThat(verbs).endsWith("close_device");
  }

  /** Its flushes do not come any more. */
  @Test
  void required_T12_anEndThatWaitsForCompletionsIsHandedOut() {
    watch();
    bed.evd.upcall(bed.recording());
    bed.connected();
    provider.holdsNotifications = true;
    provider.tell(CmEventType.DISCONNECTED, 0);
    bed.settle();
    assertThat(bed.kinds).containsExactly(Kind.ESTABLISHED);
    provider.hook =
        verb -> {
          if (DEAD.contains(verb) || verb.equals("poll_cq")) {
            throw InterceptedProvider.refused(verb);
          }
        };
    provider.lose();
    bed.settle();
    assertThat(bed.kinds).containsExactly(Kind.ESTABLISHED, Kind.DISCONNECTED);
  }

  /** Somebody creates an endpoint, and the dispatcher is stuck: only the reaper goes on. */
  @Test
  void required_T12_theDeviceIsClosedWithinFiveSecondsWhateverIsStuck() {
    bed.connected();
    final long[] closedAfter = {-1};
    provider.hook =
        verb -> {
          if (verb.equals("create_qp")) {
            final long lost = bed.clock.nanoTime();
            provider.hook =
                later -> {
                  if (later.equals("close_device") && closedAfter[0] < 0) {
                    closedAfter[0] = bed.clock.nanoTime() - lost;
                  }
                };
            provider.lose();
            for (int i = 0; i < 100; i++) {
              reaper().round();
              bed.clock.advance(Duration.ofMillis(100));
            }
            throw InterceptedProvider.refused(verb);
          }
        };
    assertThatExceptionOfType(DatException.class).isThrownBy(bed::createEndpoint);
    assertThat(Duration.ofNanos(closedAfter[0]))
        .isBetween(Duration.ofSeconds(1), Duration.ofSeconds(5));
  }

  @Test
  void required_T12_aDeviceThatIsBusyIsClosedWhenItIsNotAnyMore() {
    final int[] busy = {3};
    provider.hook =
        verb -> {
          verbs.add(verb);
          if (verb.equals("close_device") && busy[0]-- > 0) {
            throw new VerbsException(verb, "hooked", VerbsException.EBUSY, "a call is stuck");
          }
        };
    provider.lose();
    for (int i = 0; i < 4; i++) {
      bed.settle();
      bed.clock.advance(Duration.ofMillis(100));
    }
    assertThat(verbs.stream().filter("close_device"::equals)).hasSize(4);
  }
}
