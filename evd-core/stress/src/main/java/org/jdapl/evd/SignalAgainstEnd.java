package org.jdapl.evd;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A poster offers and signals; the turn clears the bits, looks, and ends. The event is taken, or
 * somebody will come for it.
 */
public class SignalAgainstEnd {

  private SignalAgainstEnd() {}

  private static final int LOST = 1;

  /** An EVD whose turn is held, with a bit that was set before. */
  abstract static class Evd {
    private final Lane lane = new Lane(4, false);
    final EvdState state = new EvdState();
    private int taken;

    Evd() {
      state.apply(EvdState.SET_POLICY, EvdState.SINGLE);
      state.apply(EvdState.SIGNAL, EvdState.LANE);
      state.apply(EvdState.POP, 0);
      state.apply(EvdState.SIGNAL, EvdState.LANE);
    }

    void post() {
      if (lane.offerSoftware(this)) {
        signal();
      }
    }

    abstract void signal();

    void turn() {
      long before;
      do {
        state.apply(EvdState.RESUME, 0);
        if (lane.poll() != null) {
          taken++;
        }
        before = state.apply(EvdState.END, 0);
      } while ((before & EvdState.WORK) != 0);
    }

    int result() {
      return taken == 0 && (state.get() & EvdState.TOKEN) == 0 ? LOST : 0;
    }
  }

  /** As it is. */
  @JCStressTest
  @Outcome(id = "0", expect = Expect.ACCEPTABLE)
  @Outcome(expect = Expect.FORBIDDEN, desc = "lost")
  @State
  public static class Good extends Evd {
    @Override
    void signal() {
      state.apply(EvdState.SIGNAL, EvdState.LANE);
    }

    @Actor
    public void poster() {
      post();
    }

    @Actor
    public void dispatcher() {
      turn();
    }

    @Arbiter
    public void arbiter(final I_Result r) {
      r.r1 = result();
    }
  }

  /** A signal whose bit is set is skipped: the read overtakes the store of the event. */
  @JCStressTest
  @Outcome(id = "0", expect = Expect.ACCEPTABLE)
  @Outcome(expect = Expect.FORBIDDEN, desc = "lost")
  @State
  public static class Twin extends Evd {
    @Override
    void signal() {
      if ((state.get() & EvdState.LANE) == 0) {
        state.apply(EvdState.SIGNAL, EvdState.LANE);
      }
    }

    @Actor
    public void poster() {
      post();
    }

    @Actor
    public void dispatcher() {
      turn();
    }

    @Arbiter
    public void arbiter(final I_Result r) {
      r.r1 = result();
    }
  }
}
