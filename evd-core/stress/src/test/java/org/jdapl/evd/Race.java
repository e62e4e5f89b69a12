package org.jdapl.evd;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.Invoke;

/**
 * A race on a real EVD, by its name: each pair of {@link Operation}s, few threads against turns,
 * what ends a wait, and those of {@link SleepRaces}. It throws an {@link AssertionError} if the EVD
 * broke its contract. Public for class loaders that have another version of the code.
 */
public final class Race implements Runnable {

  private static final Map<String, Runnable> ALL = all();

  private final Runnable race;

  /**
   * A race.
   *
   * @param name one of {@link #names}.
   */
  public Race(final String name) {
    race = ALL.get(name);
    if (race == null) {
      throw new IllegalArgumentException("no race " + name + "; there are " + ALL.keySet());
    }
  }

  @Override
  public void run() {
    race.run();
  }

  static List<String> names() {
    return List.copyOf(ALL.keySet());
  }

  static String name(final Operation one, final Operation other) {
    return one.compareTo(other) <= 0 ? one + " x " + other : other + " x " + one;
  }

  private static Map<String, Runnable> all() {
    final Map<String, Runnable> races = new LinkedHashMap<>();
    races.put("POST x SLEEP", () -> SleepRaces.post(Concurrency.SINGLE_INSTANCE));
    races.put("MANY x SLEEP", () -> SleepRaces.post(Concurrency.many(2)));
    races.put("TASK x SLEEP", SleepRaces::task);
    races.put("POST x TURN", Race::post);
    races.put("SIGNAL x TURN", Race::signal);
    races.put("MANY x TURN", Race::many);
    races.put("POLICY x TURN", Race::policy);
    races.put("ENDPOINT_CLOSE x TURN", Race::endpointClose);
    races.put("AWAIT x INTERRUPT", () -> endOfWait(RaceBed::interrupt));
    races.put("AWAIT x TIMEOUT", () -> endOfWait(RaceBed::timeOut));
    races.put("AWAIT x UNWAITABLE", () -> endOfWait(RaceBed::evict));
    for (final Operation one : Operation.values()) {
      for (final Operation other : Operation.values()) {
        races.put(name(one, other), () -> pair(one, other));
      }
    }
    return races;
  }

  private static void post() {
    final RaceBed bed = new RaceBed(false);
    bed.add("poster", bed::post);
    bed.race();
  }

  private static void signal() {
    final RaceBed bed = new RaceBed(true);
    bed.add("provider", bed::complete);
    bed.race();
  }

  private static void many() {
    final RaceBed bed = new RaceBed(false);
    bed.enable(Concurrency.many(1), Invoke.ON_ANY);
    bed.post();
    bed.race();
  }

  private static void policy() {
    final RaceBed bed = new RaceBed(false);
    bed.enable(Concurrency.many(2), Invoke.ON_ANY);
    bed.post();
    bed.post();
    bed.oneEnables();
    bed.add(
        "policy",
        () -> {
          bed.enable(Concurrency.SINGLE_INSTANCE, Invoke.ON_ANY);
          bed.enable(Concurrency.many(2), Invoke.ON_ANY);
          bed.enable(Concurrency.SINGLE_INSTANCE, Invoke.ON_ANY);
        });
    bed.race();
  }

  private static void endpointClose() {
    final RaceBed bed = new RaceBed(true);
    bed.enable(Concurrency.many(2), Invoke.ON_ANY);
    bed.complete();
    bed.add("closer", bed::closeEndpoint);
    bed.race();
  }

  private static void endOfWait(final Consumer<RaceBed> end) {
    final RaceBed bed = new RaceBed(false);
    bed.add("poster", bed::post);
    bed.add("waiter", () -> Operation.AWAIT.on(bed));
    bed.add("end", () -> end.accept(bed));
    bed.race();
  }

  private static void pair(final Operation one, final Operation other) {
    final RaceBed bed = new RaceBed(one.needsEndpoint() || other.needsEndpoint());
    if (one != Operation.POST && other != Operation.POST) {
      bed.add("poster", bed::post);
    }
    bed.add("one-" + one, () -> one.on(bed));
    bed.add("other-" + other, () -> other.on(bed));
    bed.race();
  }
}
