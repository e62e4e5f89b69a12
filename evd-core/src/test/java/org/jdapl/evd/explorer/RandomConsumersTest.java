package org.jdapl.evd.explorer;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Consumers that do anything, over devices on which anything may go wrong. What is found is shrunk;
 * -Djdapl.seed=SEED runs one seed, -Djdapl.script=TEXT a script, -Djdapl.minutes=MINUTES goes on
 * from another seed each time.
 */
@Tag("explorer")
class RandomConsumersTest {

  private static final long SEEDS = Long.getLong("jdapl.seeds", 20_000);
  private static final long CHUNK = 1_000;

  @Test
  void shouldKeepTheContractWhateverAConsumerDoes() throws InterruptedException {
    final String text = System.getProperty("jdapl.script", "");
    final Long seed = Long.getLong("jdapl.seed");
    final Long minutes = Long.getLong("jdapl.minutes");
    if (!text.isEmpty()) {
      check(Script.parse(text));
    } else if (seed != null) {
      check(Script.random(seed));
    } else if (minutes != null) {
      goOn(TimeUnit.MINUTES.toNanos(minutes));
    } else {
      explore(0, SEEDS);
    }
  }

  private static void goOn(final long nanos) throws InterruptedException {
    final long start = System.nanoTime();
    final long first = System.currentTimeMillis() * CHUNK;
    long next = first;
    while (System.nanoTime() - start < nanos) {
      explore(next, CHUNK);
      next += CHUNK;
    }
    System.out.println("explored the seeds " + first + " to " + (next - 1));
  }

  private static void explore(final long first, final long count) throws InterruptedException {
    final int threads = Runtime.getRuntime().availableProcessors();
    final Script found = new Exploration(first, count, threads).find();
    if (found != null) {
      check(found);
      throw new AssertionError("not found again, though seeds replay runs: " + found);
    }
  }

  private static void check(final Script script) {
    if (ScriptRun.run(script) != null) {
      throw new AssertionError(Exploration.report(script));
    }
  }
}
