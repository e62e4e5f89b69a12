package org.jdapl.evd;

import java.util.LinkedHashSet;
import java.util.Set;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.SolicitedSupport;
import org.jdapl.verbs.VerbsException;

/**
 * Who uses an EVD, and the room that is reserved there: its length, and the completion queues that
 * are made as endpoints need them.
 */
final class EvdRoom {

  private final EvdImpl evd;
  private final IaImpl ia;
  private final int streams;
  private final Lane lane;
  private final Merger merger;
  private volatile int length;

  // Under the monitor of this object.
  private Set<DatObject> users = Set.of();
  private int reserved;
  private boolean queuesDestroyed;
  private boolean closing;

  /** Its users are endpoints that want to be told of solicited receives only. */
  private volatile boolean solicited;

  EvdRoom(
      final EvdImpl evd,
      final int length,
      final int streams,
      final Lane lane,
      final Merger merger) {
    this.evd = evd;
    ia = evd.ia();
    this.length = length;
    this.streams = streams;
    this.lane = lane;
    this.merger = merger;
  }

  int length() {
    return length;
  }

  /** Whether it notifies of solicited receives only. */
  boolean isSolicited() {
    return solicited;
  }

  /**
   * Reserves room for the completions of an endpoint's queue.
   *
   * @return the completion queue to use.
   */
  CqFeed reserve(final int completions) {
    synchronized (this) {
      if (closing || completions > length - reserved) {
        throw Misuse.resources(
            ReturnSubtype.RESOURCE_TEVD,
            evd.name()
                + ": no room for "
                + completions
                + " more completions: "
                + reserved
                + " of its length "
                + length
                + " are reserved; create a longer EVD or close endpoints");
      }
      reserved += completions;
    }
    boolean done = false;
    try {
      final CqFeed feed = feedFor(completions + WorkQueue.MARKERS);
      synchronized (this) {
        merger.reserve(reserved + merger.feeds().length * CqFeed.BATCH);
      }
      done = true;
      return feed;
    } catch (final VerbsException e) {
      throw Misuse.failed(
          evd.name() + ": a completion queue could not be created", e, ReturnSubtype.RESOURCE_TEVD);
    } finally {
      if (!done) {
        release(completions);
      }
    }
  }

  /**
   * Changes the room for completions in one of its queues, which cannot be longer itself.
   *
   * @param call what the consumer asked for, for messages.
   * @throws DatException if there is no room for more.
   */
  void resizeReserved(final CqFeed feed, final int from, final int to, final String call) {
    if (to <= from) {
      feed.giveRoom(from - to);
      release(from - to);
      return;
    }
    synchronized (this) {
      if (to - from > length - reserved || !feed.takeRoom(to - from)) {
        throw Misuse.resources(
            ReturnSubtype.RESOURCE_TEVD,
            call
                + ": no room for "
                + (to - from)
                + " more completions in "
                + evd.name()
                + ", in a queue of its length "
                + length
                + ", of which "
                + reserved
                + " are reserved; take a longer EVD");
      }
      reserved += to - from;
      merger.reserve(reserved + merger.feeds().length * CqFeed.BATCH);
    }
  }

  /** A completion queue with that much room: when those there are full, one more. */
  private CqFeed feedFor(final int entries) {
    final ArmKind kind =
        solicited && ia.device().declaration().solicited() == SolicitedSupport.FULL
            ? ArmKind.SOLICITED
            : ArmKind.NEXT; // an error must notify too
    for (final CqFeed feed : merger.feeds()) {
      if (feed.kind() == kind && feed.takeRoom(entries)) {
        return feed;
      }
    }
    final int most = ia.device().limits().maxCqe();
    final int capacity = Math.max(entries, Math.min(most, length + 8 * WorkQueue.MARKERS));
    final CqFeed feed = new CqFeed(evd, kind);
    final CompletionQueue cq = ia.device().createCq(capacity, feed);
    feed.open(cq, capacity - entries);
    final boolean late;
    synchronized (this) {
      late = queuesDestroyed;
      if (!late) {
        merger.add(feed);
      }
    }
    if (late) {
      evd.closing().destroy(cq); // no queue pair uses it
      throw Misuse.closed(ReturnSubtype.NO_SUBTYPE, evd, "use by a new endpoint");
    }
    ia.watch(evd);
    evd.signalCq();
    return feed;
  }

  /** Changes the length of the EVD. */
  void resize(final int to) {
    synchronized (this) {
      final int from = length;
      if (to == from) {
        return;
      }
      if (evd.hasWaiter()) {
        throw evd.waited("resize");
      }
      if (to < reserved || !lane.resize(from, to)) {
        throw Misuse.state(
            ReturnSubtype.NO_SUBTYPE,
            evd.name()
                + ".resize: it keeps its length "
                + from
                + ", because "
                + (to < reserved
                    ? reserved + " completions are reserved for its endpoints"
                    : "more than " + to + " software events or connection requests wait"));
      }
      length = to;
      if (to < from && evd.hasWaiter()) { // it came before this length, and may want more
        lane.resize(to, from);
        length = from;
        throw evd.waited("resize");
      }
    }
  }

  /** Gives back what was reserved. */
  synchronized void release(final int completions) {
    reserved -= completions;
  }

  /**
   * Something sends its events here.
   *
   * @param solicitedOnly whether they are the receives of an endpoint, and the consumer is to be
   *     told of solicited ones only.
   */
  synchronized void addUser(final DatObject user, final boolean solicitedOnly) {
    if (closing) {
      throw Misuse.closed(ReturnSubtype.NO_SUBTYPE, evd, "use by " + user.name());
    }
    if (solicitedOnly) {
      checkMayBeSolicited(user);
    } else if (solicited) {
      throw Misuse.state(
          ReturnSubtype.INVALID_STATE_EVD_CONFIG_SOLICITED,
          evd.name()
              + ": "
              + user.name()
              + " would bring it other events than solicited receives, and it is used by "
              + users
              + " for those only; take another EVD");
    }
    if (users.isEmpty()) {
      users = new LinkedHashSet<>();
    }
    users.add(user);
  }

  private void checkMayBeSolicited(final DatObject user) {
    if (streams != EventStream.DTO.flag() || (!solicited && !users.isEmpty())) {
      throw Misuse.state(
          ReturnSubtype.INVALID_STATE_EVD_CONFIG_NOTIFY,
          evd.name()
              + ": receives of "
              + user.name()
              + " with SOLICITED_WAIT need an EVD for DTO alone that carries nothing else; "
              + (users.isEmpty() ? "it takes other streams" : "it is used by " + users));
    }
    final boolean before = solicited;
    solicited = true; // then the look at the waiter, who looks at this after it became one
    if (!before && evd.hasWaiter()) {
      solicited = false;
      throw evd.waited("use by " + user.name());
    }
  }

  synchronized void removeUser(final DatObject user) {
    if (!users.isEmpty()) {
      users.remove(user);
    }
    solicited &= !users.isEmpty();
  }

  /**
   * The EVD is being closed: nobody comes any more.
   *
   * @param abrupt also if it is in use.
   * @return false if it was being closed already.
   */
  synchronized boolean close(final boolean abrupt) {
    if (!abrupt && !users.isEmpty()) {
      throw Misuse.inUse(ReturnSubtype.INVALID_STATE_EVD_IN_USE, evd.name(), users);
    }
    final boolean first = !closing;
    closing = true;
    return first;
  }

  /** In a turn: after it no completion comes, and a queue that is being created does not either. */
  synchronized CqFeed[] takeFeeds() {
    queuesDestroyed = true;
    final CqFeed[] feeds = merger.feeds();
    merger.removeFeeds();
    return feeds;
  }

  /** Whether a completion queue is one of its own. */
  boolean has(final Object cq) {
    for (final CqFeed feed : merger.feeds()) {
      if (feed.cq() == cq) {
        return true;
      }
    }
    return false;
  }

  synchronized boolean isUsed() {
    return !users.isEmpty();
  }
}
