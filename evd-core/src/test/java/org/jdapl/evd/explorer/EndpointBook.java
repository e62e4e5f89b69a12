package org.jdapl.evd.explorer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Event;
import org.jdapl.dat.RmrBindCompletion;

/** What is known of an endpoint, and must be so: each request has one fate, in order. */
final class EndpointBook {

  /** What became of a request. */
  private enum Fate {
    OPEN,
    DELIVERED,
    REPORTED
  }

  /**
   * A request that was accepted.
   *
   * @param lmr its memory here; null for none.
   * @param flags of {@link CompletionFlags}.
   * @param use how it reaches its peer's memory; null if by a region, or not at all.
   * @param bind what it binds; null unless it does.
   * @param cell what it changes, as an atomic; null unless it does.
   */
  record Post(
      DtoOperation operation,
      Object lmr,
      long cookie,
      int length,
      int flags,
      RmrBook.Use use,
      RmrBook.Bind bind,
      Cell cell) {}

  private static final class Request {
    private final Post post;
    private final int index;
    private final long wrId;
    private Fate fate = Fate.OPEN;

    private Request(final Post post, final int index, final long wrId) {
      this.post = post;
      this.index = index;
      this.wrId = wrId;
    }

    private boolean isSuppressed() {
      return (post.flags & CompletionFlags.SUPPRESS) != 0;
    }

    private boolean isUnsignalled() {
      return (post.flags & CompletionFlags.UNSIGNALLED) != 0;
    }
  }

  /** A work queue. */
  private final class Work {
    private final Queue queue;
    private final EvdBook evd;
    private final int most;
    private final Map<Long, Request> requests = new HashMap<>();
    private final List<Request> order = new ArrayList<>();
    private int next;
    private boolean reporting;

    private Work(final Queue queue, final EvdBook evd, final int most) {
      this.queue = queue;
      this.evd = evd;
      this.most = most;
    }

    /** Those that are open for sure, and those that may be: suppressed ones may be done. */
    private int open(final boolean maybe) {
      int open = 0;
      for (final Request request : order.subList(next, order.size())) {
        open += request.fate == Fate.OPEN && (maybe || !request.isSuppressed()) ? 1 : 0;
      }
      return open;
    }

    /** Those of which somebody is told. */
    private int toTell() {
      int open = 0;
      for (final Request request : order.subList(next, order.size())) {
        final boolean tells = !request.isSuppressed() && !request.isUnsignalled();
        open += request.fate == Fate.OPEN && tells ? 1 : 0;
      }
      return open;
    }

    private void settle(final long cookie, final Fate fate, final String how) {
      final Request request = requests.get(cookie);
      if (request == null) {
        run.fail("O1", how + ": nobody posted it to " + queue);
      } else if (request.fate != Fate.OPEN) {
        run.fail("O2", how + ": it was " + request.fate + " before");
      } else if (run.losesCompletions()) {
        request.fate = fate;
      } else if (request.index < next) {
        run.fail("O4", how + ": later ones of its queue were accounted for before");
      } else {
        for (final Request skipped : order.subList(next, request.index)) {
          if (!skipped.isSuppressed()) {
            run.fail("O4", how + ": an earlier " + skipped.post.operation + " has no outcome yet");
          }
          if (skipped.post.bind != null) {
            skipped.post.bind.done();
          }
        }
        request.fate = fate;
        next = request.index + 1;
      }
    }
  }

  final Endpoint endpoint;
  final AdapterBook adapter;
  final EvdBook connectEvd;

  /** Where its receives are posted; null if it has its own. */
  final SrqBook srq;

  private final ScriptRun run;
  private final AuditedProvider.Pair pair;
  private final Work receives;
  private final Work requests;

  /** It left UNCONNECTED. */
  private boolean asked;

  private boolean established;
  private ConnectionEvent.Kind end;

  /** Who sent what it received; null before the first message. */
  private EndpointBook peer;

  /** Whom it is connected to, if it is to anybody. */
  private EndpointBook partner;

  private long lastMessage;

  /** The place of the shared receive that was delivered last. */
  private long lastShared = -1;

  private boolean closing;
  private boolean closed;
  private long deadline;

  EndpointBook(
      final ScriptRun run,
      final AdapterBook adapter,
      final Endpoint endpoint,
      final EvdBook receiveEvd,
      final EvdBook requestEvd,
      final EvdBook connectEvd,
      final SrqBook srq,
      final int maxReceives,
      final int maxRequests) {
    this.run = run;
    this.adapter = adapter;
    this.endpoint = endpoint;
    this.connectEvd = connectEvd;
    this.srq = srq;
    pair = adapter.device.lastPair();
    receives = new Work(Queue.RECEIVE, receiveEvd, maxReceives);
    requests = new Work(Queue.REQUEST, requestEvd, maxRequests);
  }

  boolean isClosing() {
    return closing;
  }

  boolean isClosed() {
    return closed;
  }

  /** Whether it uses an EVD. */
  boolean uses(final EvdBook evd) {
    return receives.evd == evd || requests.evd == evd || connectEvd == evd;
  }

  private Work work(final DtoOperation operation) {
    return operation.isReceive() ? receives : requests;
  }

  // What the consumer did.

  void asked() {
    asked = true;
  }

  /** One of the two accepted the other. */
  static void connect(final EndpointBook asker, final EndpointBook other) {
    asker.partner = other;
    other.partner = asker;
  }

  EndpointBook partner() {
    return pair.isMistaken() ? null : partner;
  }

  /** Whether an outcome of a request may be known to its queue. */
  boolean mayHaveSettled(final long cookie) {
    final Request request = requests.requests.get(cookie);
    return closing || request == null || request.isSuppressed() || request.fate != Fate.OPEN;
  }

  void posted(final Post post) {
    final DtoOperation operation = post.operation;
    final Work work = work(operation);
    if (closing) {
      run.fail("T03", endpoint + ": a " + operation + " was accepted after its close");
    }
    if (work.open(false) >= work.most && !run.losesCompletions()) {
      run.fail("E05", endpoint + ": more than " + work.most + " requests of " + work.queue);
    }
    final Request request =
        new Request(post, work.order.size(), pair.lastPosted(operation.isReceive()));
    work.requests.put(post.cookie, request);
    work.order.add(request);
  }

  /** A post was refused because the queue is full. */
  void refused(final DtoOperation operation) {
    final Work work = work(operation);
    if (work.open(true) < work.most) {
      run.fail(
          "E05",
          endpoint
              + ": a "
              + operation
              + " was refused, though only "
              + work.open(true)
              + " of "
              + work.most
              + " are open");
    }
  }

  /**
   * Whether an open request uses a region, for sure: a close may know an outcome before it tells.
   */
  boolean uses(final Object lmr) {
    return !closing && (uses(receives, lmr) || uses(requests, lmr));
  }

  private static boolean uses(final Work work, final Object lmr) {
    return work.order.subList(work.next, work.order.size()).stream()
        .anyMatch(r -> r.fate == Fate.OPEN && !r.isSuppressed() && r.post.lmr == lmr);
  }

  void closes(final long until) {
    deadline = closing ? Math.min(deadline, until) : until;
    closing = true;
  }

  // What it is told.

  void onCompletion(final DtoCompletion event, final EvdBook evd) {
    final Work work = work(event.operation());
    final boolean success = event.status() == DtoStatus.SUCCESS;
    final String what = event.operation() + " #" + event.cookie() + " of " + endpoint;
    checkDelivered(work, success, what, evd);
    if (success && work == receives) {
      checkReceived(event, what);
    }
    if (work == receives && srq != null) {
      onShared(event.cookie(), success, what + " (" + event.status() + ") was delivered");
      return;
    }
    final Request request = settle(work, event.operation(), event.cookie(), event.status(), what);
    if (request == null || work == receives) {
      return;
    }
    if (success) {
      checkTransferred(request, event, what);
    }
    if (request.post.use != null && (success || event.status() == DtoStatus.ERR_REMOTE_ACCESS)) {
      request.post.use.ended(this, !success, what);
    }
  }

  void onBind(final RmrBindCompletion event, final EvdBook evd) {
    final boolean success = event.status() == DtoStatus.SUCCESS;
    final String what = "bind #" + event.cookie() + " of " + endpoint;
    checkDelivered(requests, success, what, evd);
    final Request request =
        settle(requests, DtoOperation.BIND_MW, event.cookie(), event.status(), what);
    if (request == null || request.post.bind == null) {
      return;
    }
    if (request.post.bind.rmr().rmr != event.rmr()) {
      run.fail("E03", what + " was one of " + request.post.bind.rmr() + ", not " + event.rmr());
    }
    if (success) {
      request.post.bind.done();
    } else {
      request.post.bind.failed();
    }
  }

  private void checkDelivered(
      final Work work, final boolean success, final String what, final EvdBook evd) {
    checkOpen(what);
    if (work.evd != evd) {
      run.fail("E03", what + " came to " + evd);
    }
    if (evd == connectEvd && success && asked) {
      if (!established && end == null) {
        run.fail("M02", what + " succeeded before ESTABLISHED");
      }
      if (end != null && !run.isExcused(adapter) && evd.evd.statistics().overdueEnds() == 0) {
        run.fail("M03", what + " succeeded after " + end);
      }
    }
  }

  private Request settle(
      final Work work,
      final DtoOperation operation,
      final long cookie,
      final DtoStatus status,
      final String what) {
    final Request request = work.requests.get(cookie);
    work.settle(cookie, Fate.DELIVERED, what + " (" + status + ") was delivered");
    if (request != null && pair.isOpen(request.wrId)) {
      run.fail("M05", what + " was delivered, and the completion was not its own");
    }
    if (request != null && work == requests && request.post.operation != operation) {
      run.fail("T06", what + " was posted as " + request.post.operation);
    }
    if (request != null && request.isSuppressed() && status == DtoStatus.SUCCESS) {
      run.fail("D05", what + " succeeded, and was posted with SUPPRESS");
    }
    if (work.reporting) {
      run.fail("O4", what + " was delivered after the report");
    }
    return request;
  }

  /** A message is one that its peer sent, whole, behind the one before. */
  private void checkReceived(final DtoCompletion event, final String what) {
    if (!Memory.isKnown(event.cookie())) {
      return;
    }
    final boolean immediate = event.operation() == DtoOperation.RECEIVE_IMMED;
    final int receive = Memory.local(event.cookie());
    final long number =
        immediate ? Integer.toUnsignedLong(event.immediateData()) : run.memory.numberAt(receive);
    final int at = immediate ? Memory.target(number) : receive;
    final Memory.Message message = run.memory.message(number);
    if (message == null
        || message.immediate() != immediate
        || message.length() != event.transferredLength()
        || !run.memory.holds(at, number, message.length())
        || (immediate && !run.memory.isBlank(receive))) {
      run.fail("D01", what + " has not the bytes of a message, but says " + number);
      return;
    }
    if (pair.isMistaken()) {
      return;
    }
    checkEnds(message.ends(), event, what);
    run.all.binds.stream()
        .filter(bind -> bind.at == message.by())
        .forEach(bind -> bind.heardOfBy(number));
    if (partner != null && partner != message.by()) {
      run.fail("M05", what + " is a message of " + message.by() + ", not of " + partner);
    }
    if (peer != null && peer != message.by()) {
      run.fail("M05", what + " is a message of " + message.by() + ", its peer is " + peer);
    }
    if (number <= lastMessage) {
      run.fail("E02", what + ": message " + number + " behind " + lastMessage);
    }
    peer = message.by();
    lastMessage = number;
  }

  /** A message that ends a window says so. */
  private void checkEnds(final RmrBook.Bind ends, final DtoCompletion event, final String what) {
    final boolean said = event.operation() == DtoOperation.RECEIVE_WITH_INVALIDATE;
    if (said != (ends != null) || event.rmrContext() != (ends == null ? 0 : ends.context)) {
      run.fail(
          "D01",
          what
              + " says that it ended "
              + Integer.toHexString(event.rmrContext())
              + ", not "
              + ends);
    } else if (ends != null && ends.at != this) {
      run.fail("D02", what + " ended " + ends + ", of " + ends.at);
    } else if (ends != null) {
      ends.invalidated();
    }
  }

  /** What was written is there, what was read is here. */
  private void checkTransferred(
      final Request request, final DtoCompletion event, final String what) {
    final long cookie = event.cookie();
    if (event.transferredLength() != request.post.length) {
      run.fail("D01", what + " says that it moved " + event.transferredLength() + " bytes");
    }
    if (!Memory.isKnown(cookie) || request.post.operation == DtoOperation.SEND) {
      return;
    }
    if (request.post.cell != null) {
      request.post.cell.done(cookie, run.memory.counterAt(Memory.local(cookie)), what);
      return;
    }
    final boolean isRead = request.post.operation == DtoOperation.RDMA_READ;
    final int at = isRead ? Memory.local(cookie) : Memory.target(cookie);
    if (!run.memory.holds(at, cookie, request.post.length)) {
      run.fail("D01", what + " succeeded, and its bytes are not where they should be");
    }
  }

  /** Messages of one connection take shared receives in the order in which they were posted. */
  private void onShared(final long cookie, final boolean success, final String how) {
    final long index = srq.settle(cookie, pair, true, how);
    if (receives.reporting) {
      run.fail("O4", how + " after the report");
    }
    if (success && index >= 0) {
      if (index < lastShared && !run.losesCompletions()) {
        run.fail("O4", how + ": one that was posted later was delivered before");
      }
      lastShared = index;
    }
  }

  void onConnection(final ConnectionEvent event, final EvdBook evd) {
    checkOpen(event.kind() + " of " + endpoint);
    if (evd != connectEvd) {
      run.fail("E03", event.kind() + " of " + endpoint + " came to " + evd);
    }
    connected(event.kind());
  }

  private void connected(final ConnectionEvent.Kind kind) {
    final boolean isMistaken = kind == ConnectionEvent.Kind.ESTABLISHED && pair.isMistaken();
    if (!asked && !isMistaken) {
      run.fail("C02", kind + " of " + endpoint + ", which is not connected to anybody");
    }
    if (end != null) {
      run.fail("M04", kind + " of " + endpoint + " after " + end);
    } else if (kind.isTerminal()) {
      end = kind;
      if (established
          && kind != ConnectionEvent.Kind.DISCONNECTED
          && kind != ConnectionEvent.Kind.BROKEN) {
        run.fail("C02", kind + " of " + endpoint + " after ESTABLISHED");
      }
    } else if (established) {
      run.fail("M04", kind + " of " + endpoint + " twice");
    } else {
      established = true;
    }
  }

  private void checkOpen(final String what) {
    if (closed) {
      run.fail("O3", what + " came after its close was complete");
    }
  }

  /** Its close is complete. */
  void onClosed(final DrainReport report) {
    closed = true;
    final boolean late = run.now() >= deadline;
    final boolean excused = run.isExcused(adapter) || late;
    if (srq != null && (late || !report.complete())) {
      srq.onLateReport();
    }
    if (!report.complete()) {
      if (!excused) {
        run.fail("O12", endpoint + ": its close gave up");
      }
      return;
    }
    for (final DrainReport.Request request : report.requests()) {
      final String what = request + " of " + endpoint;
      final Work work = request.queue() == Queue.RECEIVE ? receives : requests;
      work.reporting = true;
      if (work == receives && srq != null) {
        srq.settle(request.cookie(), pair, false, what + " was reported");
      } else {
        work.settle(request.cookie(), Fate.REPORTED, what + " was reported");
        reported(work.requests.get(request.cookie()), request.status());
      }
      if (request.status() == DrainReport.Status.UNKNOWN && !excused && established) {
        run.fail("T02", what + ", though its close had time");
      }
    }
    final long silent = silent(receives) + silent(requests);
    if (silent != report.suppressed()) {
      run.fail(
          "O1",
          endpoint
              + ": "
              + report.suppressed()
              + " suppressed successes were counted, and "
              + silent
              + " of its requests have no other outcome");
    }
    for (final Event event : report.events()) {
      if (event instanceof ConnectionEvent connection) {
        connected(connection.kind());
      }
    }
    if (asked && end == null) {
      run.fail("M04", endpoint + ": its connection has no end");
    }
    if (pair.leftBehind() > 0 && !excused) {
      run.fail(
          "T01",
          endpoint + ": destroyed with " + pair.leftBehind() + " requests that may complete");
    }
    if (!pair.isDestroyed() && !late) { // at its bound a close reports what is accounted for
      run.fail("T01", endpoint + ": closed, but its queue pair is not destroyed");
    }
  }

  private static void reported(final Request request, final DrainReport.Status status) {
    if (request != null && request.post.bind != null) {
      if (status == DrainReport.Status.SUCCESS) {
        request.post.bind.done();
      } else {
        request.post.bind.failed();
      }
    }
  }

  private long silent(final Work work) {
    long silent = 0;
    for (final Request request : work.order) {
      if (request.fate == Fate.OPEN) {
        silent++;
        if (!request.isSuppressed()) {
          run.fail(
              "O1",
              endpoint
                  + ": "
                  + request.post.operation
                  + " number "
                  + request.index
                  + " has no outcome");
        } else if (request.post.bind != null) {
          request.post.bind.done();
        }
      }
    }
    return silent;
  }

  /** Whether a success of a request tells nobody of itself. */
  boolean isUnsignalled(final long cookie) {
    final Request request = requests.requests.get(cookie);
    return request != null && request.isUnsignalled();
  }

  /** Nothing more happens: what must be over is. */
  void onRest() {
    if (end != null && receives.evd.takesAll() && requests.evd.takesAll() && !closing) {
      final int left = receives.toTell() + requests.toTell();
      if (left > 0 && !run.losesCompletions()) {
        run.fail("O6", endpoint + ": over, and " + left + " of its requests have no outcome");
      }
    }
    if (closing && !closed) {
      run.fail("O12", endpoint + ": its close does not end");
    }
  }

  @Override
  public String toString() {
    return endpoint.toString();
  }
}
