package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.AbstractQueue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jdapl.dat.Cno;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.DatException;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.evd.ScriptedDevice.Behavior;
import org.jdapl.evd.ScriptedDevice.Wc;
import org.jdapl.verbs.WcOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Changes of policy made inside an upcall, by hand. */
@ExtendWith(HandBed.Closing.class)
class UpcallCornerTest {

  /** Does something at one of its software events. */
  private static final class Changing extends ScriptedBed {

    private final int at;
    private Runnable change = () -> {};

    Changing(final int at) {
      super(Behavior.WEAK, 100);
      this.at = at;
    }

    void post(final int count) {
      for (int i = 0; i < count; i++) {
        assertThat(evd.postSoftwareEvent(i)).isEqualTo(Outcome.SUCCESS);
      }
    }

    @Override
    public void onSoftware(final SoftwareEvent event) {
      super.onSoftware(event);
      if (payloads.size() == at) {
        change.run();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 63, 64, 65})
  void required_U06_onNewInAnUpcallHoldsWhatIsThere(final int at) {
    final Changing bed = new Changing(at);
    bed.change = () -> bed.evd.upcall(bed, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
    bed.post(at + 3);
    bed.enable();
    assertThat(bed.payloads).as("no upcall for what was there").hasSize(at);
    bed.post(1);
    bed.settle();
    assertThat(bed.payloads).hasSize(at + 4);
  }

  @Test
  void required_U06_notifyOnNewInAnUpcallHoldsWhatIsThere() {
    final int[] notified = {0};
    final Changing bed = new Changing(1);
    bed.change = () -> bed.evd.notifyOnce(ready -> notified[0]++, Invoke.ON_NEW);
    bed.post(3);
    bed.enable();
    assertThat(notified[0]).as("nothing new came").isZero();
    bed.post(1);
    bed.settle();
    assertThat(notified[0]).isOne();
    assertThat(bed.evd.drain(bed, 100)).isEqualTo(3);
  }

  @Test
  void required_U06_manyOnNewInAnUpcallHoldsWhatIsThere() {
    final Changing bed = new Changing(1);
    bed.change = () -> bed.evd.upcall(bed, Concurrency.many(2), Invoke.ON_NEW);
    bed.post(3);
    bed.enable();
    assertThat(bed.payloads).hasSize(1);
    bed.post(1);
    bed.settle();
    assertThat(bed.payloads).hasSize(4);
  }

  @Test
  void required_U06_onNewInsideAnUpcallOfManyHoldsWhatIsThere() {
    final Changing bed = new Changing(1);
    bed.change = () -> bed.evd.upcall(bed, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
    bed.post(3);
    bed.evd.upcall(bed, Concurrency.many(2), Invoke.ON_ANY);
    bed.settle();
    assertThat(bed.payloads).hasSize(1);
    bed.post(1);
    bed.settle();
    assertThat(bed.payloads).hasSize(4);
  }

  @Test
  void required_U06_aNotificationThatBringsNoEventLetsNothingGo() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 4);
    bed.connect();
    bed.complete(2);
    bed.evd.upcall(bed, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
    bed.settle();
    bed.cq().notifyNow();
    bed.settle();
    bed.cq().add(Wc.success(1L << 40, WcOpcode.RECV, 1)); // of nobody
    bed.settle();
    assertThat(bed.cookies).as("nothing new came").isEmpty();
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(3);
  }

  /** While it fails it leaves a thread behind that spins. */
  @Test
  void required_U08_aDequeueInAnUpcallThatEnabledManyDoesNotHang() throws InterruptedException {
    final Changing bed = new Changing(1);
    bed.change =
        () -> {
          bed.evd.upcall(bed, Concurrency.many(2), Invoke.ON_ANY);
          assertThat(bed.evd.dequeue(bed)).isEqualTo(Outcome.SUCCESS);
        };
    bed.post(3);
    final Thread driver = new Thread(bed::enable, "drives by hand");
    driver.setDaemon(true);
    driver.start();
    driver.join(Duration.ofMinutes(1).toMillis());
    assertThat(driver.isAlive()).isFalse();
    assertThat(bed.payloads).containsExactly(0, 1, 2);
  }

  /** By hand it runs inside that wait, which cannot return before. While it fails it spins. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void required_U08_anUpcallThatEndsTheWaitBelowItIsRefusedItsTurn(final boolean enables)
      throws InterruptedException {
    final InterceptedBed bed = new InterceptedBed();
    final EvdImpl waited = bed.createEvd();
    final EventHandler none = new EventHandler() {};
    final AtomicReference<Throwable> refused = new AtomicReference<>();
    bed.evd.upcall(
        InterceptedBed.on(
            event -> {
              waited.setUnwaitable();
              refused.set(
                  catchThrowable(
                      () -> {
                        if (enables) {
                          waited.upcall(none, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
                        } else {
                          waited.dequeue(none);
                        }
                      }));
            }));
    bed.evd.postSoftwareEvent(1);
    final Thread driver =
        new Thread(
            () -> {
              final var unused = catchThrowable(() -> waited.await(none, 1, Duration.ofSeconds(1)));
            },
            "drives by hand");
    driver.setDaemon(true);
    driver.start();
    driver.join(Duration.ofSeconds(10).toMillis());

    assertThat(driver.isAlive()).isFalse();
    assertThat(refused.get())
        .isInstanceOfSatisfying(
            DatException.class, e -> assertThat(e.type()).isEqualTo(ReturnType.INVALID_STATE));
  }

  /** The thread that waits drives it. */
  @Test
  void required_U10_aHandlerThatThrowsBelowAWaitForACnoLeavesItsTrigger() {
    final InterceptedBed bed = new InterceptedBed();
    final EvdImpl triggering = bed.createEvd();
    final Cno cno = bed.ia.createCno();
    triggering.cno(cno);
    bed.evd.upcall(
        InterceptedBed.on(
            event -> {
              triggering.postSoftwareEvent(2);
              throw new IllegalStateException("the test says so");
            }));
    bed.evd.postSoftwareEvent(1);

    final List<Evd> ready = new ArrayList<>();
    assertThatThrownBy(() -> cno.await(ready::add, Duration.ofSeconds(1)))
        .hasMessage("the test says so");
    assertThat(cno.await(ready::add, Duration.ZERO)).isEqualTo(Outcome.SUCCESS);
    assertThat(ready).containsExactly(triggering);
  }

  /** Its notification is there: to look for a software event first would only delay it. */
  @Test
  void required_U03_aCompletionThatComesDuringAnUpcallDoesNotWaitForALookIntoTheLane() {
    final AtomicInteger looks = new AtomicInteger();
    final List<Integer> looksBefore = new ArrayList<>();
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 1);
    bed.connect();
    bed.evd.upcall(
        InterceptedBed.on(
            event -> {
              if (event instanceof SoftwareEvent) {
                bed.complete(1);
                looks.set(0);
              } else {
                looksBefore.add(looks.get());
              }
            }));
    bed.settle();
    bed.evd.postSoftwareEvent("during its upcall");

    final Dispatcher spinning =
        new Dispatcher(
            "spinning",
            Thread::new,
            1,
            WaitStrategy.BUSY_SPIN,
            null,
            new CountingQueue(looks),
            new Dispatcher[0],
            bed.clock);
    spinning.ready((EvdImpl) bed.evd);
    spinning.round();

    assertThat(looksBefore).as("looks in between").containsExactly(0);
    assertThat(looks).as("those before the turn ended").hasPositiveValue();
  }

  /** Counts who looks whether it is empty. */
  private static final class CountingQueue extends AbstractQueue<EvdImpl> {

    private final AtomicInteger looks;

    private CountingQueue(final AtomicInteger looks) {
      this.looks = looks;
    }

    @Override
    public boolean isEmpty() {
      looks.incrementAndGet();
      return true;
    }

    @Override
    public boolean offer(final EvdImpl evd) {
      return false;
    }

    @Override
    public EvdImpl poll() {
      return null;
    }

    @Override
    public EvdImpl peek() {
      return null;
    }

    @Override
    public Iterator<EvdImpl> iterator() {
      return Collections.emptyIterator();
    }

    @Override
    public int size() {
      return 0;
    }
  }
}
