package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Defects at the border to the provider, each as a test. By hand. */
@ExtendWith(HandBed.Closing.class)
class ProviderRegressionTest {

  private final InterceptedBed bed = new InterceptedBed();

  @Test
  void shouldReportARejectAsThePeersWhenAnAcceptFailedBefore() {
    bed.ia.createPsp(1, bed.evd);
    bed.provider.refuse("accept");
    bed.provider.ask();
    bed.evd.dequeue(
        new EventHandler() {
          @Override
          public void onRequest(final ConnectionRequestEvent event) {
            assertThatThrownBy(() -> event.request().accept(bed.endpoint, null))
                .isInstanceOf(DatException.class);
          }
        });
    bed.evd.upcall(bed.recording());
    bed.connect(bed.endpoint);
    bed.provider.tell(CmEventType.REJECTED, CmHandler.CONSUMER_REJECT);
    bed.settle();

    assertThat(bed.kinds).containsExactly(ConnectionEvent.Kind.PEER_REJECTED);
  }

  @Test
  void shouldHangUpWhenConnectDidNotReturnYet() {
    final List<String> verbs = new ArrayList<>();
    bed.provider.hook =
        verb -> {
          verbs.add(verb);
          if (verb.equals("connect")) {
            bed.provider.tell(CmEventType.ESTABLISHED, 0);
            bed.endpoint.disconnect(Endpoint.Disconnect.ABRUPT);
            bed.settle();
            verbs.add("connect returns");
          }
        };
    bed.evd.upcall(bed.recording());
    bed.connect(bed.endpoint);

    assertThat(verbs).containsSubsequence("connect", "disconnect", "connect returns");
    assertThat(bed.kinds)
        .containsExactly(ConnectionEvent.Kind.ESTABLISHED, ConnectionEvent.Kind.DISCONNECTED);
  }

  @Test
  void shouldNotWaitForTheAnswerWhenTheConsumerDisconnectedMeanwhile() {
    final List<String> events = new ArrayList<>();
    bed.evd.upcall(
        InterceptedBed.on(
            event ->
                events.add(
                    event instanceof ConnectionEvent connection
                        ? connection.kind().toString()
                        : ((DtoCompletion) event).status().toString())));
    assertThat(bed.endpoint.postReceive(bed.lmr, 0, 8, 1)).isEqualTo(Outcome.SUCCESS);
    bed.connect(bed.endpoint);
    bed.provider.receive(0); // of a peer that knows of the connection before
    bed.endpoint.disconnect(Endpoint.Disconnect.ABRUPT);
    bed.settle();

    assertThat(events).containsExactly("ESTABLISHED", "SUCCESS", "DISCONNECTED");
  }

  @Test
  void shouldRefuseARequestWhenTheReportOfItsEvdCameWithoutIt() {
    final EvdImpl evd = bed.createEvd();
    final PublicServicePoint psp = bed.ia.createPsp(1, evd);
    bed.provider.ask();
    psp.close();
    final List<String> verbs = new ArrayList<>();
    bed.provider.hook = verbs::add;
    final CompletableFuture<DrainReport> closed =
        evd.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    evd.closing().giveUp(); // its bound is over before its turn
    bed.settle();

    assertThat(closed.join().complete()).isFalse();
    assertThat(verbs).contains("reject");
  }

  @Test
  void shouldNotHangUpAnIdThatIsDestroyedWhenTheConnectionStandsTooLate() {
    bed.evd.upcall(bed.recording());
    bed.connect(bed.endpoint);
    final List<String> verbs = new ArrayList<>();
    bed.provider.hook =
        verb -> {
          verbs.add(verb);
          if (verb.equals("destroy_qp")) {
            bed.provider.tell(CmEventType.ESTABLISHED, 0);
          }
        };
    bed.endpoint.close();
    bed.settle();

    assertThat(verbs).endsWith("destroy_qp", "destroy_id");
  }

  @Test
  void shouldNotCallTheProviderInATurnWhenAConnectionEnds() {
    bed.evd.upcall(bed.recording());
    bed.connected();
    final List<String> inTurn = new ArrayList<>();
    bed.provider.hook =
        verb -> {
          if (Dispatcher.isCurrent()) {
            inTurn.add(verb);
          }
        };
    bed.provider.tell(CmEventType.DISCONNECTED, 0);
    bed.settle();

    assertThat(bed.kinds)
        .containsExactly(ConnectionEvent.Kind.ESTABLISHED, ConnectionEvent.Kind.DISCONNECTED);
    assertThat(inTurn).isSubsetOf("poll_cq", "req_notify_cq");
  }

  @Test
  void shouldMoveTheQueuePairToTheErrorStateThoughItCannotHangUp() {
    bed.evd.upcall(bed.recording());
    bed.connected();
    assertThat(bed.endpoint.postReceive(bed.lmr, 0, 8, 1)).isEqualTo(Outcome.SUCCESS);
    final List<String> verbs = bed.provider.refuse("disconnect");
    bed.endpoint.disconnect(Endpoint.Disconnect.ABRUPT);
    bed.settle();
    assertThat(verbs).containsSubsequence("disconnect", "modify_qp", "post_recv", "post_send");
    assertThat(bed.kinds)
        .containsExactly(ConnectionEvent.Kind.ESTABLISHED, ConnectionEvent.Kind.DISCONNECTED);
  }

  @Test
  void shouldLeaveNoUserBehindWhenAProviderFailsInItsOwnWay() {
    bed.provider.hook =
        verb -> {
          if (verb.equals("reg_mr") || verb.equals("listen")) {
            throw new IllegalStateException(verb);
          }
        };
    final var pz = bed.ia.createPz();
    final var evd = bed.createEvd();
    assertThatThrownBy(() -> pz.createLmr(ByteBuffer.allocateDirect(8), Privilege.values()))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> bed.ia.createPsp(9, evd)).isInstanceOf(IllegalStateException.class);
    pz.close();
    evd.close();
  }

  @Test
  void required_T09_theQueuePairIsDestroyedBeforeItsIdAndTheQueueAfterBoth() {
    final InterceptedBed bed = new InterceptedBed();
    bed.connected();
    final List<String> destroyed = new ArrayList<>();
    bed.provider.hook =
        verb -> {
          if (verb.startsWith("destroy") || verb.startsWith("de") || verb.equals("close_device")) {
            destroyed.add(verb);
          }
        };
    bed.ia.closeAbruptly(Duration.ofSeconds(1));
    assertThat(destroyed)
        .containsExactly(
            "destroy_qp", "destroy_id", "dereg_mr", "dealloc_pd", "destroy_cq", "close_device");
  }

  @Test
  void shouldNotRejectInsideTheProvidersCallWhenARequestFindsTheAdapterClosing() {
    bed.ia.createPsp(1, bed.evd);
    final AtomicBoolean inside = new AtomicBoolean();
    final List<String> rejects = new ArrayList<>();
    bed.provider.hook =
        verb -> {
          if (verb.equals("close_listener")) {
            inside.set(true);
            bed.provider.ask();
            inside.set(false);
          } else if (verb.equals("reject")) {
            rejects.add(inside.get() ? "inside" : "later");
          }
        };
    bed.ia.closeAbruptly(Duration.ofSeconds(1));
    bed.settle();

    assertThat(rejects).containsExactly("later");
  }
}
