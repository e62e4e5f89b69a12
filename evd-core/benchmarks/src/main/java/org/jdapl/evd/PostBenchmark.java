package org.jdapl.evd;

import java.util.concurrent.TimeUnit;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** B7: a send posted through the DAT API, and to the queue pair. Completions are not timed. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PostBenchmark {

  /** The DAT API. */
  @State(Scope.Thread)
  public static class Dat implements EventHandler {

    private Bed bed;
    private ArrayDevice.Cq cq;
    private int open;

    /** Connects. */
    @Setup
    public void open() {
      bed = Bed.byHand();
      bed.evd.upcall(this);
      drain();
      cq = bed.device.newestCq();
      cq.hold();
    }

    /** Completes what is open. */
    @TearDown(Level.Invocation)
    public void complete() {
      cq.release(open);
      open = 0;
      drain();
    }

    private void drain() {
      while (bed.jdapl.round()) {
        Thread.onSpinWait();
      }
    }

    @Override
    public void onEvent(final Event event) {
      // neither ESTABLISHED nor the sends matter
    }

    /** Ends. */
    @TearDown
    public void close() {
      bed.close();
    }
  }

  /** The queue pair. */
  @State(Scope.Thread)
  public static class Raw {

    private final WorkCompletions batch = new WorkCompletions(CqFeed.BATCH);
    private final SendRequest send = new SendRequest(4);
    private ArrayDevice.Cq cq;
    private ArrayDevice.Qp qp;

    /** Makes a queue pair. */
    @Setup
    public void open() {
      final ArrayDevice device = new ArrayDevice();
      final CompletionQueue queue = device.createCq(2 * Bed.DEPTH, told -> {});
      device.createQp(new QpAttributes(device.allocPd(), queue, queue, null, 16, 16, 1, 1, 0));
      cq = device.newestCq();
      qp = device.newestQp();
      cq.hold();
    }

    /** Completes what is open. */
    @TearDown(Level.Invocation)
    public void complete() {
      cq.release(Bed.DEPTH);
      do {
        batch.clear();
      } while (cq.poll(batch, CqFeed.BATCH) > 0);
    }
  }

  /**
   * Through the DAT API.
   *
   * @param to posts.
   */
  @Benchmark
  @OperationsPerInvocation(Bed.DEPTH)
  public void dat(final Dat to) {
    for (int i = 0; i < Bed.DEPTH; i++) {
      to.bed.post(i);
    }
    to.open = Bed.DEPTH;
  }

  /**
   * To the queue pair.
   *
   * @param to posts.
   */
  @Benchmark
  @OperationsPerInvocation(Bed.DEPTH)
  public void spi(final Raw to) {
    final SendRequest send = to.send;
    for (int i = 0; i < Bed.DEPTH; i++) {
      send.clearSge();
      send.addSge(0, 1, 1);
      send.wrId = i;
      send.opcode = WrOpcode.SEND;
      send.signaled = true;
      send.solicited = false;
      send.fence = false;
      if (to.qp.postSend(send) != 0) {
        throw new IllegalStateException("the queue is full at request " + i);
      }
    }
  }
}
