package org.jdapl.evd;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.Segments;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.BindRequest;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.SgeList;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WrOpcode;

/**
 * A queue of an endpoint: the ring of its open requests, in the order they were posted, markers
 * included.
 *
 * <p>Posters write under the guard: {@link #posted} and the slot behind it. The holder of the EVD's
 * turn completes: {@link #completed} and the slots before it. A slot is free again when it was
 * handed out. The id of a work request is the endpoint's tag, the queue, and the low bits of its
 * position.
 */
class WorkQueue extends PostGuard {

  /** Markers that may be open at once: of a graceful disconnect, of its end, and of the close. */
  static final int MARKERS = 3;

  static final int POSITION_BITS = 24;
  static final int POSITION_MASK = (1 << POSITION_BITS) - 1;
  static final long REQUEST_QUEUE = 1L << POSITION_BITS;

  /** Bits of a wr_id below the endpoint's tag. */
  static final int TAG_SHIFT = POSITION_BITS + 1;

  private static final int REFUSED = -1;
  private static final byte SUPPRESSED = 1;
  private static final byte MARKER = 2;
  private static final byte CLOSE_MARKER = 4;
  private static final byte UNSIGNALLED = 8;

  private static final VarHandle COMPLETED;

  static {
    try {
      COMPLETED = MethodHandles.lookup().findVarHandle(WorkQueue.class, "completed", long.class);
    } catch (final ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final boolean requests;
  private final Counters counters;
  private final int max;
  private final int iov;
  private final int mask;
  private final long idBase;
  private final int signalInterval;

  private final Segments single = new Segments(1);
  private final SendRequest send;
  private final RecvRequest receive;
  private final BindRequest bind;
  private final Set<Access> access = EnumSet.noneOf(Access.class);
  private final long[] cookies;
  private final Object[] contexts;
  private final DtoOperation[] operations;
  private final long[] lengths;
  private final byte[] flags;
  private final LmrImpl[] lmrs;
  private final RmrImpl[] rmrs;

  private volatile long posted;
  private int sinceSignal; // posts that make no completion if they succeed
  private int markersPosted;
  private volatile boolean sealed;

  private volatile long completed;
  private volatile int markersCompleted;
  private long suppressed;
  private boolean flushing;
  private boolean swept;
  private boolean drained;

  /** From here to {@link #posted} requests were given up, and their queue pair may have them. */
  private volatile long abandonedFrom = Long.MAX_VALUE;

  private SharedReceives receivesBeside;
  private final List<DrainReport.Request> report = new ArrayList<>(0);

  WorkQueue(
      final boolean requests,
      final Counters counters,
      final long tag,
      final int max,
      final int iov) {
    this.requests = requests;
    this.counters = counters;
    this.max = max;
    this.iov = iov;
    idBase = (tag << TAG_SHIFT) | (requests ? REQUEST_QUEUE : 0);
    signalInterval = Math.max(1, max / 2);
    final int capacity = Integer.highestOneBit(max + MARKERS - 1) << 1;
    mask = capacity - 1;
    send = requests ? new SendRequest(iov) : null;
    receive = requests ? null : new RecvRequest(iov);
    cookies = new long[capacity];
    contexts = new Object[capacity];
    operations = new DtoOperation[capacity];
    lengths = new long[capacity];
    flags = new byte[capacity];
    lmrs = new LmrImpl[capacity * iov];
    bind = requests ? new BindRequest() : null;
    rmrs = requests ? new RmrImpl[capacity] : null;
  }

  /** Its markers tell the receives of the same endpoint, on a shared receive queue. */
  void tell(final SharedReceives receives) {
    receivesBeside = receives;
  }

  // Posters, under the guard.

  /** Whether as many requests are open as may be. */
  boolean isFull() {
    return posted - completed - (markersPosted - markersCompleted) >= max;
  }

  boolean isSealed() {
    return sealed;
  }

  /** A list of one segment. */
  Segments single(final Lmr lmr, final long offset, final long length) {
    return single.clear().add(lmr, offset, length);
  }

  SendRequest sendRequest() {
    return send;
  }

  RecvRequest receiveRequest() {
    return receive;
  }

  /** Puts segments into the request to be posted; see {@link PzImpl#use}. */
  long use(
      final PzImpl pz,
      final Segments segments,
      final SgeList into,
      final Privilege need,
      final String user) {
    return pz.use(segments, into, lmrs, ((int) posted & mask) * iov, iov, need, user);
  }

  /**
   * Posts what {@link #sendRequest} holds.
   *
   * @return 0 or an errno.
   */
  int postSend(
      final QueuePair qp,
      final DtoOperation operation,
      final long length,
      final long cookie,
      final Object context,
      final boolean suppress,
      final boolean unsignalled) {
    final boolean signaled = isToBeSignaled(suppress);
    final byte flag = (byte) ((suppress ? SUPPRESSED : 0) | (unsignalled ? UNSIGNALLED : 0));
    final int slot = fill(operation, length, cookie, context, flag);
    send.wrId = idBase | (posted & POSITION_MASK);
    send.signaled = signaled;
    movePosted(1);
    int errno = REFUSED;
    try {
      errno = qp.postSend(send);
    } finally {
      if (errno != 0) {
        unpost(slot);
      }
    }
    if (errno == 0) {
      sinceSignal = signaled ? 0 : sinceSignal + 1;
    }
    return errno;
  }

  BindRequest bindRequest() {
    return bind;
  }

  /** What a peer may do, as a bind to be posted says it. */
  Set<Access> access(final Set<Privilege> privileges) {
    access.clear();
    if (privileges.contains(Privilege.REMOTE_READ)) {
      access.add(Access.REMOTE_READ);
    }
    if (privileges.contains(Privilege.REMOTE_WRITE)) {
      access.add(Access.REMOTE_WRITE);
    }
    if (privileges.contains(Privilege.REMOTE_ATOMIC)) {
      access.add(Access.REMOTE_ATOMIC);
    }
    return access;
  }

  /**
   * Posts what {@link #bindRequest} holds.
   *
   * @param region null if the window is closed.
   * @return 0 or an errno.
   */
  int postBind(
      final QueuePair qp,
      final RmrImpl rmr,
      final LmrImpl region,
      final long cookie,
      final Object context,
      final boolean suppress) {
    final boolean signaled = isToBeSignaled(suppress);
    final byte flag = suppress ? SUPPRESSED : 0;
    final int slot = fill(DtoOperation.BIND_MW, 0, cookie, context, flag);
    clearLmrs(slot);
    lmrs[slot * iov] = region;
    rmrs[slot] = rmr;
    bind.wrId = idBase | (posted & POSITION_MASK);
    bind.signaled = signaled;
    movePosted(1);
    int errno = REFUSED;
    try {
      errno = qp.postBind(bind);
    } finally {
      if (errno != 0) {
        unpost(slot);
        rmrs[slot] = null;
      }
    }
    if (errno == 0) {
      sinceSignal = signaled ? 0 : sinceSignal + 1;
    }
    return errno;
  }

  /**
   * Posts what {@link #receiveRequest} holds.
   *
   * @return 0 or an errno.
   */
  int postReceive(final QueuePair qp, final long length, final long cookie, final Object context) {
    final int slot = fill(DtoOperation.RECEIVE, length, cookie, context, (byte) 0);
    receive.wrId = idBase | (posted & POSITION_MASK);
    movePosted(1);
    int errno = REFUSED;
    try {
      errno = qp.postRecv(receive);
    } finally {
      if (errno != 0) {
        unpost(slot);
      }
    }
    return errno;
  }

  /** Slots are free again by completions only, so now and then there must be one. */
  private boolean isToBeSignaled(final boolean suppress) {
    return !suppress || sinceSignal + 1 >= signalInterval;
  }

  private int fill(
      final DtoOperation operation,
      final long length,
      final long cookie,
      final Object context,
      final byte flag) {
    final int slot = (int) posted & mask;
    cookies[slot] = cookie;
    contexts[slot] = context;
    operations[slot] = operation;
    lengths[slot] = length;
    flags[slot] = flag;
    return slot;
  }

  private void movePosted(final int by) {
    final long position = posted; // written under the guard only
    posted = position + by;
  }

  private void unpost(final int slot) {
    movePosted(-1);
    contexts[slot] = null;
  }

  /**
   * Posts a marker: a request that completes when all before it have. The queue pair is in the
   * error state, or the marker is an empty RDMA write, which the peer does not see.
   *
   * @param closing whether it is the last one: the queue is sealed.
   * @return 0 or an errno.
   */
  int postMarker(final QueuePair qp, final boolean closing) {
    lock();
    try {
      if (sealed && !closing) {
        return 0;
      }
      if (markersPosted - markersCompleted >= MARKERS) {
        return VerbsException.ENOMEM;
      }
      markersPosted++;
      clearLmrs((int) posted & mask);
      final byte flag = closing ? MARKER | CLOSE_MARKER : MARKER;
      final int slot = fill(null, 0, 0, null, flag);
      movePosted(1);
      int errno = REFUSED;
      try {
        errno = requests ? postSendMarker(qp) : postReceiveMarker(qp);
      } finally {
        if (errno != 0) {
          markersPosted--;
          unpost(slot);
        }
      }
      return errno;
    } finally {
      unlock();
    }
  }

  private int postSendMarker(final QueuePair qp) {
    send.clearSge();
    send.wrId = idBase | ((posted - 1) & POSITION_MASK);
    send.opcode = WrOpcode.RDMA_WRITE;
    send.signaled = true;
    send.solicited = false;
    send.fence = false;
    send.remoteAddress = 0;
    send.rkey = 0;
    return qp.postSend(send);
  }

  /** Under the guard. */
  int postReceiveMarker(final QueuePair qp) {
    receive.clearSge();
    receive.wrId = idBase | ((posted - 1) & POSITION_MASK);
    return qp.postRecv(receive);
  }

  /** Accepts no post any more; one may be in progress. From any thread. */
  void seal() {
    sealed = true;
  }

  /** Whether an open request uses a region, or one that is stuck may. From any thread. */
  boolean uses(final LmrImpl lmr) {
    if (!lockUnlessStuck()) {
      return true;
    }
    try {
      for (long position = Math.min(completed, abandonedFrom); position < posted; position++) {
        final int first = ((int) position & mask) * iov;
        for (int i = first; i < first + iov; i++) {
          if (lmrs[i] == lmr) {
            return true;
          }
        }
      }
      return false;
    } finally {
      unlock();
    }
  }

  final long posted() {
    return posted;
  }

  /** The id of the request at a position. */
  final long idOf(final long position) {
    return idBase | (position & POSITION_MASK);
  }

  /** Whether an id is of this queue. */
  final boolean isOwn(final long wrId) {
    return (wrId ^ idBase) >>> TAG_SHIFT == 0;
  }

  // The holder of the turn.

  /** How many requests are open, markers not counted. From any thread. */
  int open() {
    final long done = completed; // before the other one, which it cannot overtake
    final long open = posted - done - (markersPosted - markersCompleted);
    return (int) Math.max(0, Math.min(max, open)); // it may change meanwhile
  }

  /** Whether no request is open, markers not counted. From any thread. */
  boolean isIdle() {
    return posted - completed == markersPosted - markersCompleted;
  }

  /**
   * Finds the slot of a completion's request; those before it that were skipped are done:
   * suppressed successes.
   *
   * @return the slot, or -1 if no such request is open.
   */
  int locate(final long wrId) {
    final long first = completed;
    final int skipped = skipped(wrId, first);
    if (skipped < 0) {
      return -1;
    }
    for (int i = 0; i < skipped; i++) {
      skip((int) (first + i) & mask);
    }
    if (skipped > 0) {
      COMPLETED.setRelease(this, first + skipped);
    }
    return (int) (first + skipped) & mask;
  }

  /** The slot of a completion's request, or -1 if no such request is open; changes nothing. */
  int slotOf(final long wrId) {
    final long first = completed;
    final int skipped = skipped(wrId, first);
    return skipped < 0 ? -1 : (int) (first + skipped) & mask;
  }

  /** How many open requests are before that of a completion; -1 if it is not open. */
  private int skipped(final long wrId, final long first) {
    final int skipped = ((int) wrId - (int) first) & POSITION_MASK;
    return skipped < posted - first ? skipped : -1;
  }

  private void skip(final int slot) {
    if ((flags[slot] & SUPPRESSED) != 0) {
      tellWindow(slot, true);
      countSuppressed();
    } else if ((flags[slot] & MARKER) != 0) {
      passMarker(slot);
    } else {
      report(slot, DrainReport.Status.UNKNOWN);
    }
    clear(slot);
  }

  /** The window of a bind that was done or failed hears of it, before the slot is free. */
  void tellWindow(final int slot, final boolean success) {
    final RmrImpl rmr = rmr(slot);
    if (rmr == null) {
      return;
    }
    if (success) {
      rmr.onDone(lmrs[slot * iov]);
    } else {
      rmr.onFailed(lmrs[slot * iov]);
    }
    rmrs[slot] = null;
  }

  /** The window of a bind; null if the request is none, or its window was told. */
  RmrImpl rmr(final int slot) {
    return rmrs == null ? null : rmrs[slot];
  }

  private void passMarker(final int slot) {
    final int markers = markersCompleted; // written in turns only
    markersCompleted = markers + 1;
    drained |= (flags[slot] & CLOSE_MARKER) != 0;
    if (receivesBeside != null) {
      receivesBeside.onRequestsMarker();
    }
  }

  /** The request in a slot that {@link #locate} found was accounted for: its slot is free again. */
  void complete(final int slot) {
    if ((flags[slot] & MARKER) != 0) {
      passMarker(slot);
    }
    clear(slot);
    COMPLETED.setRelease(this, completed + 1);
  }

  private void clear(final int slot) {
    contexts[slot] = null;
    clearLmrs(slot);
  }

  private void clearLmrs(final int slot) {
    for (int i = slot * iov; i < (slot + 1) * iov; i++) {
      lmrs[i] = null;
    }
  }

  void countSuppressed() {
    suppressed++;
    counters.increment(Counters.SUPPRESSED);
  }

  /** A completion goes into the report, and so must those after it: they would overtake it. */
  void sweep(final int slot, final DrainReport.Status status) {
    swept = true;
    report(slot, status);
  }

  boolean isSwept() {
    return swept;
  }

  private void report(final int slot, final DrainReport.Status status) {
    if (rmr(slot) != null && status == DrainReport.Status.UNKNOWN) {
      rmrs[slot].onUnknown(lmrs[slot * iov]);
      rmrs[slot] = null;
    }
    report.add(
        new DrainReport.Request(
            requests ? DrainReport.Queue.REQUEST : DrainReport.Queue.RECEIVE,
            cookie(slot),
            context(slot),
            status));
  }

  /**
   * Gives up: whatever is open is accounted for as unknown. The queue was sealed before.
   *
   * @return false if a post is in progress, which may be accepted.
   */
  boolean abandon() {
    if (!tryLock()) {
      return false;
    }
    try {
      for (long position = completed; position < posted; position++) {
        final int slot = (int) position & mask;
        if ((flags[slot] & MARKER) == 0) {
          report(slot, DrainReport.Status.UNKNOWN);
        }
        contexts[slot] = null; // its regions stay in use: the queue pair is not destroyed yet
      }
      abandonedFrom = completed;
      completed = posted;
      drained = true;
      return true;
    } finally {
      unlock();
    }
  }

  boolean isMarker(final int slot) {
    return (flags[slot] & MARKER) != 0;
  }

  boolean isSuppressed(final int slot) {
    return (flags[slot] & SUPPRESSED) != 0;
  }

  /** Whether a success is an event that tells nobody of itself. */
  boolean isUnsignalled(final int slot) {
    return (flags[slot] & UNSIGNALLED) != 0;
  }

  DtoOperation operation(final int slot) {
    return operations[slot];
  }

  long cookie(final int slot) {
    return cookies[slot];
  }

  Object context(final int slot) {
    return contexts[slot];
  }

  long length(final int slot) {
    return lengths[slot];
  }

  /** An error or a marker came by: no success will follow. */
  void markFlushing() {
    flushing = true;
  }

  /** An error came by. In a queue of requests of its own, no success will follow. */
  void onError() {
    markFlushing();
  }

  boolean isFlushing() {
    return flushing;
  }

  /** The close's marker came by: nothing will follow. */
  boolean isDrained() {
    return drained;
  }

  long suppressed() {
    return suppressed;
  }

  List<DrainReport.Request> report() {
    return report;
  }
}
