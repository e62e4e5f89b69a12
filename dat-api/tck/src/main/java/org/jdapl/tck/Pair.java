package org.jdapl.tck;

import java.time.Duration;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.PublicServicePoint;

/** Two sides on two adapters, of which the active one connects and the passive one accepts. */
final class Pair {

  /** How long a connect may take; no test needs as much, however busy the machine is. */
  static final Duration CONNECT = Duration.ofSeconds(30);

  private static final int EVD_LENGTH = 256;

  final Side active;
  final Side passive;
  final PublicServicePoint psp;

  private final Contract contract;

  private Pair(final Contract contract, final int evdLength, final EndpointAttributes attributes) {
    this.contract = contract;
    active = new Side(contract, evdLength, attributes);
    passive = new Side(contract, evdLength, attributes);
    psp = passive.adapter.createPsp(contract.connQual(), passive.evd);
    passive.seen.answer(request -> request.accept(passive.endpoint, null));
  }

  /** Two sides, not connected, their EVDs disabled. */
  static Pair open(final Contract contract) {
    return open(contract, EVD_LENGTH, EndpointAttributes.defaults());
  }

  static Pair open(
      final Contract contract, final int evdLength, final EndpointAttributes attributes) {
    return new Pair(contract, evdLength, attributes);
  }

  /** Two sides, connected, with upcalls enabled. */
  static Pair connected(final Contract contract) {
    return open(contract).connect();
  }

  /** Enables the upcalls of both sides and connects their endpoints. */
  Pair connect() {
    active.enable();
    passive.enable();
    ask();
    contract.await(
        () -> active.established() && passive.established(), "ESTABLISHED on both sides");
    return this;
  }

  /** Asks for a connection, and does not wait. */
  void ask() {
    active.endpoint.connect(passive.adapter.address(), psp.connQual(), CONNECT, null);
  }

  /** New endpoints on both sides, not connected. The old ones live on. */
  void renew() {
    active.endpoint = active.newEndpoint();
    passive.endpoint = passive.newEndpoint();
  }

  /** A new endpoint on the active side, not connected. The old one lives on. */
  void renewActive() {
    active.endpoint = active.newEndpoint();
  }

  /** Sends messages; when it returns, their receives are complete. The active side has upcalls. */
  void arrive(final int first, final int count) {
    final long before = active.successes(Queue.REQUEST);
    passive.receives(first, count);
    active.sends(first, count);
    contract.await(
        () -> active.successes(Queue.REQUEST) == before + count,
        "the success of " + count + " sends");
    contract.bench.settle();
  }
}
