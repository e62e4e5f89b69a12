package org.jdapl.evd;

import java.util.concurrent.TimeUnit;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.EventHandler;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.WorkCompletions;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * B1: from a completion queue to the handler, through an EVD and by the bare loop. The requests are
 * posted before the time begins; then they complete in bursts, each of which notifies.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class DispatchBenchmark {

  /** The EVD. */
  @State(Scope.Thread)
  public static class Dispatched implements EventHandler {

    /** Completions at once; the queue runs empty after each burst. */
    @Param({"1", "16", "64", "4096"})
    public int burst;

    private long cookies;
    private long events;
    private Bed bed;
    private ArrayDevice.Cq cq;

    /** Connects. */
    @Setup
    public void open() {
      bed = Bed.byHand();
      bed.evd.upcall(this);
      while (bed.jdapl.round()) {
        Thread.onSpinWait();
      }
      cq = bed.device.newestCq();
      cq.hold();
    }

    /** Posts what is to complete. */
    @Setup(Level.Invocation)
    public void post() {
      events = 0;
      for (int i = 0; i < Bed.DEPTH; i++) {
        bed.post(i);
      }
    }

    @Override
    public void onConnection(final ConnectionEvent event) {
      // ESTABLISHED, before all else
    }

    @Override
    public void onCompletion(final DtoCompletion event) {
      cookies += event.cookie();
      events++;
    }

    /** Nothing may be left. */
    @TearDown(Level.Invocation)
    public void check() {
      checkAll(events);
    }

    /** Ends. */
    @TearDown
    public void close() {
      bed.close();
    }
  }

  /** The loop that people write, with the arm and the poll after it that the verbs ask for. */
  @State(Scope.Thread)
  public static class Polled {

    /** As for the EVD. */
    @Param({"1", "16", "64", "4096"})
    public int burst;

    private final WorkCompletions batch = new WorkCompletions(CqFeed.BATCH);
    private final SendRequest send = new SendRequest(1);
    private long cookies;
    private long events;
    private boolean notified;
    private ArrayDevice.Cq cq;
    private ArrayDevice.Qp qp;

    /** Makes a queue pair. */
    @Setup
    public void open() {
      final ArrayDevice device = new ArrayDevice();
      final CompletionQueue queue = device.createCq(2 * Bed.DEPTH, told -> notified = true);
      device.createQp(new QpAttributes(device.allocPd(), queue, queue, null, 16, 16, 1, 1, 0));
      cq = device.newestCq();
      qp = device.newestQp();
      cq.hold();
      cq.arm(ArmKind.NEXT);
    }

    /** Posts what is to complete. */
    @Setup(Level.Invocation)
    public void post() {
      events = 0;
      for (int i = 0; i < Bed.DEPTH; i++) {
        send.wrId = i;
        qp.postSend(send);
      }
    }

    private void run() {
      notified = false;
      boolean found;
      do {
        found = handle();
        if (!found) {
          cq.arm(ArmKind.NEXT);
          found = handle();
        }
      } while (found);
    }

    private boolean handle() {
      batch.clear();
      final int found = cq.poll(batch, CqFeed.BATCH);
      for (int i = 0; i < found; i++) {
        cookies += batch.wrId(i);
        events++;
      }
      return found > 0;
    }

    /** Nothing may be left. */
    @TearDown(Level.Invocation)
    public void check() {
      checkAll(events);
    }
  }

  private static void checkAll(final long events) {
    if (events != Bed.DEPTH) {
      throw new IllegalStateException(events + " completions of " + Bed.DEPTH + " were handled");
    }
  }

  /**
   * Through the EVD.
   *
   * @param to handles them.
   * @return what the handler made of them.
   */
  @Benchmark
  @OperationsPerInvocation(Bed.DEPTH)
  public long evd(final Dispatched to) {
    for (int i = 0; i < Bed.DEPTH; i += to.burst) {
      to.cq.release(to.burst);
      while (to.events < i + to.burst) {
        to.bed.jdapl.round();
      }
    }
    return to.cookies;
  }

  /**
   * By the bare loop.
   *
   * @param to handles them.
   * @return what it made of them.
   */
  @Benchmark
  @OperationsPerInvocation(Bed.DEPTH)
  public long bareLoop(final Polled to) {
    for (int i = 0; i < Bed.DEPTH; i += to.burst) {
      to.cq.release(to.burst);
      if (to.notified) {
        to.run();
      }
    }
    return to.cookies;
  }
}
