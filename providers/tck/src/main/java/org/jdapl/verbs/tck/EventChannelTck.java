package org.jdapl.verbs.tck;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.VerbsException;
import org.junit.jupiter.api.Test;

/** The channel in which a dispatcher sleeps, of a provider that delivers in one. Needs no peer. */
public abstract class EventChannelTck extends VerbsTck {

  private Side side;
  private Cq cq;
  private QueuePair qp;

  /** Tests of a channel. */
  protected EventChannelTck() {}

  private void open() {
    needs(channel() != null, "it declares that it pushes");
    side = first();
    cq = side.cq();
    qp = side.flushing(cq);
  }

  @Test
  void required_P05_aProviderThatPushesHasNoChannel() {
    needs(where().provider.delivery() == Delivery.PUSH, "it delivers in a channel");
    refused(
        "create a channel",
        () -> where().provider.createEventChannel(),
        "a delivery that is left at its default: declare CHANNEL.",
        VerbsException.EOPNOTSUPP);
  }

  @Test
  void required_P05_handlersRunInsideAwaitOnItsCallersThread() {
    open();
    final AtomicReference<Thread> caller = new AtomicReference<>();
    cq.whenNotified = () -> caller.set(Thread.currentThread());
    needs(cq.armSurely(), "it hints without end, and may not be armed");
    side.postRecv(qp, 1);
    if (!isVirtual()) {
      did("wait outside the channel");
      final long end = System.nanoTime() + where().silence.toNanos();
      while (System.nanoTime() - end < 0) {
        Thread.onSpinWait();
      }
      same(
          0,
          cq.notifications.get(),
          "handler calls outside of await",
          "a thread of the provider's that delivers: declare PUSH.");
    }
    cq.awaitNotification(1, "an event that does not get into the channel.");
    same(
        Thread.currentThread(),
        caller.get(),
        "the thread of the handler",
        "a thread of the provider's that delivers: declare PUSH.");
  }

  @Test
  void required_P05_awaitReturnsHowManyHandlersItCalled() {
    open();
    needs(cq.armSurely(), "it hints without end, and may not be armed");
    side.postRecv(qp, 1);
    final int[] returned = {0};
    if (isVirtual()) {
      silence();
    } else {
      final long end = System.nanoTime() + where().await.toNanos();
      while (cq.notifications.get() == 0 && System.nanoTime() - end < 0) {
        returned[0] += channel().await(TimeUnit.MILLISECONDS.toNanos(10));
      }
      same(1, cq.notifications.get(), "handler calls", "an event that is not in the channel.");
      same(1, returned[0], "what await returned", "events that are counted, not calls.");
    }
  }

  @Test
  void required_P05_anAwaitOfNothingReturnsAtItsTimeOut() {
    open();
    final long start = System.nanoTime();
    same(0, channel().await(0), "what await returned", "a count that was not set back.");
    channel().await(where().silence.toNanos());
    check(
        System.nanoTime() - start < where().await.toNanos(),
        "await to return at its time-out, after " + WholeTest.seconds(where().silence),
        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) + " ms",
        "nanoseconds that are taken for milliseconds.");
  }

  private long millisOfAwait() {
    final long start = System.nanoTime();
    channel().await(where().await.toNanos());
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
  }

  private void checkWoken(final long millis) {
    check(
        millis < where().await.toMillis() / 2,
        "await to return soon after the wake-up",
        "it returned after " + millis + " ms, at its time-out",
        "a wake-up that is forgotten when nobody waits, or that comes between the look and the"
            + " sleep.");
  }

  @Test
  void required_P05_aWakeUpBeforeAwaitIsNotLost() {
    open();
    for (int round = 0; round < 4; round++) {
      did("wakeup, then await");
      channel().wakeup();
      checkWoken(millisOfAwait());
    }
  }

  @Test
  void required_P05_aWakeUpEndsAwait() {
    open();
    needsThreads();
    final Background waking =
        inBackground(
            "wakeup after a while",
            () -> {
              hold(new java.util.concurrent.CountDownLatch(1), where().silence);
              channel().wakeup();
            });
    checkWoken(millisOfAwait());
    await(waking::isDone, "the wake-up to return", () -> "it did not", "a wake-up that blocks.");
  }

  @Test
  void required_P05_anEventEndsAwait() {
    open();
    needsThreads();
    needs(cq.armSurely(), "it hints without end, and may not be armed");
    final Background completing =
        inBackground(
            "complete a request after a while",
            () -> {
              hold(new java.util.concurrent.CountDownLatch(1), where().silence);
              qp.postRecv(side.recv(1, 0, 8));
            });
    final long start = System.nanoTime();
    while (cq.notifications.get() == 0 && System.nanoTime() - start < where().await.toNanos() / 2) {
      channel().await(where().await.toNanos() - (System.nanoTime() - start));
    }
    final long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    check(
        cq.notifications.get() == 1 && millis < where().await.toMillis() / 2,
        "await to return with the event",
        cq.notifications + " notifications after " + millis + " ms",
        "a sleeper that is woken by wakeup only.");
    await(completing::isDone, "the post to return", () -> "it did not", "a post that blocks.");
  }

  @Test
  void required_P05_aWakeUpAfterTheCloseIsLegal() {
    needs(channel() != null, "it declares that it pushes");
    final org.jdapl.verbs.EventChannel own = where().provider.createEventChannel();
    own.close();
    did("wakeup of a closed channel");
    own.wakeup();
  }
}
