package org.jdapl.verbs.tck;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.PrivateDataLength;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/**
 * Connections: each attempt has one outcome, data that is sent along arrives, and ends are told.
 */
public abstract class ConnectionTck extends VerbsTck {

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
  private static final Set<CmEventType> FAILURES =
      Set.of(
          CmEventType.REJECTED,
          CmEventType.UNREACHABLE,
          CmEventType.CONNECT_ERROR,
          CmEventType.ADDR_ERROR,
          CmEventType.ROUTE_ERROR);
  private static final String CUT =
      "private data that is kept as a view of a message that is freed, or whose length is counted"
          + " with a header of the provider's own.";
  private static final String LATE_CHECK =
      "a length that the peer's side checks, when the request was sent.";
  private static final String NO_BARRIER =
      "an event that was on its way: drop what is pending, under the lock that starts calls.";

  private Link active;
  private Link passive;

  /** Tests of connections. */
  protected ConnectionTck() {}

  private void open() {
    active = new Link(this, first());
    passive = new Link(this, second());
  }

  private void openAndConnect() {
    open();
    active.connectTo(passive, 7);
  }

  private Link another() {
    return new Link(this, active.side);
  }

  private void checkData(
      final Side from, final List<Byte> sent, final List<Byte> seen, final String what) {
    final boolean prefix = seen.size() >= sent.size() && seen.subList(0, sent.size()).equals(sent);
    check(prefix, what + ": the " + sent.size() + " bytes that were sent, first", seen, CUT);
    final List<Byte> rest = seen.subList(sent.size(), seen.size());
    switch (declaration(from).privateData()) {
      case EXACT ->
          check(
              rest.isEmpty(),
              what + ": nothing after the " + sent.size() + " bytes, it declares EXACT",
              seen,
              "messages of a fixed size, as InfiniBand has: declare PADDED.");
      case PADDED ->
          check(
              rest.stream().allMatch(b -> b == 0),
              what + ": zeros after the " + sent.size() + " bytes, it declares PADDED",
              seen,
              "a buffer that is used again and not cleared: declare UNKNOWN, or clear it.");
      case UNKNOWN -> {}
    }
  }

  @Test
  void required_C02_aConnectionIsEstablishedOnBothSidesOnce() {
    openAndConnect();
    silence();
    same(
        1,
        active.events.size(),
        "events of the active side: " + active.events,
        "one for each of" + " the messages.");
    same(
        1,
        passive.events.size(),
        "events of the passive side: " + passive.events,
        "one from the" + " accept, and one from the message.");
    for (final Link link : List.of(active, passive)) {
      same(
          Set.of(link.id),
          link.ids,
          "the id that the handler is given, which is the one that the call returned",
          "an id that is wrapped for each event.");
    }
    check(
        passive.requests.get(0).remoteAddress() != null,
        "the address of who asked",
        null,
        "an address that is not asked for.");
  }

  @Test
  void required_C03_privateDataOfEachLengthArrives() {
    open();
    passive.listen(4);
    final int connectLimit = active.side.device.limits().connectPrivateData();
    final int acceptLimit = passive.side.device.limits().acceptPrivateData();
    int number = 0;
    for (final int length : new TreeSet<>(List.of(0, 1, connectLimit))) {
      number++;
      final Link from = new Link(this, active.side);
      final Link to = new Link(this, passive.side);
      final ByteBuffer asked = Link.data(length);
      from.connect(passive, from.parameters(asked));
      final CmRequest request = passive.request(number);
      check(
          request.privateData().isReadOnly(),
          "a read-only view of the request's data",
          request.privateData(),
          "the buffer that the message was read into.");
      checkData(
          passive.side,
          Link.bytes(asked),
          Link.bytes(request.privateData()),
          "data of the request");
      final ByteBuffer answer = Link.data(length == connectLimit ? acceptLimit : length);
      to.accept(request, to.parameters(answer));
      from.awaitEstablished();
      checkData(active.side, Link.bytes(answer), from.events.get(0).data(), "data of ESTABLISHED");
      to.awaitEstablished();
    }
  }

  @Test
  void required_C03_privateDataOfARejectArrives() {
    open();
    passive.listen(4);
    int number = 0;
    for (final int length :
        new TreeSet<>(List.of(0, 1, passive.side.device.limits().rejectPrivateData()))) {
      final Link from = another();
      final ByteBuffer answer = Link.data(length);
      from.connect(passive, from.parameters(NOTHING));
      did("reject with " + length + " bytes");
      passive.request(++number).reject(CmHandler.CONSUMER_REJECT, answer);
      final Link.Event event =
          from.awaitEvent(1, "REJECTED", "a reject that is not sent, or is lost.");
      same(CmEventType.REJECTED, event.type(), "the outcome", "a reject that is told as an error.");
      same(
          CmHandler.CONSUMER_REJECT,
          event.status(),
          "the status of a consumer's reject",
          "the reason of the library's own rejects.");
      checkData(active.side, Link.bytes(answer), event.data(), "data of REJECTED");
    }
  }

  @Test
  void required_C03_privateDataThatIsTooLongIsRefusedBeforeAnythingIsSent() {
    open();
    passive.listen(4);
    final int limit = active.side.device.limits().connectPrivateData();
    refused(
        "connect with " + (limit + 1) + " bytes, the limit is " + limit,
        () -> active.connect(passive, active.parameters(Link.data(limit + 1))),
        LATE_CHECK,
        VerbsException.EINVAL);
    silence();
    same(List.of(), passive.requests, "requests that arrived", LATE_CHECK);
    did("connect, with less");
    active.connect(passive, active.parameters(NOTHING));
    final CmRequest request = passive.request(1);
    final int most = passive.side.device.limits().acceptPrivateData();
    refused(
        "accept with " + (most + 1) + " bytes, the limit is " + most,
        () -> passive.accept(request, passive.parameters(Link.data(most + 1))),
        LATE_CHECK,
        VerbsException.EINVAL);
    final int least = passive.side.device.limits().rejectPrivateData();
    refused(
        "reject with " + (least + 1) + " bytes, the limit is " + least,
        () -> request.reject(CmHandler.CONSUMER_REJECT, Link.data(least + 1)),
        LATE_CHECK,
        VerbsException.EINVAL);
    passive.accept(request, passive.parameters(NOTHING));
    active.awaitEstablished();
    passive.awaitEstablished();
  }

  @Test
  void required_C03_theCallCopiesPrivateData() {
    open();
    passive.listen(4);
    final ByteBuffer data = Link.data(8);
    final List<Byte> sent = Link.bytes(data);
    active.connect(passive, active.parameters(data));
    data.put(0, (byte) 99);
    check(
        data.position() == 0,
        "the position of the data to stay",
        data,
        "a relative get on the caller's buffer.");
    final CmRequest request = passive.request(1);
    checkData(
        passive.side,
        sent,
        Link.bytes(request.privateData()),
        "data of the request, changed after the call");
    final ByteBuffer answer = Link.data(8);
    passive.accept(request, passive.parameters(answer));
    answer.put(0, (byte) 99);
    active.awaitEstablished();
    checkData(
        active.side, sent, active.events.get(0).data(), "data of the accept, changed after it");
    final Link from = another();
    from.connect(passive, from.parameters(NOTHING));
    final ByteBuffer no = Link.data(8);
    did("reject with 8 bytes");
    passive.request(2).reject(CmHandler.CONSUMER_REJECT, no);
    no.put(0, (byte) 99);
    final Link.Event event = from.awaitEvent(1, "REJECTED", "a reject that is lost.");
    checkData(active.side, sent, event.data(), "data of the reject, changed after it");
  }

  @Test
  void required_C06_readsAreNegotiatedDownToWhatBothSidesHave() {
    open();
    final int in = active.side.device.limits().maxReadsIn();
    final int out = active.side.device.limits().maxReadsOut();
    needs(in > 2 && out > 2, "it has up to " + in + " and " + out + " reads");
    passive.listen(1);
    active.connect(passive, reads(in, out + 100));
    passive.accept(passive.request(1), reads(2, 1));
    active.awaitEstablished();
    passive.awaitEstablished();
    needs(
        active.id.readsIn() != CmId.NOT_TOLD || passive.id.readsIn() != CmId.NOT_TOLD,
        "it does not negotiate reads");
    final String often = "a side that tells what it asked for, or the peer's numbers as its own.";
    same(2, passive.id.readsIn(), "reads in of the passive side, which asked for 2", often);
    same(1, passive.id.readsOut(), "reads out of the passive side, which asked for 1", often);
    same(1, active.id.readsIn(), "reads in of the active side: those out of the peer", often);
    same(2, active.id.readsOut(), "reads out of the active side: those in of the peer", often);
  }

  /** The peer refuses it, or the device keeps it until the end. */
  @Test
  void required_C06_noReadSucceedsWhereNoneWereNegotiated() {
    open();
    passive.listen(1);
    active.connect(passive, reads(0, 0));
    passive.accept(passive.request(1), reads(0, 0));
    active.awaitEstablished();
    passive.awaitEstablished();
    needs(active.id.readsOut() != CmId.NOT_TOLD, "it does not negotiate reads");
    active.side.buffer.putLong(0, 5);
    passive.side.buffer.putLong(0, 7);
    final SendRequest read = active.side.send(WrOpcode.RDMA_READ, 1, 0, 8);
    read.remoteAddress = passive.side.mr.address();
    read.rkey = passive.side.mr.rkey();

    active.side.postSend(active.qp, read);
    silence();
    active.qp.modifyToError();

    final String often = "depths that are told, and not given to the queue pair.";
    active.sends.awaitPolled(1, often);
    final Completion seen = active.sends.polled.get(0);
    check(!seen.isSuccess(), "a read where none were negotiated to fail", seen, often);
    same(5L, active.side.buffer.getLong(0), "the memory to read into", often);
  }

  private static CmParameters reads(final int in, final int out) {
    return new CmParameters(ByteBuffer.allocate(0), in, out, 7, 7);
  }

  @Test
  void required_C02_whereNobodyListensAConnectFails() {
    open();
    passive.listen(1);
    final long service = passive.listener.service();
    passive.side.close(passive.listener, "the listener");
    did("connect to it");
    active.id =
        active.side.own(
            active.side.device.connect(
                active.qp,
                passive.side.device.address(),
                service,
                active.parameters(NOTHING),
                active.handler()));
    checkFailure("a request that nobody answers, and no time-out.");
  }

  private void checkFailure(final String often) {
    final Link.Event event = active.awaitEvent(1, "the outcome of the connect", often);
    check(
        FAILURES.contains(event.type()) && event.status() != CmHandler.CONSUMER_REJECT,
        "one of " + FAILURES + ", and not with a consumer's status",
        event,
        "a library's reject that is told as the consumer's.");
    silence();
    same(1, active.events.size(), "outcomes: " + active.events, "a time-out that is not ended.");
  }

  @Test
  void required_C02_aRequestThatIsDroppedEndsTheConnect() {
    open();
    passive.listen(1);
    active.connect(passive, active.parameters(NOTHING));
    passive.request(1).reject(3, NOTHING);
    checkFailure("a reject that is not sent without a consumer.");
  }

  @Test
  void required_C01_aRequestIsAnsweredOnce() {
    open();
    passive.listen(2);
    active.connect(passive, active.parameters(NOTHING));
    final CmRequest request = passive.request(1);
    passive.accept(request, passive.parameters(NOTHING));
    final Link more = new Link(this, passive.side);
    final String often = "a request whose answer is not remembered.";
    refused(
        "accept it again",
        () -> more.accept(request, more.parameters(NOTHING)),
        often,
        VerbsException.EINVAL);
    active.awaitEstablished();
    passive.awaitEstablished();
    silence();
    same(1, active.events.size(), "events of the active side: " + active.events, often);
  }

  @Test
  void required_C01_aRejectAfterTheAnswerChangesNothing() {
    open();
    passive.listen(2);
    active.connect(passive, active.parameters(NOTHING));
    final CmRequest request = passive.request(1);
    passive.accept(request, passive.parameters(NOTHING));
    did("reject what was accepted");
    try {
      request.reject(CmHandler.CONSUMER_REJECT, NOTHING);
    } catch (final VerbsException e) {
      same(VerbsException.EINVAL, e.errno(), "the errno, if it is refused", "another errno.");
    }
    active.awaitEstablished();
    passive.awaitEstablished();
    silence();
    final String often = "a request and a connection that are one object.";
    same(1, active.events.size(), "events of the active side: " + active.events, often);
    same(1, passive.events.size(), "events of the passive side: " + passive.events, often);
  }

  @Test
  void required_R02_aClosedQueuePairIsNotConnected() {
    open();
    passive.listen(1);
    final Link gone = another();
    active.side.close(gone.qp, "a queue pair");
    final String often = "a queue pair that is looked at when the peer has answered.";
    refused(
        "connect the closed queue pair",
        () -> gone.connect(passive, gone.parameters(NOTHING)),
        often,
        VerbsException.EINVAL);
    active.connect(passive, active.parameters(NOTHING));
    final CmRequest request = passive.request(1);
    final Link left = new Link(this, passive.side);
    passive.side.close(left.qp, "a queue pair");
    refused(
        "accept with the closed queue pair",
        () -> left.accept(request, left.parameters(NOTHING)),
        often,
        VerbsException.EINVAL);
    did("accept with another one: the request waits still");
    try {
      passive.accept(request, passive.parameters(NOTHING));
    } catch (final VerbsException e) {
      fail("a request to wait still when an accept was refused", e, "it counts as answered.");
    }
    active.awaitEstablished();
    passive.awaitEstablished();
  }

  @Test
  void required_R02_aClosedDeviceNeitherListensNorConnects() {
    open();
    passive.listen(1);
    final Link to = passive;
    active.side.close();
    final String often = "a look at the objects first, which are closed too.";
    refused(
        "listen on the closed device",
        () -> active.side.device.listen(0, 1, active.requests::add),
        often,
        VerbsException.ENODEV);
    refused(
        "connect on the closed device",
        () ->
            active.side.device.connect(
                active.qp,
                to.side.device.address(),
                to.listener.service(),
                new CmParameters(NOTHING, 1, 1, 7, 7),
                active.handler()),
        often,
        VerbsException.ENODEV);
    silence();
    same(List.of(), passive.requests, "requests that arrived", often);
  }

  @Test
  void required_C01_aServiceIsAPort() {
    open();
    final String often = "a number that is cut to 16 bits: two services would be one.";
    for (final long service : List.of(-1L, Device.MAX_SERVICE + 1, (1L << 32) + 4791)) {
      refused(
          "listen at " + service + ", services are ports",
          () -> passive.side.own(passive.side.device.listen(service, 1, passive.requests::add)),
          often,
          VerbsException.EINVAL);
      refused(
          "connect to " + service,
          () ->
              active.side.own(
                  active.side.device.connect(
                      active.qp,
                      passive.side.device.address(),
                      service,
                      active.parameters(NOTHING),
                      active.handler())),
          often,
          VerbsException.EINVAL);
    }
    silence();
    same(List.of(), active.events, "events of what was refused", often);
  }

  @Test
  void required_M04_aDisconnectIsToldToBothSidesOnce() {
    openAndConnect();
    did("disconnect on the active side");
    active.id.disconnect();
    final String often = "a disconnect whose answer is not sent where the other side is over.";
    same(
        CmEventType.DISCONNECTED,
        active.awaitEvent(2, "DISCONNECTED at the active side", often).type(),
        "the event",
        often);
    same(
        CmEventType.DISCONNECTED,
        passive.awaitEvent(2, "DISCONNECTED at the passive side", often).type(),
        "the event",
        often);
    did("disconnect again, on both sides");
    active.id.disconnect();
    passive.id.disconnect();
    silence();
    for (final Link link : List.of(active, passive)) {
      same(
          1L,
          link.events.stream().filter(e -> e.type() == CmEventType.DISCONNECTED).count(),
          "times of DISCONNECTED: " + link.events,
          "both the peer's message and the own call are told.");
    }
  }

  @Test
  void required_T03_aDisconnectFlushesBothSides() {
    openAndConnect();
    active.side.postRecv(active.qp, 1);
    passive.side.postRecv(passive.qp, 2);
    did("disconnect on the passive side");
    passive.id.disconnect();
    final String often =
        "a side that is told DISCONNECTED, and whose queue pair stays as it was: move it to the"
            + " error state.";
    active.receives.awaitPolled(1, often);
    passive.receives.awaitPolled(1, often);
    same(WcStatus.WR_FLUSH_ERR, active.receives.polled.get(0).status(), "the status", often);
    same(WcStatus.WR_FLUSH_ERR, passive.receives.polled.get(0).status(), "the status", often);
  }

  @Test
  void required_C01_disconnectWithoutAConnectionHasNoEffect() {
    open();
    passive.listen(1);
    active.connect(passive, active.parameters(NOTHING));
    final CmRequest request = passive.request(1);
    did("disconnect before the answer");
    active.id.disconnect();
    passive.accept(request, passive.parameters(NOTHING));
    active.awaitEstablished();
    passive.awaitEstablished();
  }

  @Test
  void required_C05_theEndOfAListenerIsABarrier() {
    open();
    for (int round = 0; round < 8; round++) {
      final List<CmRequest> requests = new CopyOnWriteArrayList<>();
      final CmListener listener = passive.side.own(passive.side.device.listen(0, 4, requests::add));
      final Link from = another();
      did("connect, and end the listener after " + 10 * round + " us");
      from.side.own(
          from.side.device.connect(
              from.qp,
              passive.side.device.address(),
              listener.service(),
              from.parameters(NOTHING),
              from.handler()));
      pass(10L * round);
      passive.side.close(listener, "the listener");
      final int before = requests.size();
      silence();
      same(before, requests.size(), "requests after the end of the listener", NO_BARRIER);
      requests.forEach(request -> request.reject(CmHandler.CONSUMER_REJECT, NOTHING));
      from.awaitEvent(
          1,
          "the outcome of the connect",
          "requests that wait at a listener that ends, and are not refused.");
    }
  }

  @Test
  void required_C05_aServiceIsListenedAtOnce() {
    open();
    passive.listen(1);
    check(
        passive.listener.service() != 0,
        "the service that the provider picked",
        0,
        "a service that is told as it was asked for.");
    refused(
        "listen at the same service",
        () ->
            passive.side.own(
                passive.side.device.listen(passive.listener.service(), 1, passive.requests::add)),
        "an address that may be used again by an option of the system's.",
        VerbsException.EADDRINUSE);
    final long service = passive.listener.service();
    passive.side.close(passive.listener, "the listener");
    did("listen there again");
    passive.side.own(passive.side.device.listen(service, 1, passive.requests::add));
  }

  @Test
  void required_T09_theEndOfAnIdIsABarrier() {
    for (int round = 0; round < 8; round++) {
      openAndConnect();
      did("disconnect on the passive side, and close the active id after " + 10 * round + " us");
      passive.id.disconnect();
      pass(10L * round);
      active.side.close(active.id, "the active id");
      final int before = active.events.size();
      silence();
      same(before, active.events.size(), "events after the end of the id", NO_BARRIER);
    }
  }

  @Test
  void required_C04_whoClosesItsIdEndsTheConnectionOfThePeer() {
    openAndConnect();
    active.side.close(active.id, "the active id");
    passive.awaitEvent(
        2,
        "DISCONNECTED at the passive side",
        "an id that is freed without a message to the peer.");
  }

  @Test
  void required_C04_anAcceptOfWhoIsGoneEnds() {
    open();
    passive.listen(1);
    active.connect(passive, active.parameters(NOTHING));
    final CmRequest request = passive.request(1);
    active.side.close(active.id, "the active id, before the answer");
    final String often =
        "an errno of the driver's that is thrown: that the peer is gone is no mistake of who"
            + " accepts, and may as well show a moment later. It is an event.";
    try {
      passive.accept(request, passive.parameters(NOTHING));
    } catch (final VerbsException e) {
      fail("the outcome of an accept to be an event, as the peer is gone", e, often);
    }
    final Link.Event event =
        passive.awaitEvent(
            1, "the outcome of the accept", "an accept that waits for ever for its confirmation.");
    check(
        FAILURES.contains(event.type()) || event.type() == CmEventType.ESTABLISHED,
        "ESTABLISHED, or one of " + FAILURES + " first",
        event,
        "an end of what never began.");
    if (event.type() == CmEventType.ESTABLISHED) {
      passive.awaitEvent(2, "the end of the connection", "an end that is told who is there only.");
    }
  }

  @Test
  void required_T10_eventsOfOneIdAreSerial() {
    needsThreads();
    open();
    final CountDownLatch never = new CountDownLatch(1);
    active.whenTold = () -> hold(never, where().silence);
    passive.whenTold = active.whenTold;
    active.connectTo(passive, 7);
    did("disconnect, while the handlers that were told ESTABLISHED hold");
    active.id.disconnect();
    active.awaitEvent(2, "DISCONNECTED", "an answer that is not sent.");
    passive.awaitEvent(2, "DISCONNECTED at the passive side", "an answer that is not sent.");
    same(1, active.deepest.get(), "handlers of the active id at once", "two threads deliver.");
    same(1, passive.deepest.get(), "handlers of the passive id at once", "two threads deliver.");
  }

  @Test
  void required_C01_aConnectedQueuePairIsNotConnectedAgain() {
    openAndConnect();
    final Link to = new Link(this, passive.side);
    to.listen(1);
    refused(
        "connect the queue pair that is connected",
        () -> active.connect(to, active.parameters(NOTHING)),
        "a state of the queue pair that is not looked at.");
  }

  @Test
  void required_P02_aDeclarationOfPrivateDataIsKept() {
    open();
    passive.listen(1);
    active.connect(passive, active.parameters(Link.data(3)));
    final List<Byte> seen = Link.bytes(passive.request(1).privateData());
    needs(
        declaration(passive.side).privateData() != PrivateDataLength.UNKNOWN,
        "it declares UNKNOWN");
    checkData(passive.side, Link.bytes(Link.data(3)), seen, "data of the request");
  }

  @Test
  void required_C02_moreThanTheBacklogAreRefused() {
    open();
    final int backlog = 2;
    passive.listen(backlog);
    for (int i = 1; i <= backlog; i++) {
      another().connect(passive, active.parameters(NOTHING));
      passive.request(i);
    }
    did("connect once more: " + backlog + " wait for an answer, and the backlog is " + backlog);
    active.connect(passive, active.parameters(NOTHING));
    checkFailure("requests that wait are not counted, so that who does not answer runs full.");
    same(backlog, passive.requests.size(), "requests that were delivered", "as above.");
    did("reject one of those that wait");
    passive.requests.get(0).reject(CmHandler.CONSUMER_REJECT, NOTHING);
    final Link next = another();
    next.connect(passive, next.parameters(NOTHING));
    passive.accept(passive.request(backlog + 1), passive.parameters(NOTHING));
    next.awaitEstablished();
    passive.awaitEstablished();
  }

  @Test
  void required_C05_aRequestOutlivesItsListener() {
    open();
    passive.listen(1);
    active.connect(passive, active.parameters(Link.data(3)));
    final CmRequest request = passive.request(1);
    passive.side.close(passive.listener, "the listener, when its request was delivered");
    final String often = "requests that are refused, or freed, with their listener.";
    checkData(
        passive.side, Link.bytes(Link.data(3)), Link.bytes(request.privateData()), "its data");
    did("accept it");
    try {
      passive.accept(request, passive.parameters(NOTHING));
    } catch (final VerbsException e) {
      fail("a request that was delivered to be accepted", e, often);
    }
    active.awaitEstablished();
    passive.awaitEstablished();
  }

  @Test
  void required_R02_whatIsClosedTwiceOrLateHasNoEffect() {
    openAndConnect();
    final String often = "a second free; or an id that is looked up by a number used again.";
    passive.side.close(passive.listener, "the listener");
    active.side.close(active.id, "the active id");
    did("close both again, and disconnect the closed id");
    try {
      passive.listener.close();
      active.id.close();
      active.id.disconnect();
    } catch (final VerbsException e) {
      fail("calls that come too late to have no effect", e, often);
    }
    passive.awaitEvent(2, "DISCONNECTED at the passive side", often);
  }

  @Test
  void required_R02_whatIsClosedOfAConnectionTellsTheSame() {
    openAndConnect();
    final Supplier<List<Object>> told =
        () ->
            List.of(
                "service " + passive.listener.service(),
                "readsIn " + active.id.readsIn() + " and " + passive.id.readsIn(),
                "readsOut " + active.id.readsOut() + " and " + passive.id.readsOut());
    final List<Object> before = told.get();
    active.side.close(active.id, "the id of the active side");
    passive.side.close(passive.id, "the id of the passive side");
    passive.side.close(passive.listener, "the listener");
    same(
        before,
        told.get(),
        "what they tell",
        "a look at the closed object: with a native provider that is freed memory.");
  }

  @Test
  void required_C01_aQueuePairMayBeClosedBeforeItsId() {
    openAndConnect();
    active.side.close(active.qp, "the active queue pair, before its id");
    did("disconnect its id");
    active.id.disconnect();
    active.side.close(active.id, "the active id");
    passive.awaitEvent(
        2, "DISCONNECTED at the passive side", "an id that reaches for its queue pair.");
  }

  @Test
  void required_M02_toNotifyOfWhatIsEstablishedHasNoEffect() {
    openAndConnect();
    did("notifyEstablished on both sides, which are");
    active.id.notifyEstablished();
    passive.id.notifyEstablished();
    silence();
    final String often = "an event that is made in any state.";
    same(1, active.events.size(), "events of the active side: " + active.events, often);
    same(1, passive.events.size(), "events of the passive side: " + passive.events, often);
  }

  @Test
  void required_P05_eventsOfConnectionsComeInsideAwaitToo() {
    needs(channel() != null, "it declares that it pushes");
    openAndConnect();
    active.id.disconnect();
    active.awaitEvent(2, "DISCONNECTED", "an answer that is not sent.");
    passive.awaitEvent(2, "DISCONNECTED at the passive side", "an answer that is not sent.");
    final Set<Thread> own = Set.of(Thread.currentThread());
    final String often = "a thread of the provider's for the connection manager: declare PUSH.";
    same(own, active.threads, "threads of the active side's handlers", often);
    same(own, passive.threads, "threads of the passive side's handlers", often);
  }
}
