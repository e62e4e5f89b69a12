package org.jdapl.examples.socket;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.evd.Jdapl;
import org.jdapl.tck.Bench;

/** The contract tests' bench over the socket provider, in one process. */
final class SocketBench implements Bench {

  private static final long BOUND_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int SILENT_LOOKS = 400;
  private static final long NAP_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
  private static final Duration CLOSE_BOUND = Duration.ofSeconds(6);

  private final List<Jdapl> runtimes = new ArrayList<>();
  private final List<InterfaceAdapter> adapters = new ArrayList<>();
  private final List<Thread> threads = new CopyOnWriteArrayList<>();

  @Override
  public InterfaceAdapter open() {
    final Jdapl runtime = Jdapl.with(new SocketProvider()).threads(this::thread).start();
    runtimes.add(runtime);
    final InterfaceAdapter adapter = runtime.open();
    adapters.add(adapter);
    return adapter;
  }

  private Thread thread(final Runnable loop) {
    final Thread thread = new Thread(loop, "bench-" + loop);
    thread.setDaemon(true);
    threads.add(thread);
    return thread;
  }

  @Override
  public boolean runUntil(final BooleanSupplier condition) {
    final long deadline = System.nanoTime() + BOUND_NANOS;
    boolean holds = condition.getAsBoolean();
    while (!holds && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(NAP_NANOS);
      holds = condition.getAsBoolean();
    }
    return holds;
  }

  /**
   * Until no thread of a runtime ran for a while; what is in a socket takes less than that. The
   * while is a number of looks, not a time: a process that was stopped meanwhile goes on.
   */
  @Override
  public void settle() {
    final long start = System.nanoTime();
    for (int silent = 0;
        silent < SILENT_LOOKS && System.nanoTime() - start < BOUND_NANOS;
        silent++) {
      LockSupport.parkNanos(NAP_NANOS);
      if (threads.stream().map(Thread::getState).anyMatch(SocketBench::isAwake)) {
        silent = -1;
      }
    }
  }

  private static boolean isAwake(final Thread.State state) {
    return state == Thread.State.RUNNABLE || state == Thread.State.BLOCKED;
  }

  @Override
  public boolean isVirtual() {
    return false;
  }

  @Override
  public String replay() {
    return "socket, real time: run it again";
  }

  @Override
  public void close() {
    adapters.forEach(adapter -> adapter.closeAbruptly(CLOSE_BOUND));
    runtimes.forEach(Jdapl::close);
  }
}
