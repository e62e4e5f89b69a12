package org.jdapl.examples.stress;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Event;

/** All links, and which of them an event is for. */
final class Links {

  private final Account account;
  private final Link[] links;

  /** The open endpoints. */
  private final Map<Endpoint, Link.End> ends = new ConcurrentHashMap<>();

  Links(final Account account, final int count) {
    this.account = account;
    links = new Link[count];
  }

  int count() {
    return links.length;
  }

  List<Link> all() {
    return List.of(links);
  }

  void put(final Link link) {
    links[link.index()] = link;
  }

  void opened(final Endpoint endpoint, final Link.End end) {
    ends.put(endpoint, end);
  }

  void closed(final Endpoint endpoint) {
    ends.remove(endpoint);
  }

  // Events. First each is recorded, then handled.

  void record(final DtoCompletion event, final Ledger ledger) {
    final long cookie = event.cookie();
    final int link = Link.index(cookie);
    ledger.record(
        event.sequence(),
        event.status() == DtoStatus.SUCCESS ? Ledger.SUCCESS : Ledger.NUMBER,
        Link.isReceive(event.operation()) ? ledger.receivesOf(link) : ledger.requestsOf(link),
        Link.round(cookie),
        Link.number(cookie));
  }

  void record(final ConnectionEvent event, final Ledger ledger) {
    final Link.End end = ends.get(event.endpoint());
    if (end == null) {
      account.breach(event + " came after its endpoint's close");
      ledger.record(event.sequence(), Ledger.OTHER, 0, 0, 0);
    } else {
      ledger.record(
          event.sequence(),
          event.kind().isTerminal() ? Ledger.TERMINAL : Ledger.ESTABLISHED,
          ledger.receivesOf(end.link().index()),
          end.link().round(),
          0);
    }
  }

  void handle(final Event event) {
    if (event instanceof ConnectionRequestEvent request) {
      handle(request.request());
    } else if (event.source() instanceof Endpoint endpoint) {
      final Link.End end = ends.get(endpoint);
      if (end == null) {
        account.breach(event + " came after its endpoint's close");
      } else if (event instanceof DtoCompletion completion) {
        end.onCompletion(completion);
      } else if (event instanceof ConnectionEvent connection) {
        end.onConnection(connection);
      }
    }
  }

  private void handle(final ConnectionRequest request) {
    final ByteBuffer data = request.privateData();
    links[data.getInt()].onRequest(request, data.getInt());
  }
}
