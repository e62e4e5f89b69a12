package org.jdapl.evd;

import com.lmax.disruptor.Sequence;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicReference;
import org.jdapl.verbs.EventChannel;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A dispatcher falls asleep in a channel while an EVD becomes ready. It sees the EVD, or it is
 * woken.
 */
public class SleepAgainstWake {

  /** About as long as a dispatcher spins before it sleeps. */
  private static final int SPINS = 200;

  private SleepAgainstWake() {}

  private static void delay() {
    for (int i = 0; i < SPINS; i++) {
      Thread.onSpinWait();
    }
  }

  /** Sleeps until it is woken, or nobody is left who would wake it. */
  private static final class Channel implements EventChannel {
    private volatile boolean woken;
    private volatile boolean published;
    private boolean forEver;

    @Override
    public int await(final long timeoutNanos) {
      while (!woken) {
        if (published) { // then it is woken already, if it ever is
          forEver = !woken;
          return 0;
        }
        Thread.onSpinWait();
      }
      return 0;
    }

    @Override
    public void wakeup() {
      woken = true;
    }

    @Override
    public void close() {}

    void published() {
      published = true;
    }

    int result() {
      return forEver ? 1 : 0;
    }
  }

  /** As it is. */
  @JCStressTest
  @Outcome(id = "0", expect = Expect.ACCEPTABLE)
  @Outcome(expect = Expect.FORBIDDEN, desc = "sleeps for ever")
  @State
  public static class Good {
    private final Channel channel = new Channel();
    private final IdleWait idle =
        new IdleWait(WaitStrategy.SPIN_THEN_BLOCK, channel, new ArrayDeque<>());
    private final Sequence cursor = new Sequence();

    @Actor
    public void dispatcher() {
      idle.waitFor(0, cursor, cursor, null);
    }

    @Actor
    public void publisher() {
      delay();
      cursor.set(0);
      idle.wake();
      channel.published();
    }

    @Arbiter
    public void arbiter(final I_Result r) {
      r.r1 = channel.result();
    }
  }

  /** It announces itself, but does not look once more. */
  @JCStressTest
  @Outcome(id = "0", expect = Expect.ACCEPTABLE)
  @Outcome(expect = Expect.FORBIDDEN, desc = "sleeps for ever")
  @State
  public static class Twin {
    private final Channel channel = new Channel();
    private final AtomicReference<Thread> sleeper = new AtomicReference<>();
    private final Sequence cursor = new Sequence();

    @Actor
    public void dispatcher() {
      delay();
      if (cursor.get() < 0) {
        sleeper.set(Thread.currentThread());
        channel.await(0);
      }
    }

    @Actor
    public void publisher() {
      delay();
      cursor.set(0);
      if (sleeper.getAndSet(null) != null) {
        channel.wakeup();
      }
      channel.published();
    }

    @Arbiter
    public void arbiter(final I_Result r) {
      r.r1 = channel.result();
    }
  }
}
