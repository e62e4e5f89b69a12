package org.jdapl.evd;

import java.util.Arrays;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;

/**
 * Says which event of an EVD comes next: merges its lane, its stash and its completion queues in
 * the promised order. Confined to the holder of the turn.
 *
 * <p>The order is kept by a gate for each endpoint whose completions and connection events share
 * the EVD. Before ESTABLISHED was handed out, a successful completion waits for it (active side) or
 * makes it be handed out (passive side). The event that ends the connection waits until each queue
 * of the endpoint has shown its first flush or its marker.
 */
final class Merger {

  /** How many events of one source are taken in a row while the other may have some. */
  private static final int RUN = 16;

  /** How many completions may be left out in one turn. */
  private static final int PATIENCE = 64;

  private static final CqFeed[] NO_FEEDS = {};

  private final EvdImpl evd;
  private final Lane lane;
  private final EndpointTable endpoints;
  private final Stash stash = new Stash();

  private volatile CqFeed[] feeds = NO_FEEDS;
  private volatile int completionRoom;
  private WorkCompletions batch;
  private int patience;
  private int nextFeed;
  private boolean laneFirst = true;
  private int run = RUN;
  private int heldEnds;
  private boolean news;
  private long sequence; // not beside what posters read: it changes with each event

  Merger(final EvdImpl evd, final Lane lane, final EndpointTable endpoints) {
    this.evd = evd;
    this.lane = lane;
    this.endpoints = endpoints;
  }

  /** Adds a completion queue. From any thread, one at a time. */
  void add(final CqFeed feed) {
    final CqFeed[] more = Arrays.copyOf(feeds, feeds.length + 1);
    more[feeds.length] = feed;
    feeds = more;
  }

  /** There are no completion queues any more. Of the turn. */
  void removeFeeds() {
    feeds = NO_FEEDS;
  }

  /** Says how many completions may be waiting at most. From any thread, one at a time. */
  void reserve(final int completions) {
    completionRoom = completions;
  }

  CqFeed[] feeds() {
    return feeds;
  }

  /** A turn begins: this thread's batch is used for polling. */
  void begin(final WorkCompletions scratch) {
    batch = scratch;
    patience = PATIENCE;
  }

  /** The turn ends: its thread may use the batch for another EVD. */
  void end() {
    stash.keep();
  }

  /** Goes on in the same turn. */
  void rest() {
    patience = PATIENCE;
  }

  /** Whether so much was left out in this turn that it must end, though there may be more. */
  boolean isTired() {
    return patience <= 0;
  }

  /** A turn serves the CQ bit. */
  void resume() {
    for (final CqFeed feed : feeds) {
      feed.resume();
    }
  }

  /** A consumer asks for what is there: also for what does not notify. */
  void lookAgain() {
    for (final CqFeed feed : feeds) {
      feed.lookAgain();
    }
  }

  /** Polls the completion queues again, whatever their arms and timers promise. */
  void resumeAll() {
    for (final CqFeed feed : feeds) {
      feed.resumeAtOnce();
    }
  }

  /** For the watchdog: takes completions that came without a notification. */
  void rescue() {
    for (final CqFeed feed : feeds) {
      prepare();
      feed.rescue(batch);
      if (batch.size() > 0) {
        stash.add(batch);
        evd.signalLane(); // no notification did
      }
    }
  }

  /** Whether a completion queue must be polled before the EVD may go idle. */
  boolean hasMoreCompletions() {
    for (final CqFeed feed : feeds) {
      if (feed.hasMore()) {
        return true;
      }
    }
    return false;
  }

  /** Whether completions wait in the stash. */
  boolean hasMoreCompletionsInMemory() {
    return !stash.isEmpty();
  }

  /** Whether events wait in memory. */
  boolean hasMoreInMemory() {
    return hasMoreCompletionsInMemory() || !lane.isEmpty();
  }

  /** Whether there is an event, in memory or in a completion queue. */
  boolean hasAny() {
    return hasMoreInMemory() || poll(true);
  }

  /** Moves the completions of all queues into the stash, and arms the queues. */
  void collect() {
    int most = completionRoom + PATIENCE; // more than that is not this EVD's
    boolean found;
    do {
      found = poll(true);
    } while (found && --most > 0);
    stash.keep();
  }

  /**
   * Takes the next event, for who is told of what comes.
   *
   * @return whether there was one. If not, and it is not {@link #isTired}, everything was empty,
   *     and every queue is armed.
   */
  boolean next(final Handout to) {
    return next(to, true);
  }

  /**
   * Takes the next event.
   *
   * @param arms whether queues that are empty are armed.
   * @return whether there was one. If not, and it is not {@link #isTired}, everything was empty.
   */
  boolean next(final Handout to, final boolean arms) {
    for (int misses = 0; misses < 2; ) {
      if (run > 0 && (laneFirst ? nextOfLane(to) : nextCompletion(to, arms))) {
        run--;
        return true;
      }
      misses = run > 0 && (!laneFirst || isTired() || stash.isEmpty()) ? misses + 1 : 0;
      laneFirst = !laneFirst;
      run = RUN;
    }
    return false;
  }

  /** The number of an event that is handed out. */
  long nextSequence() {
    return sequence++;
  }

  // Counting, for who waits.

  /** Ends of connections that wait at their gates. */
  void countHeldEnd(final int more) {
    heldEnds += more;
  }

  /**
   * How many events the EVD holds, those included that have to wait for another one. The completion
   * queues are empty and armed afterwards, and what makes no event is done away with where nothing
   * is in front of it.
   */
  int count() {
    lookAgain();
    collect();
    look();
    while (stash.first() != Stash.NONE
        && stash.isSilent(stash.first())
        && passSilent(stash.first())) {
      look();
    }
    return stash.events() + lane.count() + heldEnds;
  }

  /** Forgets the events of the lane that will not be handed out any more. */
  void forgetGone() {
    lane.forgetGone();
  }

  /** After {@link #count}: whether one of those events tells of itself. */
  boolean hasTelling() {
    return stash.tellingEvents() + lane.count() + heldEnds > 0;
  }

  /**
   * As {@link #collect}.
   *
   * @return whether an event that tells was among them, or a marker, for which somebody waits.
   */
  boolean collectNews() {
    look();
    collect();
    return look();
  }

  /**
   * Since it was asked last: whether an action of the framework polled an event that tells, or a
   * marker, of which no notification will tell.
   */
  boolean foundNews() {
    final boolean found = news;
    news = false;
    return found;
  }

  private boolean look() {
    return look(null);
  }

  /**
   * Looks at all that had not been looked at.
   *
   * @param swept whose events are about to be swept; null for nobody's.
   * @return whether an event that tells was among them, or a marker.
   */
  private boolean look(final Incarnation swept) {
    stash.keep();
    boolean found = false;
    int entry;
    while ((entry = stash.firstUnknown()) != Stash.NONE) {
      found |= look(swept, entry);
    }
    return found;
  }

  private boolean look(final Incarnation swept, final int entry) {
    final Incarnation owner = ownerOf(entry);
    final long wrId = stash.wrId(entry);
    final int slot = owner == null ? -1 : owner.queue(wrId).slotOf(wrId);
    if (slot < 0) {
      stash.look(entry, true, false);
      return false;
    }
    final WorkQueue queue = owner.queue(wrId);
    final boolean success = stash.status(entry) == WcStatus.SUCCESS;
    final boolean marker = queue.isMarker(slot);
    final boolean silent = marker || queue.isSwept() || (success && queue.isSuppressed(slot));
    final boolean unsignalled = evd.mayBeUnsignalled() && success && queue.isUnsignalled(slot);
    stash.look(entry, silent, unsignalled);
    return owner != swept && (marker || (!silent && !unsignalled));
  }

  /** Whose request a completion is of; null if it is gone, or if its queue has another EVD. */
  private Incarnation ownerOf(final int entry) {
    final long wrId = stash.wrId(entry);
    final Incarnation owner = endpoints.find(wrId, stash.qpNumber(entry));
    return owner != null && owner.evdOf(owner.queue(wrId)) == evd ? owner : null;
  }

  /**
   * The first completion makes no event: does what is to be done about it.
   *
   * @return false if it has to wait for ESTABLISHED.
   */
  private boolean passSilent(final int entry) {
    final Incarnation endpoint = ownerOf(entry);
    if (endpoint == null) {
      drop(stash.pop());
      return true;
    }
    final long wrId = stash.wrId(entry);
    final Connection connection = endpoint.connection();
    final boolean success = stash.status(entry) == WcStatus.SUCCESS;
    final WorkQueue queue = endpoint.queue(wrId);
    final ConnectionGate gate = connection.gate();
    if (gate.mustBeEstablished(queue) && (success || !gate.heldBack().isEmpty())) {
      return false;
    }
    stash.pop();
    final int slot = queue.locate(wrId);
    if (slot >= 0 && queue.isMarker(slot)) {
      stash.release(entry);
      queue.complete(slot);
      connection.onMarker(queue, success);
      if (connection.isOf(evd)) {
        gate.offerEndIfOpen();
      }
    } else {
      sweep(endpoint, queue, entry);
    }
    return true;
  }

  // The lane.

  private boolean nextOfLane(final Handout to) {
    while (true) {
      final Object polled = lane.poll();
      if (polled == null) {
        return false;
      }
      if (polled instanceof ConnectionEventImpl event) {
        if (handOutConnection(event, to)) {
          return true;
        }
      } else if (polled instanceof AsyncEventImpl event) {
        if (event.takeForUpcall()) {
          to.set(event, evd, event.from());
          return true;
        }
      } else if (polled instanceof ConnectionRequestEventImpl event) {
        to.set(event, evd, event.from());
        return true;
      } else {
        final SoftwareView view = to.software();
        view.set(Lane.payload(polled));
        to.set(view, evd, evd);
        return true;
      }
    }
  }

  private boolean handOutConnection(final ConnectionEventImpl event, final Handout to) {
    final Incarnation endpoint = event.incarnation();
    if (event.what() == ConnectionEvent.Kind.ESTABLISHED) {
      if (!endpoint.gate().handOutEstablished()) {
        return false;
      }
      stash.prependAll(endpoint.gate().heldBack());
    } else if (!endpoint.gate().handOutEnd(event)) {
      return false;
    }
    to.set(endpoint.connection().revised(event), evd, endpoint.endpoint());
    return true;
  }

  // Completions.

  private boolean nextCompletion(final Handout to, final boolean arms) {
    while (true) {
      final int entry = stash.pop();
      if (entry == Stash.NONE) {
        if (!poll(arms)) {
          return false;
        }
      } else if (handOutCompletion(entry, to)) {
        return true;
      } else if (--patience <= 0) {
        return false;
      }
    }
  }

  /**
   * Polls the completion queues until one gives something or all are empty, and armed if it arms.
   */
  private boolean poll(final boolean arms) {
    final CqFeed[] all = feeds;
    for (int i = 0; i < all.length; i++) {
      nextFeed = nextFeed + 1 < all.length ? nextFeed + 1 : 0;
      final CqFeed feed = all[nextFeed];
      if (arms ? feed.hasMore() : !feed.isPaused()) {
        prepare();
        if (feed.poll(batch, arms)) {
          stash.add(batch);
          return true;
        }
      }
    }
    return false;
  }

  /** The batch is to be filled. Room comes before the poll: without memory nothing was taken. */
  private void prepare() {
    stash.keep();
    stash.reserve(completionRoom);
    batch.clear();
  }

  private boolean handOutCompletion(final int entry, final Handout to) {
    final Incarnation endpoint = ownerOf(entry);
    if (endpoint == null) {
      return drop(entry);
    }
    final long wrId = stash.wrId(entry);
    final WorkQueue queue = endpoint.queue(wrId);
    final boolean success = stash.status(entry) == WcStatus.SUCCESS;
    final ConnectionGate gate = endpoint.gate();
    if (gate.mustBeEstablished(queue) && (success || !gate.heldBack().isEmpty())) {
      return establish(endpoint, entry, to);
    }
    final int slot = queue.locate(wrId);
    if (slot < 0) {
      return drop(entry);
    }
    if (queue.isMarker(slot)) {
      stash.release(entry);
      queue.complete(slot);
      endpoint.connection().onMarker(queue, success);
      return handOutEnd(endpoint, to);
    }
    if (!success && !queue.isFlushing()) {
      if (stash.status(entry) == WcStatus.WR_FLUSH_ERR) {
        endpoint.connection().onFlushed();
      } else {
        endpoint.connection().onBroken();
      }
      queue.onError();
      if (handOutEnd(endpoint, to)) {
        stash.prepend(stash.ready, entry);
        return true;
      }
    }
    if (success && queue.isSuppressed(slot)) {
      queue.tellWindow(slot, true);
      queue.countSuppressed();
      queue.complete(slot);
      stash.release(entry);
      return false;
    }
    if (queue.isSwept()) {
      sweep(endpoint, queue, slot, entry);
      return false;
    }
    fill(endpoint, queue, slot, entry, to);
    return true;
  }

  private void fill(
      final Incarnation endpoint,
      final WorkQueue queue,
      final int slot,
      final int entry,
      final Handout to) {
    final DtoOperation operation = queue.operation(slot);
    final WcStatus status = stash.status(entry);
    final RequestView view =
        operation == DtoOperation.BIND_MW
            ? bind(queue, slot, status, to)
            : completion(endpoint, queue, operation, slot, entry, to);
    view.setRequest(
        endpoint,
        queue.cookie(slot),
        queue.context(slot),
        dtoStatus(status),
        status == WcStatus.SUCCESS ? 0 : stash.vendorError(entry));
    queue.complete(slot);
    stash.release(entry);
    to.set(view, evd, endpoint.endpoint());
  }

  private RequestView completion(
      final Incarnation endpoint,
      final WorkQueue queue,
      final DtoOperation posted,
      final int slot,
      final int entry,
      final Handout to) {
    final boolean success = stash.status(entry) == WcStatus.SUCCESS;
    final boolean isReceived = success && posted == DtoOperation.RECEIVE;
    final CompletionView view = to.completion();
    view.set(
        isReceived ? received(entry) : posted,
        isReceived && stash.hasImmediate(entry) ? stash.immediate(entry) : 0,
        success ? transferred(queue, slot, posted, entry) : 0);
    if (endsWindow(posted, entry)) {
      endWindow(endpoint, entry);
      view.setInvalidated(stash.invalidatedRkey(entry));
    }
    return view;
  }

  private static RequestView bind(
      final WorkQueue queue, final int slot, final WcStatus status, final Handout to) {
    final RmrBindView view = to.bind();
    view.set(queue.rmr(slot));
    queue.tellWindow(slot, status == WcStatus.SUCCESS);
    return view;
  }

  /** Whether the message of a completion ended a window. */
  private boolean endsWindow(final DtoOperation operation, final int entry) {
    return operation == DtoOperation.RECEIVE
        && stash.status(entry) == WcStatus.SUCCESS
        && stash.hasInvalidated(entry);
  }

  private void endWindow(final Incarnation endpoint, final int entry) {
    final RmrImpl ended = endpoint.bound().take(stash.invalidatedRkey(entry));
    if (ended != null) {
      ended.onInvalidated();
    }
  }

  /** What took a receive that succeeded. */
  private DtoOperation received(final int entry) {
    if (!stash.hasImmediate(entry)) {
      return DtoOperation.RECEIVE;
    }
    return stash.opcode(entry) == WcOpcode.RECV_RDMA_WITH_IMM
        ? DtoOperation.RECEIVE_IMMED
        : DtoOperation.RECEIVE_MESSAGE_IMMED;
  }

  private long transferred(
      final WorkQueue queue, final int slot, final DtoOperation operation, final int entry) {
    return operation == DtoOperation.RECEIVE
        ? Integer.toUnsignedLong(stash.byteLength(entry))
        : queue.length(slot);
  }

  private boolean drop(final int entry) {
    final long wrId = stash.wrId(entry);
    final SrqImpl srq = endpoints.findSrq(wrId);
    if (srq != null) {
      srq.giveBack(wrId);
    }
    stash.release(entry);
    evd.counters().increment(Counters.DROPPED);
    return false;
  }

  /** A successful completion came before ESTABLISHED was handed out. */
  private boolean establish(final Incarnation endpoint, final int entry, final Handout to) {
    final ConnectionEventImpl event = endpoint.gate().establishEarly();
    if (event == null) {
      stash.append(endpoint.gate().heldBack(), entry);
      return false;
    }
    stash.prepend(stash.ready, entry);
    stash.prependAll(endpoint.gate().heldBack()); // those came before it
    to.set(event, evd, endpoint.endpoint());
    return true;
  }

  /** Hands out the event that ends the connection, if it waits and the gate is open now. */
  private boolean handOutEnd(final Incarnation endpoint, final Handout to) {
    final ConnectionEventImpl event = endpoint.gate().release(evd);
    if (event == null) {
      return false;
    }
    to.set(endpoint.connection().revised(event), evd, endpoint.endpoint());
    return true;
  }

  // Teardown.

  /** Lets completions that wait for ESTABLISHED go on. */
  void unhold(final ConnectionGate gate) {
    stash.prependAll(gate.heldBack());
  }

  /**
   * Passes over a completion queue once: what it holds now is in the stash afterwards.
   *
   * @return false if it cannot be polled now.
   */
  boolean passOver(final CqFeed feed) {
    look();
    feed.resumeAtOnce();
    int left = feed.cq().capacity();
    while (left > 0 && feed.hasMore()) {
      prepare();
      if (feed.poll(batch, true)) {
        stash.add(batch);
        left -= batch.size();
      }
    }
    news |= look();
    return left <= 0 || !feed.isPaused();
  }

  /** Lets a marker pass by that is in no completion queue. */
  void addMarker(final long wrId, final int qpNumber) {
    stash.appendFlush(wrId, qpNumber);
    evd.signalLane(); // no notification did
  }

  /**
   * Puts the completions of an endpoint, those in the completion queues included, into its report.
   */
  void sweep(final Incarnation endpoint) {
    look();
    collect();
    news |= look(endpoint);
    if (endpoint.connection().isOf(evd)) {
      unhold(endpoint.gate());
    }
    final Stash.Fifo others = new Stash.Fifo();
    int entry;
    while ((entry = stash.pop()) != Stash.NONE) {
      if (ownerOf(entry) == endpoint) {
        sweep(endpoint, endpoint.queue(stash.wrId(entry)), entry);
      } else {
        stash.append(others, entry);
      }
    }
    stash.prependAll(others);
  }

  private void sweep(final Incarnation endpoint, final WorkQueue queue, final int entry) {
    final int slot = queue.locate(stash.wrId(entry));
    if (slot < 0) {
      drop(entry);
    } else {
      sweep(endpoint, queue, slot, entry);
    }
  }

  private void sweep(
      final Incarnation endpoint, final WorkQueue queue, final int slot, final int entry) {
    final boolean success = stash.status(entry) == WcStatus.SUCCESS;
    if (!queue.isMarker(slot)) {
      queue.tellWindow(slot, success);
      if (endsWindow(queue.operation(slot), entry)) {
        endWindow(endpoint, entry);
      }
    }
    if (queue.isMarker(slot)) {
      queue.markFlushing();
    } else if (success && queue.isSuppressed(slot)) {
      queue.countSuppressed();
    } else {
      queue.sweep(slot, success ? DrainReport.Status.SUCCESS : DrainReport.Status.FLUSHED);
    }
    queue.complete(slot);
    stash.release(entry);
  }

  static DtoStatus dtoStatus(final WcStatus status) {
    return switch (status) {
      case SUCCESS -> DtoStatus.SUCCESS;
      case WR_FLUSH_ERR -> DtoStatus.ERR_FLUSHED;
      case LOC_LEN_ERR -> DtoStatus.ERR_LOCAL_LENGTH;
      case LOC_QP_OP_ERR -> DtoStatus.ERR_LOCAL_EP;
      case LOC_PROT_ERR, LOC_ACCESS_ERR, LOC_RDD_VIOL_ERR -> DtoStatus.ERR_LOCAL_PROTECTION;
      case BAD_RESP_ERR -> DtoStatus.ERR_BAD_RESPONSE;
      case REM_ACCESS_ERR -> DtoStatus.ERR_REMOTE_ACCESS;
      case REM_INV_REQ_ERR, REM_OP_ERR, REM_INV_RD_REQ_ERR, REM_ABORT_ERR ->
          DtoStatus.ERR_REMOTE_RESPONDER;
      case RNR_RETRY_EXC_ERR, RESP_TIMEOUT_ERR -> DtoStatus.ERR_RECEIVER_NOT_READY;
      case MW_BIND_ERR -> DtoStatus.RMR_OPERATION_FAILED;
      case LOC_EEC_OP_ERR, RETRY_EXC_ERR, INV_EECN_ERR, INV_EEC_STATE_ERR, FATAL_ERR, GENERAL_ERR ->
          DtoStatus.ERR_TRANSPORT;
    };
  }
}
