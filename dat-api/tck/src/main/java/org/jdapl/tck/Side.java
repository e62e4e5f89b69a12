package org.jdapl.tck;

import java.nio.ByteBuffer;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.Segments;
import org.jdapl.dat.SharedReceiveQueue;

/** One side of a connection: an adapter, ONE EVD for everything, memory, and an endpoint. */
final class Side {

  /** How long a message of the tests is. */
  static final int MESSAGE = 64;

  private static final int MESSAGES = 256;

  final InterfaceAdapter adapter;
  final Evd evd;
  final ProtectionZone pz;
  final Lmr lmr;
  final Recorder seen;
  volatile Endpoint endpoint;
  SharedReceiveQueue srq;

  private final Contract contract;
  private final EndpointAttributes attributes;

  Side(final Contract contract, final int evdLength, final EndpointAttributes attributes) {
    this.contract = contract;
    this.attributes = attributes;
    adapter = contract.bench.open();
    evd =
        adapter.createEvd(
            evdLength,
            EventStream.DTO,
            EventStream.CONNECTION,
            EventStream.CONNECTION_REQUEST,
            EventStream.SOFTWARE);
    seen = contract.recorder(evd);
    pz = adapter.createPz();
    lmr = pz.createLmr(ByteBuffer.allocateDirect(MESSAGE * MESSAGES), Privilege.values());
    endpoint = newEndpoint();
  }

  Endpoint newEndpoint() {
    return srq == null
        ? adapter.createEndpoint(pz, evd, attributes)
        : adapter.createEndpoint(pz, evd, evd, evd, srq, attributes);
  }

  /** From now on its endpoints share their receives, and so do not have any of their own. */
  Side share(final int receives) {
    endpoint.close();
    srq = adapter.createSrq(pz, receives, 1);
    endpoint = newEndpoint();
    return this;
  }

  /** From now on its endpoint is one whose receives go to an EVD for solicited ones. */
  Evd hearSolicitedOnly() {
    final Evd quiet = adapter.createEvd(64, EventStream.DTO);
    endpoint =
        adapter.createEndpoint(
            pz, quiet, evd, evd, attributes.withReceiveFlags(CompletionFlags.SOLICITED_WAIT));
    return quiet;
  }

  void enable() {
    evd.upcall(seen);
  }

  /** Posts a send of one message. */
  Outcome send(final long cookie) {
    return endpoint.postSend(lmr, slot(cookie), MESSAGE, cookie);
  }

  /** Posts a send of one message with flags of {@link org.jdapl.dat.CompletionFlags}. */
  Outcome send(final long cookie, final int flags) {
    return endpoint.postSend(message(cookie), cookie, null, flags);
  }

  /** Posts a receive of one message. */
  Outcome receive(final long cookie) {
    return srq != null
        ? srq.postReceive(lmr, slot(cookie), MESSAGE, cookie)
        : endpoint.postReceive(lmr, slot(cookie), MESSAGE, cookie);
  }

  void sends(final int first, final int count) {
    for (int i = first; i < first + count; i++) {
      contract.succeeds(send(i), "a send within the endpoint's own count");
    }
  }

  void sends(final int first, final int count, final int flags) {
    for (int i = first; i < first + count; i++) {
      contract.succeeds(send(i, flags), "a send within the endpoint's own count");
    }
  }

  void receives(final int first, final int count) {
    for (int i = first; i < first + count; i++) {
      contract.succeeds(receive(i), "a receive within the endpoint's own count");
    }
  }

  Segments message(final long cookie) {
    return new Segments(1).add(lmr, slot(cookie), MESSAGE);
  }

  long successes(final DrainReport.Queue queue) {
    return seen.successes(endpoint, queue);
  }

  boolean established() {
    return seen.established(endpoint);
  }

  boolean ended() {
    return ended(endpoint);
  }

  boolean ended(final Endpoint of) {
    return seen.kinds(of).stream().anyMatch(ConnectionEvent.Kind::isTerminal);
  }

  private static long slot(final long cookie) {
    return cookie % MESSAGES * MESSAGE;
  }
}
