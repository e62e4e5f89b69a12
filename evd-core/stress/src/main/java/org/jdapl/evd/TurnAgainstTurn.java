package org.jdapl.evd;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** What one holder of the turn wrote into the stash, the next one sees; never are there two. */
public class TurnAgainstTurn {

  private TurnAgainstTurn() {}

  /** As it is. */
  @JCStressTest
  @Outcome(id = "0", expect = Expect.ACCEPTABLE)
  @Outcome(expect = Expect.FORBIDDEN, desc = "broken")
  @State
  public static class Good {
    private final EvdState state = new EvdState();
    private int stash;
    private int turns;
    private int otherTurns;

    @Actor
    public void one() {
      if (state.apply(EvdState.TAKE, 0) >= 0) {
        stash++;
        state.apply(EvdState.LEAVE, 0);
        turns++;
      }
    }

    @Actor
    public void other() {
      if (state.apply(EvdState.TAKE, 0) >= 0) {
        stash++;
        state.apply(EvdState.LEAVE, 0);
        otherTurns++;
      }
    }

    @Arbiter
    public void arbiter(final I_Result r) {
      r.r1 = stash == turns + otherTurns && turns + otherTurns > 0 ? 0 : 1;
    }
  }

  /** With a word that is read and written. */
  @JCStressTest
  @Outcome(id = "0", expect = Expect.ACCEPTABLE)
  @Outcome(expect = Expect.FORBIDDEN, desc = "broken")
  @State
  public static class Twin {
    private final BrokenWord state = new BrokenWord();
    private int stash;
    private int turns;
    private int otherTurns;

    @Actor
    public void one() {
      if (state.apply(EvdState.TAKE, 0) >= 0) {
        stash++;
        state.apply(EvdState.LEAVE, 0);
        turns++;
      }
    }

    @Actor
    public void other() {
      if (state.apply(EvdState.TAKE, 0) >= 0) {
        stash++;
        state.apply(EvdState.LEAVE, 0);
        otherTurns++;
      }
    }

    @Arbiter
    public void arbiter(final I_Result r) {
      r.r1 = stash == turns + otherTurns && turns + otherTurns > 0 ? 0 : 1;
    }
  }
}
