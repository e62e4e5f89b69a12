package org.jdapl.evd;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Outcome;

/**
 * Threads that sleep while there is nothing to do, dispatchers and reaper, are woken. A wake-up
 * that is lost is a deadlock, where sleeps have no limit; see {@link Schedules}.
 */
final class SleepRaces {

  private static final int DISPATCHERS = 2;
  private static final int POSTERS = 2;

  private SleepRaces() {}

  /** The reaper alone, with a timer and a task. */
  static void task() {
    final Reaper reaper = new Reaper("reaper", new HandClock());
    final List<Thread> loops = new CopyOnWriteArrayList<>();
    reaper.start(
        loop -> {
          final Thread thread = new Thread(loop, loop.toString());
          loops.add(thread);
          return thread;
        });
    final CountDownLatch done = new CountDownLatch(2);
    reaper.schedule(0, done::countDown);
    reaper.execute(done::countDown);
    try {
      done.await();
      reaper.stop();
      for (final Thread loop : loops) {
        loop.join();
      }
    } catch (final InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** All of a runtime, until it is closed. */
  static void post(final Concurrency concurrency) {
    final List<Thread> loops = new CopyOnWriteArrayList<>();
    final Jdapl jdapl =
        Jdapl.with(new InterceptedProvider())
            .threads(
                loop -> {
                  final Thread thread = new Thread(loop, "loop-" + loops.size());
                  loops.add(thread);
                  return thread;
                })
            .dispatchers(DISPATCHERS)
            .capacity(4)
            .leakDetection(LeakDetector.Level.OFF) // a scheduler would run its cleaner's thread
            .start();
    final InterfaceAdapter ia = jdapl.open();
    final EvdImpl evd = (EvdImpl) ia.createEvd(8, EventStream.SOFTWARE);
    final CountDownLatch came = new CountDownLatch(POSTERS);
    evd.upcall(
        new EventHandler() {
          @Override
          public void onEvent(final Event event) {
            came.countDown();
          }
        },
        concurrency,
        Invoke.ON_ANY);
    final Outcome[] outcomes = new Outcome[POSTERS];
    final Thread[] posters = new Thread[POSTERS];
    for (int i = 0; i < POSTERS; i++) {
      final int number = i;
      posters[i] =
          new Thread(() -> outcomes[number] = evd.postSoftwareEvent(number), "poster-" + i);
      posters[i].start();
    }
    try {
      came.await();
      for (int i = 0; i < POSTERS; i++) {
        posters[i].join();
        if (outcomes[i] != Outcome.SUCCESS) {
          throw new AssertionError("a post returned " + outcomes[i]);
        }
      }
      evd.teardown();
      evd.close();
      ia.close();
      jdapl.close();
      for (final Thread loop : loops) {
        loop.join();
      }
    } catch (final InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
