package org.jdapl.verbs.tck;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;

/** One end of a connection: a queue pair, its completion queues, and what its id was told. */
final class Link {

  static final String NO_ESTABLISHED =
      "a passive side whose ESTABLISHED waits for a message that the active side never sends.";

  /** An event, with a copy of its data. */
  record Event(CmEventType type, int status, List<Byte> data) {
    @Override
    public String toString() {
      return type + " status " + status + (data.isEmpty() ? "" : " with " + data.size() + " bytes");
    }
  }

  final Side side;
  final Cq sends;
  final Cq receives;
  final QueuePair qp;
  final List<Event> events = new CopyOnWriteArrayList<>();
  final List<CmRequest> requests = new CopyOnWriteArrayList<>();

  /** The threads that its handlers were called on. */
  final Set<Thread> threads = ConcurrentHashMap.newKeySet();

  /** The ids that its handler was given. */
  final Set<CmId> ids = ConcurrentHashMap.newKeySet();

  final AtomicInteger deepest = new AtomicInteger();

  /** What a handler does at its end. */
  volatile Runnable whenTold = () -> {};

  CmListener listener;
  CmId id;
  private volatile boolean gaveNull;
  private final VerbsTck tck;
  private final AtomicInteger depth = new AtomicInteger();

  Link(final VerbsTck tck, final Side side) {
    this.tck = tck;
    this.side = side;
    sends = side.cq();
    receives = side.cq();
    qp = side.qp(sends, receives, null, Side.WR);
  }

  /** With requests of many elements. */
  Link(final VerbsTck tck, final Side side, final int sendSge) {
    this.tck = tck;
    this.side = side;
    sends = side.cq();
    receives = sends;
    qp =
        side.own(
            side.device.createQp(
                new QpAttributes(side.pd, sends.queue, sends.queue, null, 1, 1, sendSge, 1, 0)));
  }

  Link(final VerbsTck tck, final Side side, final Cq receives, final QueuePair qp) {
    this.tck = tck;
    this.side = side;
    this.receives = receives;
    sends = receives;
    this.qp = qp;
  }

  static List<Byte> bytes(final ByteBuffer data) {
    final Byte[] copy = new Byte[data.remaining()];
    final ByteBuffer from = data.duplicate();
    for (int i = 0; i < copy.length; i++) {
      copy[i] = from.get();
    }
    return List.of(copy);
  }

  /** Private data that differs in each byte. */
  static ByteBuffer data(final int length) {
    final ByteBuffer data = ByteBuffer.allocate(length);
    for (int i = 0; i < length; i++) {
      data.put((byte) (i + 1));
    }
    return data.flip();
  }

  CmParameters parameters(final ByteBuffer data) {
    return parameters(data, 7);
  }

  CmParameters parameters(final ByteBuffer data, final int rnrRetries) {
    final int reads = Math.min(4, side.device.limits().maxReadsIn());
    final int readsOut = Math.min(4, side.device.limits().maxReadsOut());
    return new CmParameters(data, reads, readsOut, 7, rnrRetries);
  }

  CmHandler handler() {
    return (of, type, status, data) -> {
      deepest.accumulateAndGet(depth.incrementAndGet(), Math::max);
      threads.add(Thread.currentThread());
      ids.add(of);
      if (data == null) {
        gaveNull = true;
      }
      events.add(new Event(type, status, data == null ? List.of() : bytes(data)));
      whenTold.run();
      depth.decrementAndGet();
    };
  }

  Link listen(final int backlog) {
    tck.did("listen");
    listener =
        side.own(
            side.device.listen(
                0,
                backlog,
                request -> {
                  threads.add(Thread.currentThread());
                  requests.add(request);
                }));
    return this;
  }

  /** Asks a listener for a connection. */
  void connect(final Link to, final CmParameters parameters) {
    tck.did("connect with " + parameters.privateData().remaining() + " bytes");
    id =
        side.own(
            side.device.connect(
                qp, to.side.device.address(), to.listener.service(), parameters, handler()));
  }

  /** Waits for the request of a peer. */
  CmRequest request(final int number) {
    tck.await(
        () -> requests.size() >= number,
        "connection request " + number,
        () -> requests,
        "a listener that is not told, or a request to another address.");
    return requests.get(number - 1);
  }

  void accept(final CmRequest request, final CmParameters parameters) {
    tck.did("accept with " + parameters.privateData().remaining() + " bytes");
    id = side.own(request.accept(qp, parameters, handler()));
  }

  Event awaitEvent(final int number, final String expected, final String often) {
    tck.await(() -> events.size() >= number, expected, () -> events, often);
    tck.check(
        !gaveNull,
        "private data that is empty where there is none",
        "null",
        "an event of the library's that has a null there, which was passed on.");
    return events.get(number - 1);
  }

  void awaitEstablished() {
    final Event event = awaitEvent(1, "ESTABLISHED", NO_ESTABLISHED);
    tck.same(CmEventType.ESTABLISHED, event.type(), "the event", "a connection that failed.");
  }

  /** Connects to the other end. */
  void connectTo(final Link to, final int rnrRetries) {
    to.listen(1);
    connect(to, parameters(ByteBuffer.allocate(0), rnrRetries));
    to.accept(to.request(1), to.parameters(ByteBuffer.allocate(0), rnrRetries));
    awaitEstablished();
    to.awaitEstablished();
  }
}
