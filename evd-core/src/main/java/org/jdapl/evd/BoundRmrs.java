package org.jdapl.evd;

/**
 * The remote memory regions of scope EP that an endpoint has bound, the oldest first: those its
 * peer may end. Posters and turns change it under its monitor; they look through it in the order
 * peers mostly take.
 */
final class BoundRmrs {

  private RmrImpl first;
  private RmrImpl last;

  synchronized void add(final RmrImpl rmr) {
    rmr.list = this;
    rmr.previous = last;
    rmr.next = null;
    if (last == null) {
      first = rmr;
    } else {
      last.next = rmr;
    }
    last = rmr;
  }

  synchronized void remove(final RmrImpl rmr) {
    if (rmr.list != this) {
      return;
    }
    if (rmr.previous == null) {
      first = rmr.next;
    } else {
      rmr.previous.next = rmr.next;
    }
    if (rmr.next == null) {
      last = rmr.previous;
    } else {
      rmr.next.previous = rmr.previous;
    }
    rmr.list = null;
    rmr.previous = null;
    rmr.next = null;
  }

  /** The one whose last bind has a context, which it loses; null if there is none. */
  synchronized RmrImpl take(final int context) {
    for (RmrImpl rmr = first; rmr != null; rmr = rmr.next) {
      if (rmr.isLast(context)) {
        remove(rmr);
        return rmr;
      }
    }
    return null;
  }
}
