package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.Segments;
import org.jdapl.evd.ScriptedDevice.Behavior;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A region stays registered while a request uses it. By hand. */
@ExtendWith(HandBed.Closing.class)
class LmrTest {

  private static void assertInUse(final Lmr lmr, final String user) {
    assertThatThrownBy(lmr::close)
        .isInstanceOfSatisfying(
            DatException.class,
            e -> assertThat(e.subtype()).isEqualTo(ReturnSubtype.INVALID_STATE_LMR_IN_USE))
        .hasMessageContaining(user);
  }

  @Test
  void required_T11_aRegionIsInUseUntilTheCompletionOfItsRequestWasHandedOut() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 2);
    bed.complete(1);
    assertInUse(bed.lmr, bed.endpoint.name());
    assertThat(bed.evd.drain(bed, 9)).isOne();
    assertInUse(bed.lmr, bed.endpoint.name());
    bed.complete(1);
    assertInUse(bed.lmr, bed.endpoint.name());
    assertThat(bed.evd.drain(bed, 9)).isOne();
    bed.lmr.close();
  }

  /**
   * The answer to a request came before the request's own completion: the device may send again.
   */
  @Test
  void required_T11_aRegionThatIsSentFromIsInUseThoughTheAnswerCame() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 1);
    final Lmr request = bed.pz.createLmr(ByteBuffer.allocateDirect(8), Privilege.LOCAL_READ);
    bed.connect();
    assertThat(bed.endpoint.postSend(request, 0, 8, 100)).isEqualTo(Outcome.SUCCESS);
    bed.complete(1);
    assertThat(bed.evd.drain(bed, 9)).isOne();

    assertInUse(request, bed.endpoint.name());
    bed.lmr.close();
    bed.qp().completeSends(1);
    assertThat(bed.evd.drain(bed, 9)).isOne();
    request.close();
  }

  @Test
  void required_T11_eachRegionOfARequestIsInUse() {
    final InterceptedBed bed = new InterceptedBed();
    final Endpoint endpoint =
        bed.ia.createEndpoint(
            bed.pz,
            bed.createEvd(),
            EndpointAttributes.defaults().withMaxDtos(2, 2).withMaxIov(2, 2));
    final Lmr second = bed.createLmr();
    final Segments both = new Segments(2).add(bed.lmr, 0, 8).add(second, 8, 8);
    assertThat(endpoint.postReceive(both, 1, null)).isEqualTo(Outcome.SUCCESS);

    assertInUse(bed.lmr, endpoint.name());
    assertInUse(second, endpoint.name());
    endpoint.close();
    second.close();
    bed.lmr.close();
  }

  @Test
  void required_T11_aRegionOfAnEndpointThatIsClosedIsInUseUntilItsRequestsAreAccountedFor() {
    final ScriptedBed bed = new ScriptedBed(new ScriptedDevice(Behavior.WEAK).withoutFlush(), 2);
    final CompletableFuture<DrainReport> closed =
        bed.endpoint.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    bed.settle();
    assertInUse(bed.lmr, bed.endpoint.name());
    bed.device.flushNow();
    bed.settle();

    assertThat(closed).isCompleted();
    assertThat(closed.join().requests()).hasSize(2);
    bed.lmr.close();
  }

  /** Given up is not done: the device may still write into the memory. */
  @Test
  void required_T11_aRegionOfARequestThatWasGivenUpIsInUseUntilItsQueuePairIsDestroyed() {
    final ScriptedBed bed = new ScriptedBed(new ScriptedDevice(Behavior.WEAK).withoutFlush(), 2);
    final CompletableFuture<DrainReport> closed =
        bed.endpoint.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    bed.settle();
    bed.clock.advance(Duration.ofSeconds(1));

    int turns = 0;
    while (!bed.qp().isClosed()) {
      assertInUse(bed.lmr, bed.endpoint.name());
      bed.jdapl.round();
      assertThat(++turns).as("turns").isLessThan(100);
    }
    bed.settle();

    assertThat(closed).isCompleted();
    assertThat(closed.join().requests())
        .extracting(DrainReport.Request::status)
        .containsExactly(DrainReport.Status.UNKNOWN, DrainReport.Status.UNKNOWN);
    bed.lmr.close();
  }

  @Test
  void required_T11_aRegionThatIsInUseIsUsedOnAndMayBeClosedByItsLastHandler() {
    final ScriptedBed bed =
        new ScriptedBed(Behavior.WEAK, 2) {
          @Override
          public void onCompletion(final DtoCompletion event) {
            super.onCompletion(event);
            if (cookies.size() == 3) {
              lmr.close();
            }
          }
        };
    bed.complete(1);
    assertThat(bed.evd.drain(bed, 1)).isOne();
    assertInUse(bed.lmr, bed.endpoint.name());
    bed.postReceives(bed.endpoint, 1);
    bed.complete(2);

    assertThat(bed.evd.drain(bed, 9)).isEqualTo(2);
    assertThatThrownBy(() -> bed.endpoint.postReceive(bed.lmr, 0, 8, 9))
        .isInstanceOfSatisfying(
            DatException.class,
            e -> assertThat(e.subtype()).isEqualTo(ReturnSubtype.INVALID_HANDLE_LMR));
  }
}
