package org.jdapl.evd.explorer;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.Predicate;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.PublicServicePoint;

/** What the consumers of a run have made, and what the numbers of an action mean there. */
final class Inventory {

  /** A connection request that nobody answered. */
  record Pending(AdapterBook adapter, ConnectionRequest request) {}

  /** A service point, and whether its requests are accepted as they come. */
  record Point(PublicServicePoint psp, EvdBook evd, boolean accepts) {}

  private static final int OPEN_ONLY = 56;
  private static final int NEWEST_BINDS = 4;

  final List<AdapterBook> adapters = new ArrayList<>();
  final List<EvdBook> evds = new ArrayList<>();
  final List<CnoBook> cnos = new ArrayList<>();
  final List<EndpointBook> endpoints = new ArrayList<>();
  final List<SrqBook> srqs = new ArrayList<>();
  final List<RmrBook> rmrs = new ArrayList<>();

  /** Those that opened a window, in the order of their posts. */
  final List<RmrBook.Bind> binds = new ArrayList<>();

  final List<Point> points = new ArrayList<>();
  final List<Pending> requests = new ArrayList<>();

  /** The adapters' own, in the order of the adapters. */
  final List<EvdBook> asyncs = new ArrayList<>();

  private final IdentityHashMap<Endpoint, EndpointBook> books = new IdentityHashMap<>();

  void add(final EndpointBook endpoint) {
    endpoints.add(endpoint);
    books.put(endpoint.endpoint, endpoint);
  }

  EndpointBook book(final Endpoint endpoint) {
    return books.get(endpoint);
  }

  AdapterBook adapter(final int number) {
    return adapters.get(number % adapters.size());
  }

  EvdBook evd(final int number) {
    return pick(evds, number, evd -> !evd.isClosing());
  }

  CnoBook cno(final int number) {
    return pick(cnos, number, cno -> !cno.isClosed());
  }

  EndpointBook endpoint(final int number) {
    return pick(endpoints, number, endpoint -> !endpoint.isClosing());
  }

  SrqBook srq(final int number) {
    return pick(srqs, number, srq -> !srq.isClosed());
  }

  RmrBook rmr(final int number, final AdapterBook adapter) {
    return pick(
        rmrs.stream().filter(rmr -> rmr.adapter == adapter).toList(),
        number,
        rmr -> !rmr.isClosed());
  }

  /** A bind, one of the newest; null if there is none. */
  RmrBook.Bind bind(final int number) {
    return binds.isEmpty()
        ? null
        : binds.get(binds.size() - 1 - number % Math.min(NEWEST_BINDS, binds.size()));
  }

  /** One that is connected, mostly: what else is posted there is refused, or flushed. */
  EndpointBook connected(final int number) {
    final EndpointBook one =
        pick(endpoints, number, book -> book.endpoint.state() == EndpointState.CONNECTED);
    return one == null ? endpoint(number) : one;
  }

  /** An EVD of some kind; null if there is none. */
  EvdBook evd(final int number, final Predicate<EvdBook> which) {
    final List<EvdBook> all = evds.stream().filter(which).toList();
    return all.isEmpty() ? null : all.get(number % all.size());
  }

  /** One of a list, of those that are open or, for large numbers, of all; null if there is none. */
  static <T> T pick(final List<T> all, final int number, final Predicate<T> isOpen) {
    final List<T> of = number < OPEN_ONLY ? all.stream().filter(isOpen).toList() : all;
    final int index = number == Action.NEWEST ? of.size() - 1 : number % Math.max(1, of.size());
    return of.isEmpty() ? null : of.get(index);
  }
}
