package org.jdapl.examples.cmrate;

import java.time.Duration;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.ConnectionRequestEvent;

/** Accepts as many connections as there are endpoints, and waits until the client ends them. */
final class Server extends Side {

  private static final Duration FOR_EVER = Duration.ofDays(365);

  private int accepted;

  Server(final String ia, final int connections) {
    super(ia, connections);
  }

  /** Listens at a service, 0 for any; returns which. */
  long listen(final long service) {
    return opened(service == 0 ? adapter.createPsp(evd) : adapter.createPsp(service, evd))
        .connQual();
  }

  void serve() throws CmrateException, InterruptedException {
    while (ended < endpoints.size()) {
      await(accepted == 0 ? FOR_EVER : PATIENCE);
    }
  }

  @Override
  public void onRequest(final ConnectionRequestEvent event) {
    final ConnectionRequest request = event.request();
    if (accepted == endpoints.size()) {
      request.reject(null);
    } else if (!Greeting.REQUEST.isIn(request.privateData())) {
      request.reject(null);
      fail("a request of " + request.remoteAddress() + " had not the private data of dtestcm");
    } else {
      request.accept(endpoints.get(accepted), Greeting.ANSWER.encode());
      accepted++;
    }
  }

  @Override
  public void onConnection(final ConnectionEvent event) {
    switch (event.kind()) {
      case ESTABLISHED -> established++;
      case DISCONNECTED -> {
        ended++;
        if (established < endpoints.size()) {
          fail("the client ended a connection, or had fewer to make: give both sides the same -c");
        }
      }
      default -> fail("a connection ended: " + event.kind());
    }
  }
}
