package org.jdapl.evd;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** MANY is at its limit: the return of its upcall, or the signal, makes the token. */
public class DoneAgainstSignal {

  private DoneAgainstSignal() {}

  private static boolean makesToken(final long before, final int operation, final long argument) {
    return EvdState.madeToken(before, EvdState.next(before, operation, argument));
  }

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
      state.apply(EvdState.SET_POLICY, EvdState.MANY | EvdState.limit(1));
      state.apply(EvdState.SIGNAL, EvdState.LANE);
      state.apply(EvdState.POP, 0);
      state.apply(EvdState.PASS, 0);
    }

    @Actor
    public void one() {
      first = makesToken(state.apply(EvdState.DONE, 0), EvdState.DONE, 0);
    }

    @Actor
    public void other() {
      second =
          makesToken(state.apply(EvdState.SIGNAL, EvdState.LANE), EvdState.SIGNAL, EvdState.LANE);
    }

    @Arbiter
    public void arbiter(final I_Result r) {
      r.r1 = first != second ? 0 : 1;
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
      state.apply(EvdState.SET_POLICY, EvdState.MANY | EvdState.limit(1));
      state.apply(EvdState.SIGNAL, EvdState.LANE);
      state.apply(EvdState.POP, 0);
      state.apply(EvdState.PASS, 0);
    }

    @Actor
    public void one() {
      first = makesToken(state.apply(EvdState.DONE, 0), EvdState.DONE, 0);
    }

    @Actor
    public void other() {
      second =
          makesToken(state.apply(EvdState.SIGNAL, EvdState.LANE), EvdState.SIGNAL, EvdState.LANE);
    }

    @Arbiter
    public void arbiter(final I_Result r) {
      r.r1 = first != second ? 0 : 1;
    }
  }
}
