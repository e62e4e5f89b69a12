package org.jdapl.hooks;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/**
 * What goes wrong in one run. A value: it prints as one line, and the line parses back to an equal
 * plan, so that a failing run can be replayed.
 *
 * <p>The text is faults separated by semicolons, such as {@code drop notification@3; refuse
 * post_send@7=ENOMEM; delay established@1=20ms}; see {@link Fault} and {@link Fault.Action}. The
 * empty text is the plan of no faults.
 *
 * @param faults the faults; their order does not matter, except that of two at once the first is
 *     done first.
 */
public record FaultPlan(List<Fault> faults) {

  /** Nothing goes wrong. */
  public static final FaultPlan NONE = new FaultPlan(List.of());

  private static final String[] EVERYDAY = {
    "drop notification@N",
    "delay notification@N=TIME",
    "duplicate notification@N",
    "notify req_notify_cq@N=TIME",
    "delay completion@N=TIME",
    "duplicate completion@N",
    "garble failed-completion@N",
    "blind poll_cq@N",
    "surplus poll_cq@N=COUNT",
    "invent poll_cq@N",
    "delay cm@N=TIME",
    "delay request@N=TIME",
    "delay established@N=TIME",
    "delay disconnected@N=TIME",
    "delay async@N=TIME",
    "duplicate async@N",
    "refuse post_send@N=ENOMEM",
    "refuse post_recv@N=ENOMEM",
    "refuse poll_cq@N=EIO",
    "refuse req_notify_cq@N=EIO",
  };

  private static final String[] RARE = {
    "drop cm@N",
    "drop disconnected@N",
    "drop request@N",
    "drop completion@N",
    "refuse create_cq@N=ENOMEM",
    "refuse create_qp@N=ENOMEM",
    "refuse reg_mr@N=ENOMEM",
    "refuse connect@N=EADDRINUSE",
    "refuse accept@N=EINVAL",
    "refuse listen@N=EADDRINUSE",
    "refuse modify_qp@N=EINVAL",
    "answer connect@N=rejected",
    "answer connect@N=unreachable",
    "silence create_qp@N=COUNT",
    "overflow poll_cq@N",
    "lose any@N",
  };

  private static final int RARE_PERCENT = 25;
  private static final int LONGEST_DELAY = 17; // a power of two of microseconds, 131 ms

  /**
   * A plan.
   *
   * @param faults the faults.
   */
  public FaultPlan {
    faults = List.copyOf(faults);
  }

  /**
   * Reads a plan.
   *
   * @param text faults separated by semicolons; may be empty.
   * @return the plan.
   * @throws IllegalArgumentException naming the fault that is wrong, and what is expected.
   */
  public static FaultPlan parse(final String text) {
    final List<Fault> faults = new ArrayList<>();
    for (final String fault : text.split(";", -1)) {
      if (!fault.isBlank()) {
        faults.add(Fault.parse(fault.strip()));
      } else if (!text.isBlank()) {
        throw new IllegalArgumentException("'" + text + "': a semicolon without a fault");
      }
    }
    return new FaultPlan(faults);
  }

  /**
   * A plan by chance, of faults that a dispatcher must survive over any provider, on virtual time
   * too: none that hangs, refuses to destroy, misreports, or needs a fabric.
   *
   * @param seed where every choice comes from.
   * @param size how many faults.
   * @return the plan; the same for the same seed and size.
   */
  public static FaultPlan random(final long seed, final int size) {
    final SplittableRandom random = new SplittableRandom(seed);
    final List<Fault> faults = new ArrayList<>();
    while (faults.size() < size) {
      final String[] menu = random.nextInt(100) < RARE_PERCENT ? RARE : EVERYDAY;
      final String fault = menu[random.nextInt(menu.length)];
      final int most = 2 << random.nextInt(fault.contains(Fault.ANY) ? 10 : 6);
      faults.add(
          Fault.parse(
              fault
                  .replace("@N", "@" + (1 + random.nextInt(most)))
                  .replace("TIME", (1 << random.nextInt(LONGEST_DELAY + 1)) + "us")
                  .replace("COUNT", Integer.toString(random.nextInt(20)))));
    }
    return new FaultPlan(faults);
  }

  /**
   * How many faults there are.
   *
   * @return the number.
   */
  public int size() {
    return faults.size();
  }

  /**
   * A smaller plan, to find out which faults a failure needs.
   *
   * @param index of a fault, from 0.
   * @return the plan without it.
   */
  public FaultPlan without(final int index) {
    final List<Fault> left = new ArrayList<>(faults);
    left.remove(index);
    return new FaultPlan(left);
  }

  /** One line that {@link #parse} reads. */
  @Override
  public String toString() {
    return faults.stream().map(Fault::toString).collect(Collectors.joining("; "));
  }
}
