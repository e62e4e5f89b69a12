package org.jdapl.evd;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Two signal an EVD that is idle: one of the two makes the token. */
public class SignalAgainstSignal {

  private SignalAgainstSignal() {}

  /** As it is. */
  @JCStressTest
  @Outcome(id = "0", expect = Expect.ACCEPTABLE)
  @Outcome(expect = Expect.FORBIDDEN, desc = "broken")
  @State
  public static class Good {
    private final EvdState state = new EvdState();
    private boolean first;
    private boolean second;

    public Good() {
      state.apply(EvdState.SET_POLICY, EvdState.SINGLE);
    }

    @Actor
    public void one() {
      first = (state.apply(EvdState.SIGNAL, EvdState.CQ) & EvdState.TOKEN) == 0;
    }

    @Actor
    public void other() {
      second = (state.apply(EvdState.SIGNAL, EvdState.LANE) & EvdState.TOKEN) == 0;
    }

    @Arbiter
    public void arbiter(final I_Result r) {
      r.r1 = first != second && (state.get() & EvdState.WORK) == EvdState.WORK ? 0 : 1;
    }
  }

  /** With a word that is read and written. */
  @JCStressTest
  @Outcome(id = "0", expect = Expect.ACCEPTABLE)
  @Outcome(expect = Expect.FORBIDDEN, desc = "broken")
  @State
  public static class Twin {
    private final BrokenWord state = new BrokenWord();
    private boolean first;
    private boolean second;

    public Twin() {
      state.apply(EvdState.SET_POLICY, EvdState.SINGLE);
    }

    @Actor
    public void one() {
      first = (state.apply(EvdState.SIGNAL, EvdState.CQ) & EvdState.TOKEN) == 0;
    }

    @Actor
    public void other() {
      second = (state.apply(EvdState.SIGNAL, EvdState.LANE) & EvdState.TOKEN) == 0;
    }

    @Arbiter
    public void arbiter(final I_Result r) {
      r.r1 = first != second && (state.get() & EvdState.WORK) == EvdState.WORK ? 0 : 1;
    }
  }
}
