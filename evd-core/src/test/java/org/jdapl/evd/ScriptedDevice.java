package org.jdapl.evd;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.ArmHint;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.ArmModel;
import org.jdapl.verbs.ArmedAfterHint;
import org.jdapl.verbs.AsyncHandler;
import org.jdapl.verbs.AsyncType;
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
import org.jdapl.verbs.SharedReceiveQueue;
import org.jdapl.verbs.SolicitedSupport;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.VerbsProvider;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;

/**
 * A device in memory on which nothing happens but what a test says: which request completes, when a
 * notification comes, and what goes wrong. Requests are flushed in the error state and posts are
 * counted against the sizes; all else is up to the test. Its completion queues may be used from
 * several threads.
 */
final class ScriptedDevice implements VerbsProvider, Device {

  /** What an arm returns. */
  enum Hint {
    NONE(ArmHint.NONE),
    EXACT(ArmHint.EXACT),
    /** Every other time the opposite of the truth. */
    LYING(ArmHint.MAYBE),
    /** Always that completions were missed. */
    ALWAYS(ArmHint.MAYBE);

    private final ArmHint declared;

    Hint(final ArmHint declared) {
      this.declared = declared;
    }
  }

  /** What becomes of a notification. */
  enum Notify {
    AT_ONCE,
    TWICE,
    /** It waits until the test lets it go. */
    HELD,
    NEVER
  }

  /**
   * How the device behaves, and what it declares of it.
   *
   * @param strong of an UNKNOWN model: whether it is a strong one.
   * @param armedAfterHint where UNKNOWN, every other arm that returns a hint arms.
   */
  record Behavior(
      ArmModel declared,
      boolean strong,
      Hint hint,
      ArmedAfterHint armedAfterHint,
      SecondArm secondArm,
      SolicitedSupport solicited) {

    static final Behavior WEAK =
        new Behavior(ArmModel.WEAK, false, Hint.NONE, ArmedAfterHint.UNKNOWN, SecondArm.UNKNOWN);
    static final Behavior STRONG =
        new Behavior(ArmModel.STRONG, true, Hint.NONE, ArmedAfterHint.UNKNOWN, SecondArm.UNKNOWN);

    /** One that knows no solicited arms. */
    Behavior(
        final ArmModel declared,
        final boolean strong,
        final Hint hint,
        final ArmedAfterHint armedAfterHint,
        final SecondArm secondArm) {
      this(declared, strong, hint, armedAfterHint, secondArm, SolicitedSupport.UNSUPPORTED);
    }

    Behavior withHint(final Hint kind, final ArmedAfterHint armed) {
      return new Behavior(declared, strong, kind, armed, secondArm, solicited);
    }

    Behavior withSecondArm(final SecondArm second) {
      return new Behavior(declared, strong, hint, armedAfterHint, second, solicited);
    }

    Behavior withSolicited(final SolicitedSupport support) {
      return new Behavior(declared, strong, hint, armedAfterHint, secondArm, support);
    }

    Declaration declaration() {
      return new Declaration(
          declared,
          hint.declared,
          armedAfterHint,
          secondArm,
          NotificationConcurrency.CONCURRENT,
          true,
          solicited,
          LastWqe.NEVER,
          PrivateDataLength.EXACT);
    }
  }

  /** A completion. */
  record Wc(
      long wrId,
      WcStatus status,
      WcOpcode opcode,
      int byteLength,
      int qpNumber,
      int vendorError,
      boolean solicited) {

    Wc(
        final long wrId,
        final WcStatus status,
        final WcOpcode opcode,
        final int byteLength,
        final int qpNumber,
        final int vendorError) {
      this(wrId, status, opcode, byteLength, qpNumber, vendorError, false);
    }

    static Wc success(final long wrId, final WcOpcode opcode, final int qpNumber) {
      return new Wc(wrId, WcStatus.SUCCESS, opcode, 8, qpNumber, 0);
    }

    Wc as(final WcStatus other) {
      return new Wc(wrId, other, null, -1, qpNumber, vendorError);
    }

    Wc asSolicited() {
      return new Wc(wrId, status, opcode, byteLength, qpNumber, vendorError, true);
    }

    static Wc flushed(final long wrId, final int qpNumber) {
      return new Wc(wrId, WcStatus.WR_FLUSH_ERR, null, -1, qpNumber, 5);
    }
  }

  private static final DeviceLimits LIMITS =
      new DeviceLimits.Builder()
          .maxQp(64)
          .maxQpWr(512)
          .maxSge(4)
          .maxCq(64)
          .maxCqe(4096)
          .maxMr(64)
          .maxPd(64)
          .maxSrq(8)
          .maxSrqWr(64)
          .maxSrqSge(4)
          .maxMessageBytes(1 << 20)
          .maxReadsIn(16)
          .maxReadsOut(16)
          .connectPrivateData(64)
          .acceptPrivateData(64)
          .rejectPrivateData(64)
          .build();

  private static final DeviceLimits BARE_LIMITS =
      new DeviceLimits(64, 512, 4, 64, 4096, 64, 64, 0, 0, 0, 0, 1 << 20, 16, 16, 64, 64, 64);

  private final Behavior behavior;
  private Declaration declaration;
  private final BitSet numbers = new BitSet();
  private final List<ScriptedCq> cqs = new ArrayList<>();
  private final List<ScriptedQp> qps = new ArrayList<>();
  private final List<ScriptedCmId> cmIds = new ArrayList<>();
  private boolean establishes = true;
  private boolean flushes = true;
  private boolean lastWqeAtOnce;
  private boolean hasOptions = true;
  private Runnable refusingLimits;
  private Runnable atDestruction = () -> {};
  private AsyncHandler async;

  /** Zones, regions and shared queues; the others say whether they are closed. */
  private final AtomicInteger objects = new AtomicInteger();

  ScriptedDevice(final Behavior behavior) {
    this.behavior = behavior;
    declaration = behavior.declaration();
  }

  /** What it declares of QP_LAST_WQE_REACHED; whether that comes is up to the test. */
  ScriptedDevice withLastWqe(final LastWqe declared) {
    final Declaration d = declaration;
    declaration =
        new Declaration(
            d.armModel(),
            d.hint(),
            d.armedAfterHint(),
            d.secondArm(),
            d.concurrency(),
            d.notifiesInsideVerbs(),
            d.solicited(),
            declared,
            d.privateData());
    return this;
  }

  /** It says so when a queue pair goes to the error state, and before that call returns. */
  ScriptedDevice sayingLastWqeAtOnce() {
    lastWqeAtOnce = true;
    return this;
  }

  /** Has something done when the next queue pair is destroyed, and its number free. */
  void atDestruction(final Runnable then) {
    atDestruction =
        () -> {
          atDestruction = () -> {};
          then.run();
        };
  }

  /** A queue pair of a shared receive queue has taken its last receive. */
  void lastWqe(final ScriptedQp qp) {
    async.onAsync(AsyncType.QP_LAST_WQE_REACHED, qp);
  }

  /** It has nothing that the SPI leaves open: no shared receives, and no send with invalidate. */
  void refuseLimits(final Runnable meanwhile) {
    refusingLimits = meanwhile;
  }

  ScriptedDevice withoutOptions() {
    hasOptions = false;
    return this;
  }

  /** Connections are established when the test says so. */
  ScriptedDevice withSilentPeer() {
    establishes = false;
    return this;
  }

  /** Requests are not flushed in the error state. */
  ScriptedDevice withoutFlush() {
    flushes = false;
    return this;
  }

  /** What is open on queue pairs in the error state is flushed now. */
  void flushNow() {
    flushes = true;
    qps.forEach(ScriptedQp::flush);
  }

  ScriptedCq cq(final int index) {
    return cqs.get(index);
  }

  ScriptedQp qp(final int index) {
    return qps.get(index);
  }

  ScriptedQp lastQp() {
    return qps.get(qps.size() - 1);
  }

  ScriptedCmId cmId(final int index) {
    return cmIds.get(index);
  }

  AsyncHandler async() {
    return async;
  }

  @Override
  public Device open(final String parameters, final org.jdapl.verbs.EventChannel channel) {
    return this;
  }

  @Override
  public String name() {
    return "scripted";
  }

  @Override
  public Declaration declaration() {
    return declaration;
  }

  @Override
  public DeviceLimits limits() {
    return hasOptions ? LIMITS : BARE_LIMITS;
  }

  @Override
  public InetAddress address() {
    return InetAddress.getLoopbackAddress();
  }

  @Override
  public void onAsync(final AsyncHandler handler) {
    async = handler;
  }

  @Override
  public ProtectionDomain allocPd() {
    objects.incrementAndGet();
    return objects::decrementAndGet;
  }

  @Override
  public MemoryRegion regMr(
      final ProtectionDomain pd, final ByteBuffer buffer, final Set<Access> access) {
    objects.incrementAndGet();
    return new ScriptedMr(this, buffer.capacity());
  }

  @Override
  public CompletionQueue createCq(final int entries, final CqHandler handler) {
    final ScriptedCq cq = new ScriptedCq(this, entries, handler, cqs.size());
    cqs.add(cq);
    return cq;
  }

  @Override
  public QueuePair createQp(final QpAttributes attributes) {
    final int number = numbers.nextClearBit(1);
    numbers.set(number);
    final ScriptedQp qp = new ScriptedQp(this, attributes, number);
    qps.add(qp);
    return qp;
  }

  @Override
  public SharedReceiveQueue createSrq(
      final ProtectionDomain pd, final int maxWr, final int maxSge) {
    if (!hasOptions) {
      return Device.super.createSrq(pd, maxWr, maxSge);
    }
    objects.incrementAndGet();
    return new ScriptedSrq(this, maxWr);
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
    final ScriptedCmId id = new ScriptedCmId((ScriptedQp) qp, handler);
    cmIds.add(id);
    if (establishes) {
      id.event(CmEventType.ESTABLISHED);
    }
    return id;
  }

  @Override
  public void close() {
    if (objects.get() > 0
        || !qps.stream().allMatch(ScriptedQp::isClosed)
        || !cqs.stream().allMatch(ScriptedCq::isClosed)) {
      throw new VerbsException("close_device", name(), VerbsException.EBUSY, "objects left");
    }
  }

  private record ScriptedMr(ScriptedDevice device, long length) implements MemoryRegion {

    @Override
    public long address() {
      return 0x1000;
    }

    @Override
    public int lkey() {
      return 1;
    }

    @Override
    public int rkey() {
      return 2;
    }

    @Override
    public void close() {
      device.objects.decrementAndGet();
    }
  }

  /** A connection whose peer is the test. */
  static final class ScriptedCmId implements CmId {

    private final ScriptedQp qp;
    private final CmHandler handler;

    ScriptedCmId(final ScriptedQp qp, final CmHandler handler) {
      this.qp = qp;
      this.handler = handler;
    }

    void event(final CmEventType type) {
      if (type == CmEventType.ESTABLISHED) {
        qp.connected = true;
      }
      handler.onCmEvent(this, type, 0, ByteBuffer.allocate(0));
    }

    @Override
    public void disconnect() {
      qp.modifyToError();
    }

    @Override
    public void notifyEstablished() {}

    @Override
    public void close() {}
  }

  /** Receives that queue pairs take when the test says so; its limit is up to the test. */
  static final class ScriptedSrq implements SharedReceiveQueue {

    private final ScriptedDevice device;
    private final int maxWr;
    private final Deque<Long> receives = new ArrayDeque<>();
    private boolean closed;

    ScriptedSrq(final ScriptedDevice device, final int maxWr) {
      this.device = device;
      this.maxWr = maxWr;
    }

    int size() {
      return receives.size();
    }

    boolean isClosed() {
      return closed;
    }

    @Override
    public int postRecv(final RecvRequest request) {
      if (receives.size() == maxWr) {
        return VerbsException.ENOMEM;
      }
      receives.add(request.wrId);
      return 0;
    }

    @Override
    public void armLimit(final int limit) {
      if (device.refusingLimits != null) {
        device.refusingLimits.run();
        throw new VerbsException("modify_srq", "srq", VerbsException.EINVAL, "the test says no");
      }
    }

    @Override
    public void close() {
      closed = true;
      device.objects.decrementAndGet();
    }
  }

  /** Two queues of requests that complete when the test says so. One thread at a time. */
  static final class ScriptedQp implements QueuePair {

    private final ScriptedDevice device;
    private final QpAttributes attributes;
    private final int number;
    private final Deque<Long> sends = new ArrayDeque<>();
    private final Set<Long> unsignaled = new HashSet<>();
    private final Deque<Long> receives = new ArrayDeque<>();
    private boolean connected;
    private boolean inError;
    private SendRequest last;
    private Runnable destroying = () -> {};
    private boolean closed;

    ScriptedQp(final ScriptedDevice device, final QpAttributes attributes, final int number) {
      this.device = device;
      this.attributes = attributes;
      this.number = number;
    }

    ScriptedCq sendCq() {
      return (ScriptedCq) attributes.sendCq();
    }

    ScriptedCq recvCq() {
      return (ScriptedCq) attributes.recvCq();
    }

    /** What happens while it is destroyed. */
    void whileDestroyed(final Runnable action) {
      destroying = action;
    }

    int openReceives() {
      return receives.size();
    }

    /** The id of an open receive, the oldest is 0. */
    long receiveId(final int index) {
      return receives.stream().skip(index).findFirst().orElseThrow();
    }

    /** The oldest receive is done, but its completion is the test's to add. */
    Wc takeReceive() {
      return Wc.success(receives.remove(), WcOpcode.RECV, number);
    }

    /** It takes the oldest receive of its shared queue, which is done. */
    Wc takeShared() {
      return Wc.success(srq().receives.remove(), WcOpcode.RECV, number);
    }

    ScriptedSrq srq() {
      return (ScriptedSrq) attributes.srq();
    }

    /** What was posted last; it is the caller's, who uses it again. */
    SendRequest lastSend() {
      return last;
    }

    boolean isInError() {
      return inError;
    }

    boolean isClosed() {
      return closed;
    }

    Wc takeSend() {
      return Wc.success(sends.remove(), WcOpcode.SEND, number);
    }

    /** That many receives complete. */
    void completeReceives(final int count) {
      for (int i = 0; i < count; i++) {
        recvCq().add(takeReceive());
      }
    }

    void completeSends(final int count) {
      for (int i = 0; i < count; i++) {
        sendCq().add(takeSend());
      }
    }

    /** All sends succeed; those that are not signaled make no completion. */
    void completeSignaledSends() {
      while (!sends.isEmpty()) {
        final Wc completion = takeSend();
        if (!unsignaled.remove(completion.wrId())) {
          sendCq().add(completion);
        }
      }
    }

    @Override
    public int number() {
      return number;
    }

    @Override
    public int postSend(final SendRequest request) {
      if (!connected && !inError) {
        return VerbsException.EINVAL;
      }
      if (sends.size() == attributes.maxSendWr()) {
        return VerbsException.ENOMEM;
      }
      if (request.opcode == WrOpcode.SEND_WITH_INV && !device.hasOptions) {
        return VerbsException.EOPNOTSUPP;
      }
      last = request;
      sends.add(request.wrId);
      if (!request.signaled) {
        unsignaled.add(request.wrId);
      }
      flush();
      return 0;
    }

    @Override
    public int postRecv(final RecvRequest request) {
      if (receives.size() == attributes.maxRecvWr()) {
        return VerbsException.ENOMEM;
      }
      receives.add(request.wrId);
      flush();
      return 0;
    }

    @Override
    public void modifyToError() {
      final boolean first = !inError;
      inError = true;
      flush();
      if (first && device.lastWqeAtOnce && attributes.srq() != null) {
        device.lastWqe(this);
      }
    }

    private void flush() {
      if (inError && device.flushes) {
        while (!sends.isEmpty()) {
          sendCq().add(Wc.flushed(sends.remove(), number));
        }
        while (!receives.isEmpty()) {
          recvCq().add(Wc.flushed(receives.remove(), number));
        }
      }
    }

    @Override
    public void close() {
      if (!closed) {
        closed = true;
        destroying.run();
        device.numbers.clear(number);
        device.atDestruction.run();
      }
    }
  }

  /** Where a call of a completion queue is. */
  enum Point {
    POLL,
    POLLED,
    ARM,
    ARMED
  }

  /** What a test does in the middle of a call. */
  @FunctionalInterface
  interface Hook {
    void at(Point point);
  }

  /** A completion queue. */
  static final class ScriptedCq implements CompletionQueue {

    private final ScriptedDevice device;
    private final int capacity;
    private final CqHandler handler;
    private final String name;
    private final AtomicInteger inside = new AtomicInteger();

    // Under the monitor of this object.
    private final Deque<Wc> completions = new ArrayDeque<>();
    private int arms;
    private int solicitedArms;
    private final Set<ArmKind> armKinds = EnumSet.noneOf(ArmKind.class);
    private int held;
    private int armCalls;
    private int pollCalls;
    private int hints;
    private int overlaps;
    private int surplus;
    private int pretended;
    private boolean closed;
    private final Deque<Supplier<? extends Throwable>> pollFailures = new ArrayDeque<>();
    private final Deque<Supplier<? extends Throwable>> armFailures = new ArrayDeque<>();

    private volatile Notify notify = Notify.AT_ONCE;
    private volatile Hook hook = point -> {};

    ScriptedCq(
        final ScriptedDevice device, final int capacity, final CqHandler handler, final int index) {
      this.device = device;
      this.capacity = capacity;
      this.handler = handler;
      name = "cq-" + index;
    }

    // What the test says.

    void notifies(final Notify how) {
      notify = how;
    }

    void hook(final Hook then) {
      hook = then;
    }

    /** Polls return that many more completions than they were asked for. */
    synchronized void returnMore(final int completionsTooMany) {
      surplus = completionsTooMany;
    }

    /** Polls say that they returned that many more completions than they did. */
    synchronized void pretendMore(final int completionsMissing) {
      pretended = completionsMissing;
    }

    /** A poll fails; as many do as there were calls of this. */
    synchronized void failPoll(final Supplier<? extends Throwable> failure) {
      pollFailures.add(failure);
    }

    /** An arm fails; as many do as there were calls of this. */
    synchronized void failArm(final Supplier<? extends Throwable> failure) {
      armFailures.add(failure);
    }

    /** Adds a completion, and notifies if armed. */
    void add(final Wc completion) {
      final boolean notifies;
      synchronized (this) {
        completions.add(completion);
        notifies = takeArm(counts(completion, ArmKind.SOLICITED));
      }
      if (notifies) {
        raise();
      }
    }

    /** Adds a completion the way a broken provider does, that looks at the arm later. */
    synchronized void addSilently(final Wc completion) {
      completions.add(completion);
    }

    /** A broken producer clears arms that were made since it looked. */
    synchronized void loseArms() {
      arms = 0;
      solicitedArms = 0;
    }

    /** Looks at the arm, later. */
    void notifyIfArmed() {
      final boolean notifies;
      synchronized (this) {
        notifies = takeArm(true);
      }
      if (notifies) {
        raise();
      }
    }

    private boolean takeArm(final boolean solicited) {
      if (arms > 0) {
        arms--;
        return true;
      }
      if (solicited && solicitedArms > 0) {
        solicitedArms--;
        return true;
      }
      return false;
    }

    private boolean counts(final Wc completion, final ArmKind kind) {
      return kind == ArmKind.NEXT
          || completion.solicited
          || (completion.status != WcStatus.SUCCESS
              && device.behavior.solicited == SolicitedSupport.FULL);
    }

    private void raise() {
      switch (notify) {
        case AT_ONCE -> notifyNow();
        case TWICE -> {
          notifyNow();
          notifyNow();
        }
        case HELD -> {
          synchronized (this) {
            held++;
          }
        }
        case NEVER -> {}
      }
    }

    /** A notification, whether armed or not. */
    void notifyNow() {
      handler.onNotification(this);
    }

    /**
     * Lets the notifications go that are held.
     *
     * @return how many.
     */
    int release() {
      final int count;
      synchronized (this) {
        count = held;
        held = 0;
      }
      for (int i = 0; i < count; i++) {
        notifyNow();
      }
      return count;
    }

    synchronized boolean isArmed() {
      return arms + solicitedArms > 0;
    }

    /** What it was armed for so far. */
    synchronized Set<ArmKind> armKinds() {
      return EnumSet.copyOf(armKinds);
    }

    synchronized int size() {
      return completions.size();
    }

    synchronized int armCalls() {
      return armCalls;
    }

    /** Polls and arms so far. */
    synchronized int calls() {
      return pollCalls + armCalls;
    }

    /** How often a thread came in while another was inside. */
    synchronized int overlaps() {
      return overlaps;
    }

    synchronized boolean isClosed() {
      return closed;
    }

    // What the core calls.

    @Override
    public Device device() {
      return device;
    }

    @Override
    public int capacity() {
      return capacity;
    }

    @Override
    public int poll(final WorkCompletions into, final int max) {
      enter();
      try {
        hook.at(Point.POLL);
        final int taken = take(into, max);
        hook.at(Point.POLLED);
        return taken;
      } finally {
        inside.decrementAndGet();
      }
    }

    private synchronized int take(final WorkCompletions into, final int max) {
      pollCalls++;
      fail(pollFailures);
      int taken = 0;
      while (taken < max + surplus && !completions.isEmpty()) {
        final Wc wc = completions.element();
        into.add(
            wc.wrId, wc.status, wc.opcode, wc.byteLength, wc.qpNumber, wc.vendorError, false, 0);
        completions.remove();
        taken++;
      }
      return taken + pretended;
    }

    @Override
    public int arm(final ArmKind kind) {
      enter();
      try {
        hook.at(Point.ARM);
        final boolean fires;
        final int hint;
        synchronized (this) {
          armCalls++;
          fail(armFailures);
          armKinds.add(kind);
          if (kind == ArmKind.SOLICITED
              && device.behavior.solicited == SolicitedSupport.UNSUPPORTED) {
            throw VerbsException.unsupported("req_notify_cq(solicited)", name);
          }
          hint = hint();
          final boolean isIgnored = device.behavior.secondArm == SecondArm.IGNORED && held > 0;
          final boolean isArmed = !isIgnored && (hint == 0 || armsAfterHint());
          fires =
              isArmed
                  && device.behavior.strong
                  && completions.stream().anyMatch(completion -> counts(completion, kind));
          if (isArmed && !fires) {
            arm(kind, device.behavior.secondArm);
          }
        }
        if (fires) {
          raise();
        }
        hook.at(Point.ARMED);
        return hint;
      } finally {
        inside.decrementAndGet();
      }
    }

    private void arm(final ArmKind kind, final SecondArm second) {
      if (kind == ArmKind.NEXT) {
        arms = second == SecondArm.COUNTED ? arms + 1 : 1;
      } else {
        solicitedArms = second == SecondArm.COUNTED ? solicitedArms + 1 : 1;
        arms = second == SecondArm.OVERWRITES ? 0 : arms; // so it is weakened
      }
    }

    private int hint() {
      final boolean full = !completions.isEmpty();
      return switch (device.behavior.hint) {
        case NONE -> 0;
        case EXACT -> full ? completions.size() : 0;
        case LYING -> full == (hints++ % 2 == 0) ? 0 : 1;
        case ALWAYS -> 1;
      };
    }

    private boolean armsAfterHint() {
      return switch (device.behavior.armedAfterHint) {
        case YES -> true;
        case NO -> false;
        case UNKNOWN -> armCalls % 2 == 0;
      };
    }

    private void enter() {
      if (inside.getAndIncrement() > 0) {
        synchronized (this) {
          overlaps++;
        }
      }
    }

    private static void fail(final Deque<Supplier<? extends Throwable>> failures) {
      if (!failures.isEmpty()) {
        Unexpected.throwUnchecked(failures.remove().get());
      }
    }

    @Override
    public synchronized void close() {
      closed = true;
    }

    @Override
    public String toString() {
      return name;
    }
  }
}
