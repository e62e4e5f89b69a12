package org.jdapl.evd;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A lane is closed while somebody posts. The post is refused, or its event is taken, or the close
 * sees that one is missing.
 */
public class CloseAgainstPost {

  private CloseAgainstPost() {}

  /** As it is. */
  @JCStressTest
  @Outcome(id = "0", expect = Expect.ACCEPTABLE)
  @Outcome(expect = Expect.FORBIDDEN, desc = "lost")
  @State
  public static class Good {
    private final Lane lane = new Lane(4, false);
    private boolean accepted;
    private boolean taken;
    private boolean complete;

    @Actor
    public void poster() {
      accepted = lane.offerSoftware(this);
    }

    @Actor
    public void closer() {
      lane.close();
      taken = lane.poll() != null;
      complete = lane.close();
    }

    @Arbiter
    public void arbiter(final I_Result r) {
      r.r1 = accepted && !taken && complete ? 1 : 0;
    }
  }

  /** The closed bit is a flag of its own, and a post is counted when it is done. */
  @JCStressTest
  @Outcome(id = "0", expect = Expect.ACCEPTABLE)
  @Outcome(expect = Expect.FORBIDDEN, desc = "lost")
  @State
  public static class Twin {
    private final Lane lane = new Lane(4, false);
    private volatile boolean closed;
    private boolean accepted;
    private boolean taken;

    @Actor
    public void poster() {
      if (!closed) {
        accepted = lane.offerSoftware(this);
      }
    }

    @Actor
    public void closer() {
      closed = true;
      taken = lane.poll() != null;
    }

    @Arbiter
    public void arbiter(final I_Result r) {
      r.r1 = accepted && !taken ? 1 : 0;
    }
  }
}
