package org.jdapl.hooks;

import java.util.PriorityQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jdapl.verbs.NanoClock;
import org.jdapl.verbs.SteppedClock;

/** The time that delays are on. */
interface Timeline {

  /** The clock of devices. */
  NanoClock clock();

  /** Has something done after a time; what is due at once, in this order. */
  void schedule(long delayNanos, Runnable task);

  /** On the time of a clock. */
  static Timeline of(final NanoClock clock) {
    return clock instanceof SteppedClock stepped ? new Stepped(stepped) : new Real(clock);
  }

  /** Real time: one daemon thread while something is due. */
  final class Real implements Timeline {

    private final NanoClock clock;
    private final ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(
            1,
            loop -> {
              final Thread thread = new Thread(loop, "faults");
              thread.setDaemon(true);
              return thread;
            });

    private Real(final NanoClock clock) {
      this.clock = clock;
      timer.setKeepAliveTime(1, TimeUnit.SECONDS);
      timer.allowCoreThreadTimeOut(true);
    }

    @Override
    public NanoClock clock() {
      return clock;
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // what the task throws is not lost: see there
    public void schedule(final long delayNanos, final Runnable task) {
      timer.schedule(
          () -> {
            try {
              task.run();
            } catch (final RuntimeException | Error e) {
              final Thread thread = Thread.currentThread();
              thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
            }
          },
          delayNanos,
          TimeUnit.NANOSECONDS);
    }
  }

  /** Virtual time: what is due here is done between the steps of the clock behind. */
  final class Stepped implements Timeline, SteppedClock {

    private record Task(long due, long number, Runnable work) {}

    private final SteppedClock behind;
    private final PriorityQueue<Task> tasks =
        new PriorityQueue<>(
            (a, b) ->
                a.due != b.due ? Long.compare(a.due, b.due) : Long.compare(a.number, b.number));
    private long scheduled;
    private boolean stepping;

    private Stepped(final SteppedClock behind) {
      this.behind = behind;
    }

    @Override
    public NanoClock clock() {
      return this;
    }

    @Override
    public long nanoTime() {
      return behind.nanoTime();
    }

    @Override
    public synchronized void schedule(final long delayNanos, final Runnable work) {
      tasks.add(new Task(nanoTime() + delayNanos, scheduled++, work));
    }

    @Override
    public boolean step(final long limitNanos) {
      if (stepping) {
        throw new IllegalStateException(
            "step called inside a step: a handler must return, it cannot wait for virtual time");
      }
      final Task first = first();
      if (first == null) {
        return behind.step(limitNanos);
      }
      if (behind.step(Math.min(limitNanos, first.due))) {
        return true;
      }
      if (first.due > limitNanos) {
        return false;
      }
      run(first);
      return true;
    }

    private synchronized Task first() {
      return tasks.peek();
    }

    private void run(final Task task) {
      synchronized (this) {
        tasks.remove(task);
        stepping = true;
      }
      try {
        task.work.run();
      } finally {
        stepping = false;
      }
    }
  }
}
