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

  /** Who sleeps here never goes on. An Error, because what a channel throws else is borne. */
  @SuppressWarnings("StaticAssignmentOfThrowable") // a trace would cost more than the race takes
  private static final class Asleep extends Error {
    private static final long serialVersionUID = 1L;
    private static final Asleep INSTANCE = new Asleep();

    private Asleep() {
      super("asleep", null, false, false);
    }
  }

  /** Remembers what it was asked for. */
  private static final class Channel implements EventChannel {
    private boolean slept;
    private boolean woken;

    @Override
    public int await(final long timeoutNanos) {
      slept = true;
      throw Asleep.INSTANCE;
    }

    @Override
    public void wakeup() {
      woken = true;
    }

    @Override
    public void close() {}

    int result() {
      return slept && !woken ? 1 : 0;
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
      try {
        idle.waitFor(0, cursor, cursor, null);
      } catch (final Asleep e) {
        // it stays announced
      }
    }

    @Actor
    public void publisher() {
      delay();
      cursor.set(0);
      idle.wake();
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
        channel.slept = true;
      }
    }

    @Actor
    public void publisher() {
      delay();
      cursor.set(0);
      if (sleeper.getAndSet(null) != null) {
        channel.wakeup();
      }
    }

    @Arbiter
    public void arbiter(final I_Result r) {
      r.r1 = channel.result();
    }
  }
}
