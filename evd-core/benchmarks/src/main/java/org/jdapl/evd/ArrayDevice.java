package org.jdapl.evd;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Set;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.ArmHint;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.ArmModel;
import org.jdapl.verbs.ArmedAfterHint;
import org.jdapl.verbs.AsyncHandler;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmListenHandler;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.CqHandler;
import org.jdapl.verbs.Declaration;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.DeviceLimits;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.LastWqe;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.NotificationConcurrency;
import org.jdapl.verbs.PrivateDataLength;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SecondArm;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.SolicitedSupport;
import org.jdapl.verbs.VerbsProvider;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;

/**
 * A provider as cheap as can be, so that what is measured over it is not the device: completion
 * queues are arrays, a request completes at once, and no data is moved. Each queue takes requests
 * from one thread, and is polled by one.
 */
final class ArrayDevice implements VerbsProvider, Device {

  private static final int MOST = 1 << 20;

  private static final Declaration DECLARATION =
      new Declaration(
          ArmModel.UNKNOWN,
          ArmHint.NONE,
          ArmedAfterHint.UNKNOWN,
          SecondArm.UNKNOWN,
          NotificationConcurrency.CONCURRENT,
          true,
          SolicitedSupport.UNSUPPORTED,
          LastWqe.NEVER,
          PrivateDataLength.EXACT);

  private CmListenHandler listener;
  private Cq newest;
  private Qp newestQp;

  /** The completion queue that was created last. */
  Cq newestCq() {
    return newest;
  }

  /** The queue pair that was created last. */
  Qp newestQp() {
    return newestQp;
  }

  /** A connection request comes in. */
  void request(final CmRequest request) {
    listener.onRequest(request);
  }

  @Override
  public String name() {
    return "array";
  }

  @Override
  public Device open(final String parameters, final EventChannel channel) {
    return this;
  }

  @Override
  public Declaration declaration() {
    return DECLARATION;
  }

  @Override
  public DeviceLimits limits() {
    return new DeviceLimits.Builder()
        .maxQp(MOST)
        .maxQpWr(MOST)
        .maxSge(16)
        .maxCq(MOST)
        .maxCqe(MOST)
        .maxMr(MOST)
        .maxPd(MOST)
        .maxSrq(MOST)
        .maxSrqWr(MOST)
        .maxSrqSge(16)
        .maxMessageBytes(1 << 30)
        .maxReadsIn(1)
        .maxReadsOut(1)
        .connectPrivateData(56)
        .acceptPrivateData(196)
        .rejectPrivateData(148)
        .build();
  }

  @Override
  public InetAddress address() {
    return InetAddress.getLoopbackAddress();
  }

  @Override
  public void onAsync(final AsyncHandler handler) {}

  @Override
  public ProtectionDomain allocPd() {
    return () -> {};
  }

  @Override
  public MemoryRegion regMr(
      final ProtectionDomain pd, final ByteBuffer buffer, final Set<Access> access) {
    return new MemoryRegion() {
      @Override
      public long address() {
        return 0;
      }

      @Override
      public long length() {
        return buffer.capacity();
      }

      @Override
      public int lkey() {
        return 1;
      }

      @Override
      public int rkey() {
        return 1;
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public CompletionQueue createCq(final int entries, final CqHandler handler) {
    newest = new Cq(entries, handler);
    return newest;
  }

  @Override
  public QueuePair createQp(final QpAttributes attributes) {
    newestQp = new Qp((Cq) attributes.sendCq(), (Cq) attributes.recvCq());
    return newestQp;
  }

  @Override
  public CmListener listen(final long service, final int backlog, final CmListenHandler handler) {
    listener = handler;
    return new CmListener() {
      @Override
      public long service() {
        return service;
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public CmId connect(
      final QueuePair qp,
      final InetAddress remote,
      final long service,
      final CmParameters parameters,
      final CmHandler handler) {
    final CmId id =
        new CmId() {
          @Override
          public void disconnect() {}

          @Override
          public void notifyEstablished() {}

          @Override
          public void close() {}
        };
    handler.onCmEvent(id, CmEventType.ESTABLISHED, 0, ByteBuffer.allocate(0));
    return id;
  }

  @Override
  public void close() {}

  /** A ring of the ids of completed requests; an id below 0 was flushed. */
  final class Cq implements CompletionQueue {
    private final CqHandler handler;
    private final long[] wrIds;
    private final int mask;
    private boolean held;
    private long added;
    private volatile long visible;
    private long polled;
    private volatile boolean armed;

    private Cq(final int entries, final CqHandler handler) {
      this.handler = handler;
      wrIds = new long[Integer.highestOneBit(Math.max(2, entries) - 1) << 1];
      mask = wrIds.length - 1;
    }

    /** From now on completions are seen when they are {@link #release}d. */
    void hold() {
      held = true;
    }

    /** That many completions are seen; it notifies once, if it is armed. */
    void release(final int completions) {
      final var before = visible; // one thread's only
      visible = before + completions;
      if (armed) {
        armed = false;
        handler.onNotification(this);
      }
    }

    private void add(final long wrId, final boolean flush) {
      wrIds[(int) added++ & mask] = flush ? ~wrId : wrId;
      if (!held || flush) {
        release((int) (added - visible));
      }
    }

    @Override
    public Device device() {
      return ArrayDevice.this;
    }

    @Override
    public int capacity() {
      return wrIds.length;
    }

    @Override
    public int poll(final WorkCompletions into, final int max) {
      final int there = (int) Math.min(max, visible - polled);
      for (int i = 0; i < there; i++) {
        final long wrId = wrIds[(int) polled++ & mask];
        into.add(
            wrId < 0 ? ~wrId : wrId,
            wrId < 0 ? WcStatus.WR_FLUSH_ERR : WcStatus.SUCCESS,
            WcOpcode.SEND,
            1,
            1,
            0,
            false,
            0);
      }
      return there;
    }

    @Override
    public int arm(final ArmKind kind) {
      armed = true;
      return 0;
    }

    @Override
    public void close() {}
  }

  /** Sends complete at once, receives when the queue pair is moved to error. */
  static final class Qp implements QueuePair {
    private final Cq sendCq;
    private final Cq recvCq;
    private boolean error;

    private Qp(final Cq sendCq, final Cq recvCq) {
      this.sendCq = sendCq;
      this.recvCq = recvCq;
    }

    @Override
    public int number() {
      return 1;
    }

    @Override
    public int postSend(final SendRequest request) {
      sendCq.add(request.wrId, error);
      return 0;
    }

    @Override
    public int postRecv(final RecvRequest request) {
      if (error) {
        recvCq.add(request.wrId, true);
      }
      return 0;
    }

    @Override
    public void modifyToError() {
      error = true;
    }

    @Override
    public void close() {}
  }
}
