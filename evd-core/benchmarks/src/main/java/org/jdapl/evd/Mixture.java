package org.jdapl.evd;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.CqHandler;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.WorkCompletions;

/** Events of three sources that one handler gets, one at a time. */
public abstract class Mixture implements AutoCloseable {

  /** The ways to do it. */
  public enum Kind {
    /** An EVD. */
    EVD,
    /** One thread that polls three queues, and spins. */
    THREE_QUEUES,
    /** A thread that sleeps at each queue, and a lock around the handler. */
    THREE_THREADS
  }

  private static final int SIZE = 1024;

  private final AtomicLong handled = new AtomicLong();
  private long sum;
  volatile boolean stopped;

  static Mixture start(final Kind kind, final WaitStrategy strategy) {
    return switch (kind) {
      case EVD -> new Dispatched(strategy);
      case THREE_QUEUES -> new Polled();
      case THREE_THREADS -> new Locked();
    };
  }

  /** A request completes. There is room. */
  abstract void complete(long cookie);

  /** A software event comes. There is room. */
  abstract void tell(Object payload);

  /** A connection request comes. There is room. */
  abstract void request(CmRequest request);

  final long handled() {
    return handled.get();
  }

  /** The handler: of one thread at a time. */
  final void onEvent(final long value) {
    sum += value;
    handled.lazySet(handled.getPlain() + 1);
  }

  @Override
  public void close() {
    stopped = true;
  }

  @Override
  public final String toString() {
    return handled + " events, " + sum;
  }

  /** A connection request that is refused. */
  static final class Refused implements CmRequest {
    @Override
    public InetAddress remoteAddress() {
      return InetAddress.getLoopbackAddress();
    }

    @Override
    public ByteBuffer privateData() {
      return ByteBuffer.allocate(0);
    }

    @Override
    public CmId accept(final QueuePair qp, final CmParameters parameters, final CmHandler handler) {
      throw new IllegalStateException("it is to be refused");
    }

    @Override
    public void reject(final int status, final ByteBuffer privateData) {}
  }

  private static Thread daemon(final Runnable loop) {
    final Thread thread = new Thread(loop, "mixture");
    thread.setDaemon(true);
    return thread;
  }

  private static final class Dispatched extends Mixture implements EventHandler {
    private final Bed bed;

    Dispatched(final WaitStrategy strategy) {
      bed = Bed.withThread(strategy, Mixture::daemon);
      bed.ia.createPsp(1, bed.evd);
      bed.evd.upcall(this);
    }

    @Override
    void complete(final long cookie) {
      bed.post(cookie);
    }

    @Override
    void tell(final Object payload) {
      if (bed.evd.postSoftwareEvent(payload) != Outcome.SUCCESS) {
        throw new IllegalStateException("the EVD is full");
      }
    }

    @Override
    void request(final CmRequest request) {
      bed.device.request(request);
    }

    @Override
    public void onConnection(final ConnectionEvent event) {
      // ESTABLISHED, before all else
    }

    @Override
    public void onCompletion(final DtoCompletion event) {
      onEvent(event.cookie());
    }

    @Override
    public void onSoftware(final SoftwareEvent event) {
      onEvent(event.payload() == null ? 0 : 1);
    }

    @Override
    public void onRequest(final ConnectionRequestEvent event) {
      event.request().reject(null);
      onEvent(1);
    }

    @Override
    public void close() {
      bed.close();
    }
  }

  /** A completion queue without a runtime. */
  private abstract static class Bare extends Mixture {
    private final SendRequest send = new SendRequest(1);
    private final WorkCompletions batch = new WorkCompletions(CqFeed.BATCH);
    private final ArrayDevice.Qp qp;
    final ArrayDevice.Cq cq;

    Bare(final CqHandler handler) {
      final ArrayDevice device = new ArrayDevice();
      device.createCq(2 * Bed.DEPTH, handler);
      cq = device.newestCq();
      device.createQp(new QpAttributes(device.allocPd(), cq, cq, null, 16, 16, 1, 1, 0));
      qp = device.newestQp();
    }

    @Override
    final void complete(final long cookie) {
      send.wrId = cookie;
      qp.postSend(send);
    }

    final boolean poll() {
      batch.clear();
      return cq.poll(batch, CqFeed.BATCH) > 0;
    }

    final void handleBatch() {
      for (int i = 0; i < batch.size(); i++) {
        onEvent(batch.wrId(i));
      }
    }

    final void handle(final CmRequest request) {
      request.reject(CmHandler.CONSUMER_REJECT, PrivateData.NONE);
      onEvent(1);
    }
  }

  private static final class Polled extends Bare implements Runnable {
    private final Queue<Object> software = new MpscAtomicArrayQueue<>(SIZE);
    private final Queue<CmRequest> requests = new MpscAtomicArrayQueue<>(SIZE);

    Polled() {
      super(told -> {});
      daemon(this).start();
    }

    @Override
    void tell(final Object payload) {
      software.add(payload);
    }

    @Override
    void request(final CmRequest request) {
      requests.add(request);
    }

    @Override
    public void run() {
      while (!stopped) {
        boolean worked = poll();
        handleBatch();
        for (int i = 0; i < CqFeed.BATCH; i++) {
          final Object payload = software.poll();
          if (payload == null) {
            break;
          }
          onEvent(1);
          worked = true;
        }
        final CmRequest request = requests.poll();
        if (request != null) {
          handle(request);
        } else if (!worked) {
          Thread.onSpinWait();
        }
      }
    }
  }

  private static final class Locked extends Bare {
    private static final Object END = new Object();

    private final Object lock = new Object();
    private final BlockingQueue<Object> software = new ArrayBlockingQueue<>(SIZE);
    private final BlockingQueue<Object> requests = new ArrayBlockingQueue<>(SIZE);
    private final Thread poller = daemon(this::poller);

    Locked() {
      this(new Thread[1]);
    }

    private Locked(final Thread[] toWake) {
      super(told -> LockSupport.unpark(toWake[0]));
      toWake[0] = poller;
      poller.start();
      daemon(() -> taker(software)).start();
      daemon(() -> taker(requests)).start();
    }

    @Override
    void tell(final Object payload) {
      software.add(payload);
    }

    @Override
    void request(final CmRequest request) {
      requests.add(request);
    }

    private void poller() {
      while (!stopped) {
        boolean found = poll();
        if (!found) {
          cq.arm(ArmKind.NEXT);
          found = poll();
        }
        if (found) {
          synchronized (lock) {
            handleBatch();
          }
        } else {
          LockSupport.park(this);
        }
      }
    }

    private void taker(final BlockingQueue<Object> from) {
      try {
        Object taken;
        while ((taken = from.take()) != END) {
          synchronized (lock) {
            if (taken instanceof CmRequest request) {
              handle(request);
            } else {
              onEvent(1);
            }
          }
        }
      } catch (final InterruptedException e) {
        throw new IllegalStateException("nobody interrupts", e);
      }
    }

    @Override
    public void close() {
      super.close();
      LockSupport.unpark(poller);
      software.add(END);
      requests.add(END);
    }
  }
}
