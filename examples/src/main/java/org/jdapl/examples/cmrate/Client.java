package org.jdapl.examples.cmrate;

import java.net.InetAddress;
import java.time.Duration;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.Endpoint;

/** Connects as many endpoints as it has, some at a time. */
final class Client extends Side {

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(100);

  Client(final String ia, final int connections) {
    super(ia, connections);
  }

  /**
   * Makes all connections.
   *
   * @param burst how many at a time; the next ones when all of them stand, as dtestcm does.
   * @return how long it took, in nanoseconds.
   */
  long connect(final InetAddress server, final long service, final int burst)
      throws CmrateException, InterruptedException {
    final long start = System.nanoTime();
    for (int next = 0; next < endpoints.size(); next += burst) {
      final int end = Math.min(next + burst, endpoints.size());
      for (final Endpoint endpoint : endpoints.subList(next, end)) {
        endpoint.connect(server, service, CONNECT_TIMEOUT, Greeting.REQUEST.encode());
      }
      while (established < end) {
        await(CONNECT_TIMEOUT);
      }
    }
    return System.nanoTime() - start;
  }

  /** Ends all connections. */
  void disconnect() throws CmrateException, InterruptedException {
    for (final Endpoint endpoint : endpoints) {
      endpoint.disconnect(Endpoint.Disconnect.ABRUPT);
    }
    while (ended < endpoints.size()) {
      await(PATIENCE);
    }
  }

  @Override
  public void onConnection(final ConnectionEvent event) {
    switch (event.kind()) {
      case ESTABLISHED -> {
        established++;
        if (!Greeting.ANSWER.isIn(event.privateData())) {
          fail("the server's answer had not the private data of dtestcm");
        }
      }
      case DISCONNECTED -> {
        ended++;
        if (established < endpoints.size()) {
          fail("the server ended a connection");
        }
      }
      case PEER_REJECTED, NON_PEER_REJECTED ->
          fail("the server refused, " + event.kind() + ": give both sides the same -c");
      default -> fail("a connection was not made: " + event.kind());
    }
  }
}
