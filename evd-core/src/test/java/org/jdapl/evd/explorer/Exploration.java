package org.jdapl.evd.explorer;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Runs the scripts of many seeds, on all processors: each run is of one thread and shares nothing.
 * Public so that broken code can be run with it by a class loader of its own.
 */
public final class Exploration implements Callable<String> {

  private static final int TRACE_LINES = 60;

  private final long first;
  private final long last;
  private final int threads;

  /**
   * An exploration.
   *
   * @param first the first seed.
   * @param count how many seeds.
   * @param threads how many runs at once.
   */
  public Exploration(final long first, final long count, final int threads) {
    this.first = first;
    this.last = first + count - 1;
    this.threads = threads;
  }

  /**
   * Runs until a script finds something; that of the smallest seed is taken, so that what is found
   * does not depend on the threads.
   *
   * @return what was found; null if nothing was.
   */
  @Override
  public String call() throws InterruptedException {
    final Script found = find();
    return found == null ? null : found.seed() + ": " + ScriptRun.run(found);
  }

  /** The first script that finds something; null if none does. */
  Script find() throws InterruptedException {
    final AtomicLong next = new AtomicLong(first);
    final AtomicReference<Script> found = new AtomicReference<>();
    final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    final List<Thread> workers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      final Thread worker = new Thread(() -> explore(next, found), "explorer-" + i);
      worker.setUncaughtExceptionHandler((thread, failure) -> failures.add(failure));
      worker.setContextClassLoader(Thread.currentThread().getContextClassLoader());
      worker.start();
      workers.add(worker);
    }
    for (final Thread worker : workers) {
      worker.join();
    }
    if (!failures.isEmpty()) { // then not all seeds were tried
      throw new IllegalStateException("the explorer failed", failures.peek());
    }
    return found.get();
  }

  private void explore(final AtomicLong next, final AtomicReference<Script> found) {
    for (long seed = next.getAndIncrement(); seed <= last; seed = next.getAndIncrement()) {
      final Script before = found.get();
      if (before != null && before.seed() < seed) {
        return;
      }
      final Script script = Script.random(seed);
      if (ScriptRun.run(script) != null) {
        found.accumulateAndGet(
            script, (a, b) -> a == null || (b != null && b.seed() < a.seed()) ? b : a);
      }
    }
  }

  /** A report of a script that found something, shrunk. */
  static String report(final Script script) {
    final Script small = ScriptShrinker.shrink(script, ScriptRun::run);
    final List<String> trace = ScriptRun.trace(small);
    return "seed "
        + script.seed()
        + ": "
        + ScriptRun.run(script)
        + "\nshrunk to "
        + small.actions().size()
        + " actions: "
        + ScriptRun.run(small)
        + "\nreplay with -Djdapl.script='"
        + small
        + "'\nthe end of its trace:\n"
        + String.join("\n", trace.subList(Math.max(0, trace.size() - TRACE_LINES), trace.size()));
  }
}
