package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.Rmr;
import org.jdapl.dat.Segments;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.WcStatus;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Windows between calls that cross, and whose end is not known. By hand. */
@Timeout(60)
@ExtendWith(HandBed.Closing.class)
class RmrTest {

  private static final Set<Privilege> WRITE = EnumSet.of(Privilege.REMOTE_WRITE);

  private final InterceptedBed bed = new InterceptedBed();

  @BeforeEach
  void connect() {
    bed.connected();
    bed.evd.upcall(InterceptedBed.on(event -> {}));
    bed.settle();
  }

  private Outcome bind(final Rmr rmr, final Lmr lmr, final Endpoint endpoint) {
    return rmr.bind(lmr, 0, 8, WRITE, endpoint, 1, null, 0);
  }

  private void assertInUse(final Lmr lmr, final Rmr by) {
    assertThatThrownBy(lmr::close)
        .isInstanceOfSatisfying(
            DatException.class,
            e -> assertThat(e.subtype()).isEqualTo(ReturnSubtype.INVALID_STATE_LMR_IN_USE))
        .hasMessageContaining(by.name());
  }

  private static Thread start(final Runnable call) {
    final Thread thread = new Thread(call);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  @Test
  void required_T11_aRegionIsInUseThoughItsWindowIsClosedIfThatFailed() {
    final Rmr rmr = bed.pz.createRmr();
    assertThat(bind(rmr, bed.lmr, bed.endpoint)).isEqualTo(Outcome.SUCCESS);
    bed.settle();
    bed.provider.refuse("dealloc_mw");
    assertThatThrownBy(rmr::close).isInstanceOf(DatException.class);

    assertInUse(bed.lmr, rmr);
    assertInUse(bed.lmr, rmr);
    bed.provider.hook = verb -> {};
  }

  /** It may still be done, and then replaces the later one. */
  @Test
  void required_T11_aRegionOfABindThatWasGivenUpIsInUseUntilItsWindowIsClosed() {
    final Rmr rmr = bed.pz.createRmr();
    bed.provider.holdsSends = true;
    assertThat(bind(rmr, bed.lmr, bed.endpoint)).isEqualTo(Outcome.SUCCESS);
    bed.provider.refuse("modify_qp");
    final CompletableFuture<DrainReport> closed =
        bed.endpoint.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    bed.settle();
    bed.provider.hook = verb -> {};
    assertThat(closed).isCompleted();
    assertThat(closed.join().requests())
        .extracting(DrainReport.Request::status)
        .containsExactly(DrainReport.Status.UNKNOWN);
    bed.provider.holdsSends = false;
    final EndpointImpl next = bed.createEndpoint();
    bed.connect(next);
    bed.provider.tell(CmEventType.ESTABLISHED, 0);
    bed.settle();
    assertThat(bind(rmr, bed.createLmr(), next)).isEqualTo(Outcome.SUCCESS);
    bed.settle();

    assertInUse(bed.lmr, rmr);
    rmr.close();
    bed.lmr.close();
  }

  /** A close comes while another one looks for users, and finds one. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void required_T10_aCloseOfARegionWaitsForWhatAnotherOneFinds(final boolean abrupt)
      throws Exception {
    final Rmr rmr = bed.pz.createRmr();
    assertThat(bind(rmr, bed.lmr, bed.endpoint)).isEqualTo(Outcome.SUCCESS);
    bed.settle();
    bed.endpoint.closeAsync(Duration.ofSeconds(1));
    bed.settle();
    final List<String> verbs = new CopyOnWriteArrayList<>();
    bed.provider.hook = verbs::add;
    final List<Throwable> refused = new CopyOnWriteArrayList<>();
    final Runnable close = () -> refused.add(catchThrowable(bed.lmr::close));
    final Thread first;
    final Thread second;
    synchronized (rmr) {
      first = start(close);
      untilItWaits(first); // it asks the window
      second = start(abrupt ? ((LmrImpl) bed.lmr)::closeAbruptly : close);
      untilItWaits(second);
    }
    first.join();
    second.join();

    assertThat(refused).hasSize(abrupt ? 1 : 2).allMatch(DatException.class::isInstance);
    assertThat(verbs).hasSize(abrupt ? 1 : 0).allMatch("dereg_mr"::equals);
  }

  private static void untilItWaits(final Thread thread) {
    while (thread.isAlive() && thread.getState() != Thread.State.BLOCKED) {
      Thread.onSpinWait();
    }
  }

  /** Its completion may be handed out before the verb returns. */
  @Test
  void required_T02_aBindIsAcceptedThoughItsHandlerClosesTheWindowBeforeItReturns() {
    final Rmr rmr = bed.pz.createRmrForEndpoint();
    bed.evd.upcall(InterceptedBed.on(event -> rmr.close()));
    bed.provider.hook =
        verb -> {
          if (verb.equals("rkey")) {
            bed.settle();
          }
        };
    assertThat(bind(rmr, bed.lmr, bed.endpoint)).isEqualTo(Outcome.SUCCESS);

    assertThatThrownBy(rmr::rmrContext).as("it is closed").isInstanceOf(DatException.class);
    bed.lmr.close();
  }

  @Test
  void required_R02_aWindowThatIsClosedBeforeItsBindReturnedIsNotFoundAnyMore() throws Exception {
    final RmrImpl rmr = (RmrImpl) bed.pz.createRmrForEndpoint();
    bed.provider.holdsSends = true;
    final Thread poster;
    synchronized (bed.endpoint.now().bound()) {
      poster = start(() -> bind(rmr, bed.lmr, bed.endpoint));
      untilItWaits(poster); // it is about to be listed there
      bed.provider.done(0, WcStatus.SUCCESS);
      bed.settle();
      rmr.close();
    }
    poster.join();

    assertThat(rmr.list).isNull();
    assertThat(bed.endpoint.now().bound().take(1)).as("one that the peer may end").isNull();
  }

  /** A bind to another region is being noted. */
  @Test
  void required_D01_aReadGoesWhereOneBindSays() throws Exception {
    final RmrImpl rmr = (RmrImpl) bed.pz.createRmr();
    final Incarnation at = bed.endpoint.now();
    final LmrImpl other = (LmrImpl) bed.createLmr();
    rmr.posted(at, (LmrImpl) bed.lmr, 0, 8, WRITE, 0);
    final List<Object> part = new CopyOnWriteArrayList<>();
    final Thread reads;
    synchronized (rmr) {
      reads =
          start(
              () -> {
                final Segments list = rmr.checkRead(at, 0, 8, "a read");
                part.addAll(List.of(list.lmr(0), list.offset(0)));
              });
      untilItWaits(reads);
      rmr.posted(at, other, 32, 8, WRITE, 0);
    }
    reads.join();

    assertThat(part).containsExactly(other, 32L);
  }
}
