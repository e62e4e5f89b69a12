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
import org.jdapl.verbs.BindRequest;
import org.jdapl.verbs.Capability;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmListenHandler;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.CqHandler;
import org.jdapl.verbs.Declaration;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.DeviceLimits;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.LastWqe;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.MemoryWindow;
import org.jdapl.verbs.MwType;
import org.jdapl.verbs.NotificationConcurrency;
import org.jdapl.verbs.PrivateDataLength;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SecondArm;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.SharedReceiveQueue;
import org.jdapl.verbs.SolicitedSupport;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.VerbsProvider;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;

/**
 * A provider that completes everything at once and moves no data: a send completes together with
 * the oldest receive of the same queue pair, or of its shared queue. It allocates nothing on the
 * way, so that what is measured over it is the dispatcher. Confined to one thread.
 */
final class Loopback implements VerbsProvider, Device {

  private static final int SIZE = 1 << 10;

  private final Declaration declaration;
  private final DeviceLimits limits =
      new DeviceLimits.Builder()
          .maxQp(SIZE)
          .maxQpWr(SIZE)
          .maxSge(16)
          .maxCq(SIZE)
          .maxCqe(SIZE)
          .maxMr(SIZE)
          .maxPd(SIZE)
          .maxSrq(SIZE)
          .maxSrqWr(SIZE)
          .maxSrqSge(16)
          .maxMessageBytes(1 << 30)
          .maxReadsIn(1)
          .maxReadsOut(1)
          .connectPrivateData(56)
          .acceptPrivateData(196)
          .rejectPrivateData(148)
          .build();

  private int calls;

  Loopback() {
    this(ArmModel.UNKNOWN, ArmHint.NONE);
  }

  /** That tells so much of its arms; it arms strongly, and nothing is missed. */
  Loopback(final ArmModel model, final ArmHint hint) {
    declaration =
        new Declaration(
            model,
            hint,
            ArmedAfterHint.UNKNOWN,
            SecondArm.UNKNOWN,
            NotificationConcurrency.CONCURRENT,
            true,
            SolicitedSupport.UNSUPPORTED,
            LastWqe.NEVER, // who would have to wait for one, on a clock that stands still
            PrivateDataLength.EXACT);
  }

  /** How often its completion queues were polled or armed. */
  int calls() {
    return calls;
  }

  @Override
  public String name() {
    return "loopback";
  }

  @Override
  public Device open(final String parameters, final EventChannel channel) {
    return this;
  }

  @Override
  public Declaration declaration() {
    return declaration;
  }

  @Override
  public Set<Capability> capabilities() {
    return CAPABILITIES;
  }

  @Override
  public DeviceLimits limits() {
    return limits;
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

  /** A window that is open, whatever for. */
  private static final class Window implements MemoryWindow {
    private int rkey;

    @Override
    public int rkey() {
      return rkey;
    }

    @Override
    public void close() {}
  }

  @Override
  public MemoryWindow allocMw(final ProtectionDomain pd, final MwType type) {
    return new Window();
  }

  @Override
  public CompletionQueue createCq(final int entries, final CqHandler handler) {
    return new Cq(handler);
  }

  @Override
  public QueuePair createQp(final QpAttributes attributes) {
    return new Qp((Cq) attributes.sendCq(), (Cq) attributes.recvCq(), (Receives) attributes.srq());
  }

  @Override
  public SharedReceiveQueue createSrq(
      final ProtectionDomain pd, final int maxWr, final int maxSge) {
    return new Receives();
  }

  @Override
  public CmListener listen(final long service, final int backlog, final CmListenHandler handler) {
    throw VerbsException.unsupported("listen", name());
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

  private final class Cq implements CompletionQueue {
    private final CqHandler handler;
    private final long[] wrIds = new long[SIZE];
    private final boolean[] flushed = new boolean[SIZE];
    private final int[] invalidated = new int[SIZE]; // 0 for none
    private long head;
    private long tail;
    private boolean armed;

    private Cq(final CqHandler handler) {
      this.handler = handler;
    }

    private void add(final long wrId, final boolean flush) {
      add(wrId, flush, 0);
    }

    private void add(final long wrId, final boolean flush, final int rkey) {
      final int index = (int) tail++ & (SIZE - 1);
      wrIds[index] = wrId;
      invalidated[index] = rkey;
      flushed[index] = flush;
      if (armed) {
        armed = false;
        handler.onNotification(this);
      }
    }

    @Override
    public Device device() {
      return Loopback.this;
    }

    @Override
    public int capacity() {
      return SIZE;
    }

    @Override
    public int poll(final WorkCompletions into, final int max) {
      calls++;
      int taken = 0;
      while (taken < max && head < tail) {
        final int index = (int) head++ & (SIZE - 1);
        into.add(
            wrIds[index],
            flushed[index] ? WcStatus.WR_FLUSH_ERR : WcStatus.SUCCESS,
            WcOpcode.SEND,
            1,
            1,
            0,
            false,
            0);
        if (invalidated[index] != 0) {
          into.setInvalidated(invalidated[index]);
        }
        taken++;
      }
      return taken;
    }

    @Override
    public int arm(final ArmKind kind) {
      calls++;
      armed = true;
      return 0;
    }

    @Override
    public void close() {}
  }

  /** A ring of receives, of a queue pair or shared. */
  private static final class Receives implements SharedReceiveQueue {
    private final long[] wrIds = new long[SIZE];
    private long head;
    private long tail;

    @Override
    public int postRecv(final RecvRequest request) {
      wrIds[(int) tail++ & (SIZE - 1)] = request.wrId;
      return 0;
    }

    private boolean isEmpty() {
      return head == tail;
    }

    private long take() {
      return wrIds[(int) head++ & (SIZE - 1)];
    }

    @Override
    public void close() {}
  }

  private static final Set<Capability> CAPABILITIES = Set.of(Capability.values());

  private static final class Qp implements QueuePair {
    private final Cq sendCq;
    private final Cq recvCq;
    private final Receives receives;
    private final boolean shares;
    private boolean error;

    private Qp(final Cq sendCq, final Cq recvCq, final Receives shared) {
      this.sendCq = sendCq;
      this.recvCq = recvCq;
      shares = shared != null;
      receives = shares ? shared : new Receives();
    }

    @Override
    public int number() {
      return 1;
    }

    @Override
    public int postSend(final SendRequest request) {
      sendCq.add(request.wrId, error);
      if (!error && !receives.isEmpty()) {
        final boolean invalidates = request.opcode == WrOpcode.SEND_WITH_INV;
        recvCq.add(receives.take(), false, invalidates ? request.invalidateRkey : 0);
      }
      return 0;
    }

    @Override
    public int postBind(final BindRequest request) {
      ((Window) request.window).rkey++;
      sendCq.add(request.wrId, error);
      return 0;
    }

    @Override
    public int postRecv(final RecvRequest request) {
      if (error) {
        recvCq.add(request.wrId, true);
        return 0;
      }
      return receives.postRecv(request);
    }

    @Override
    public void modifyToError() {
      error = true;
      while (!shares && !receives.isEmpty()) {
        recvCq.add(receives.take(), true);
      }
    }

    @Override
    public void close() {}
  }
}
