package org.jdapl.evd.explorer;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.EventStream;

/** The calls of a consumer that are about connections, and what must come of each. */
final class ConnectionCalls {

  private final ScriptRun run;
  private final Inventory all;

  ConnectionCalls(final ScriptRun run) {
    this.run = run;
    all = run.all;
  }

  void createEndpoint(final int a, final int b, final int c) {
    final EvdBook both = all.evd(a, evd -> takes(evd, EventStream.DTO, EventStream.CONNECTION));
    if (both == null) {
      return;
    }
    final AdapterBook adapter = both.adapter;
    final boolean apart = b % 3 == 0;
    final EvdBook receive =
        !apart ? both : all.evd(b, evd -> evd.adapter == adapter && takes(evd, EventStream.DTO));
    final EvdBook request =
        !apart ? both : all.evd(c, evd -> evd.adapter == adapter && takes(evd, EventStream.DTO));
    final EvdBook connect =
        !apart
            ? both
            : all.evd(b + c, evd -> evd.adapter == adapter && takes(evd, EventStream.CONNECTION));
    final List<SrqBook> shared =
        all.srqs.stream().filter(book -> book.adapter == adapter && !book.isClosed()).toList();
    final SrqBook srq = shared.isEmpty() || (a + b) % 4 == 0 ? null : shared.get(c % shared.size());
    final int receives = srq == null ? 1 + b % 6 : 0;
    final int sends = 1 + c % 6;
    final boolean isSolicited =
        c % 4 == 0 && receive != request && receive != connect && receive != both;
    EndpointAttributes attributes =
        EndpointAttributes.defaults().withMaxDtos(receives, sends).withRetries(c % 3, b % 3);
    if (isSolicited) {
      attributes = attributes.withReceiveFlags(CompletionFlags.SOLICITED_WAIT);
    }
    final EndpointAttributes chosen = attributes;
    run.attempt(
        "createEndpoint",
        () -> {
          final Endpoint made =
              srq == null
                  ? adapter.adapter.createEndpoint(
                      adapter.pz, receive.evd, request.evd, connect.evd, chosen)
                  : adapter.adapter.createEndpoint(
                      adapter.pz, receive.evd, request.evd, connect.evd, srq.srq, chosen);
          final EndpointBook book =
              new EndpointBook(run, adapter, made, receive, request, connect, srq, receives, sends);
          all.add(book);
          if (isSolicited) {
            receive.hearsSolicitedOnly();
          }
        });
  }

  private static boolean takes(final EvdBook evd, final EventStream... streams) {
    for (final EventStream stream : streams) {
      if (!evd.takes(stream)) {
        return false;
      }
    }
    return !evd.isClosing();
  }

  void createPsp(final int a, final int b) {
    final EvdBook evd = all.evd(a, book -> takes(book, EventStream.CONNECTION_REQUEST));
    if (evd != null) {
      run.attempt(
          "createPsp",
          () ->
              all.points.add(
                  new Inventory.Point(
                      evd.adapter.adapter.createPsp(1 + b % 8, evd.evd), evd, b % 4 != 3)));
    }
  }

  void connect(final EndpointBook endpoint, final int b, final int c) {
    if (endpoint == null) {
      return;
    }
    final long service =
        all.points.isEmpty() || c / 4 == 1
            ? 99
            : all.points.get(b % all.points.size()).psp().connQual();
    final InetAddress to = c / 4 == 2 ? elsewhere() : endpoint.adapter.adapter.address();
    final Duration timeout =
        switch (c % 4) {
          case 0 -> Duration.ofNanos(10_000);
          case 1 -> Duration.ofMillis(1);
          default -> Duration.ofSeconds(10);
        };
    final ByteBuffer name = ByteBuffer.allocate(Integer.BYTES);
    name.putInt(0, all.endpoints.indexOf(endpoint));
    if (run.attempt("connect", () -> endpoint.endpoint.connect(to, service, timeout, name))
        == null) {
      endpoint.asked();
    }
  }

  private static InetAddress elsewhere() {
    try {
      return InetAddress.getByAddress(new byte[] {10, 0, 0, 1});
    } catch (final UnknownHostException e) {
      throw new AssertionError(e);
    }
  }

  void answer(final int a, final int b, final boolean accepts) {
    if (all.requests.isEmpty()) {
      return;
    }
    final Inventory.Pending pending = all.requests.get(a % all.requests.size());
    if (accepts) {
      final EndpointBook endpoint =
          Inventory.pick(all.endpoints, b, book -> book.adapter == pending.adapter());
      if (endpoint != null) {
        accept(pending.request(), endpoint);
      }
    } else {
      all.requests.remove(pending);
      run.attempt("reject", () -> pending.request().reject(null));
    }
  }

  private boolean accept(final ConnectionRequest request, final EndpointBook endpoint) {
    final boolean accepted =
        run.attempt("accept", () -> request.accept(endpoint.endpoint, null)) == null;
    if (accepted) {
      endpoint.asked();
      EndpointBook.connect(all.endpoints.get(request.privateData().getInt(0)), endpoint);
    }
    return accepted;
  }

  void disconnect(final EndpointBook endpoint, final int how) {
    if (endpoint != null) {
      run.attempt(
          "disconnect",
          () ->
              endpoint.endpoint.disconnect(
                  how % 2 == 0 ? Endpoint.Disconnect.GRACEFUL : Endpoint.Disconnect.ABRUPT));
    }
  }

  void onRequest(final ConnectionRequest request, final AdapterBook adapter) {
    if (all.points.stream().anyMatch(Inventory.Point::accepts)) {
      for (final EndpointBook endpoint : all.endpoints) {
        if (endpoint.adapter == adapter
            && endpoint.endpoint.state() == EndpointState.UNCONNECTED
            && accept(request, endpoint)) {
          return;
        }
      }
    }
    all.requests.add(new Inventory.Pending(adapter, request));
  }
}
