package org.jdapl.evd;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Has EVDs look into their armed completion queues now and then, so that a notification that the
 * system dropped delays an event and never loses it.
 */
final class Watchdog {

  /** How many look at a time. */
  private static final int BATCH = 64;

  /** Those with completion queues; who has looked goes to the end. */
  private final Set<EvdImpl> evds = new LinkedHashSet<>();

  synchronized void add(final EvdImpl evd) {
    evds.add(evd);
  }

  synchronized void remove(final EvdImpl evd) {
    evds.remove(evd);
  }

  /** Has the next few look, in turns of theirs that follow. */
  void look() {
    next(BATCH).forEach(EvdImpl::rescue);
  }

  /** Has all look, in turns of theirs that follow. */
  void lookAll() {
    next(Integer.MAX_VALUE).forEach(EvdImpl::rescue);
  }

  /** How many completions of open EVDs were rescued so far. */
  synchronized long rescued() {
    return evds.stream().mapToLong(EvdImpl::rescued).sum();
  }

  private synchronized List<EvdImpl> next(final int most) {
    final List<EvdImpl> next = new ArrayList<>();
    final Iterator<EvdImpl> oldest = evds.iterator();
    while (oldest.hasNext() && next.size() < most) {
      next.add(oldest.next());
      oldest.remove();
    }
    evds.addAll(next);
    return next;
  }
}
