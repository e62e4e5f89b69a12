package org.jdapl.evd;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.HandleType;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.Segments;
import org.jdapl.dat.SharedReceiveQueue;
import org.jdapl.verbs.Capability;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.VerbsException;

/**
 * A shared receive queue: its open receives, and who takes them.
 *
 * <p>Receives complete in any order and in the turns of several EVDs, so each has a slot of its
 * own. Posters take free slots under the guard; a turn returns a slot when its completion was
 * handed out. The id of a work request is the queue's tag, and of its slot the index and the low
 * bits of the number of posts to it, so that a late completion finds no newer receive.
 */
final class SrqImpl extends ObjectBase implements SharedReceiveQueue, EndpointTable.Owner {

  private static final int INDEX_BITS = 16;
  private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;

  /** The most receives that ids can tell apart. */
  static final int MOST = 1 << INDEX_BITS;

  private static final int NOT_POSTED = -1;

  /** A receive, and when it is not posted its place in a list of free ones. */
  private static final class Slot {

    private final AtomicInteger id = new AtomicInteger(NOT_POSTED);
    private int nextId;
    private final LmrImpl[] lmrs;
    private long cookie;
    private Object context;
    private Slot next;

    Slot(final int index, final int iov) {
      nextId = index;
      lmrs = new LmrImpl[iov];
    }
  }

  /** Room for all receives in an EVD, because of some endpoints there. */
  private static final class Room {

    private final CqFeed feed;
    private final int receives;
    private int endpoints = 1;

    Room(final CqFeed feed, final int receives) {
      this.feed = feed;
      this.receives = receives;
    }
  }

  private final IaImpl ia;
  private final PzImpl pz;
  private final int iov;
  private final long tag;
  private final AsyncSlot asyncSlot = new AsyncSlot(this);
  private org.jdapl.verbs.SharedReceiveQueue queue;

  /** As many as were ever wanted at once; more are added, none is taken away. */
  private volatile Slot[] slots = new Slot[0];

  private volatile int maxReceives;
  private final AtomicInteger openReceives = new AtomicInteger();
  private final AtomicReference<Slot> returned = new AtomicReference<>();

  // Posters, under the guard.
  private final PostGuard guard = new PostGuard();
  private Slot free;
  private final Segments single = new Segments(1);
  private final RecvRequest request;

  /** The low watermark that is still to be told of; 0 for none. */
  private final AtomicInteger watermark = new AtomicInteger();

  /** How often it was told of before the device said so, whose word is still to come. */
  private final AtomicInteger told = new AtomicInteger();

  // Under the monitor of this object.
  private final Set<EndpointImpl> users = new LinkedHashSet<>();
  private final Map<EvdImpl, Room> rooms = new HashMap<>();
  private int roomFor;
  private boolean resizing;
  private final Map<Integer, Incarnation> numbers = new HashMap<>();

  /** What {@link #numbers} has, to be read in turns: hashed by number, never full. */
  private volatile Incarnation[] byNumber = new Incarnation[1];

  private volatile boolean closed;

  SrqImpl(
      final String name,
      final IaImpl ia,
      final PzImpl pz,
      final int maxReceives,
      final int iov,
      final long tag) {
    super(HandleType.SRQ, name);
    this.ia = ia;
    this.pz = pz;
    this.iov = iov;
    this.tag = tag;
    request = new RecvRequest(iov);
    this.maxReceives = maxReceives;
    roomFor = maxReceives;
    addSlots(maxReceives);
  }

  /** Under the guard. */
  private void addSlots(final int upTo) {
    final Slot[] more = Arrays.copyOf(slots, Math.max(upTo, slots.length));
    for (int index = more.length - 1; index >= slots.length; index--) {
      more[index] = new Slot(index, iov);
      more[index].next = free;
      free = more[index];
    }
    slots = more;
  }

  /** Creates the provider's queue. */
  void open() {
    pz.addUser(this);
    boolean opened = false;
    try {
      queue = ia.device().createSrq(pz.pd(), maxReceives, iov);
      opened = true;
    } catch (final VerbsException e) {
      throw Misuse.failed(
          name + ": the shared receive queue could not be created", e, ReturnSubtype.RESOURCE_SRQ);
    } finally {
      if (!opened) {
        pz.removeUser(this);
      }
    }
  }

  @Override
  public long tag() {
    return tag;
  }

  @Override
  IaImpl ia() {
    return ia;
  }

  @Override
  public PzImpl pz() {
    return pz;
  }

  org.jdapl.verbs.SharedReceiveQueue queue() {
    return queue;
  }

  AsyncSlot asyncSlot() {
    return asyncSlot;
  }

  // Posting.

  @Override
  public Outcome postReceive(
      final Lmr lmr, final long offset, final long length, final long cookie) {
    return post(lmr, offset, length, null, cookie, null);
  }

  @Override
  public Outcome postReceive(final Segments segments, final long cookie, final Object context) {
    return post(null, 0, 0, segments, cookie, context);
  }

  private Outcome post(
      final Lmr lmr,
      final long offset,
      final long length,
      final Segments segments,
      final long cookie,
      final Object context) {
    guard.lock();
    try {
      checkOpen("postReceive");
      final Slot slot = openReceives.get() < maxReceives ? firstFree() : null;
      if (slot == null) {
        return Outcome.INSUFFICIENT_RESOURCES;
      }
      final Segments list = segments == null ? single.clear().add(lmr, offset, length) : segments;
      pz.use(list, request, slot.lmrs, 0, iov, Privilege.LOCAL_WRITE, name);
      slot.cookie = cookie;
      slot.context = context;
      return post(slot);
    } catch (final VerbsException e) {
      throw Misuse.failed(name + ": post of RECEIVE", e);
    } finally {
      guard.unlock();
    }
  }

  /** The first free slot, or null. What turns returned is taken when nothing else is free. */
  private Slot firstFree() {
    if (free == null) {
      free = returned.getAndSet(null);
    }
    return free;
  }

  private Outcome post(final Slot slot) {
    final int id = slot.nextId;
    slot.nextId = (id + MOST) & WorkQueue.POSITION_MASK;
    request.wrId = (tag << WorkQueue.TAG_SHIFT) | id;
    free = slot.next;
    openReceives.incrementAndGet();
    slot.id.set(id); // it may complete before the verb returns
    boolean posted = false;
    try {
      final int errno = queue.postRecv(request);
      posted = errno == 0;
      if (posted) {
        return Outcome.SUCCESS;
      }
      if (errno == VerbsException.ENOMEM) {
        return Outcome.INSUFFICIENT_RESOURCES;
      }
      throw new VerbsException("post_srq_recv", name, errno, "");
    } finally {
      if (!posted) {
        complete(id & INDEX_MASK);
      }
    }
  }

  /** Whether an open receive uses a region, or one that is stuck may. From any thread. */
  boolean uses(final LmrImpl lmr) {
    if (!guard.lockUnlessStuck()) {
      return true;
    }
    try {
      for (final Slot slot : slots) {
        for (final LmrImpl used : slot.lmrs) {
          if (used == lmr && slot.id.get() != NOT_POSTED) {
            return true;
          }
        }
      }
      return false;
    } finally {
      guard.unlock();
    }
  }

  // Completions, in the turns of several EVDs.

  /** The slot of a completion's receive, or -1 if it is not open; changes nothing. */
  int slotOf(final long wrId) {
    final int index = (int) wrId & INDEX_MASK;
    final int id = (int) wrId & WorkQueue.POSITION_MASK;
    final Slot[] all = slots;
    return index < all.length && all[index].id.get() == id ? index : -1;
  }

  long cookie(final int slot) {
    return slots[slot].cookie;
  }

  Object context(final int slot) {
    return slots[slot].context;
  }

  /** A receive was accounted for: its slot is free again. */
  void complete(final int slot) {
    final Slot done = slots[slot];
    final int id = done.id.get();
    if (id == NOT_POSTED || !done.id.compareAndSet(id, NOT_POSTED)) {
      return; // a provider completed it twice at once
    }
    done.context = null;
    Arrays.fill(done.lmrs, null);
    Slot first;
    do {
      first = returned.get();
      done.next = first;
    } while (!returned.compareAndSet(first, done));
    if (openReceives.decrementAndGet() < watermark.get()) { // taken before that was set
      tellFirst();
    }
  }

  /** A completion that is nobody's: if its receive is open, its slot is free again. */
  void giveBack(final long wrId) {
    final int slot = slotOf(wrId);
    if (slot >= 0) {
      complete(slot);
    }
  }

  /** The endpoint whose queue pair has a number, or null. */
  Incarnation endpointOf(final int number) {
    final Incarnation[] table = byNumber;
    final int mask = table.length - 1;
    Incarnation endpoint;
    for (int i = number & mask; (endpoint = table[i]) != null; i = (i + 1) & mask) {
      if (endpoint.qpNumber() == number) {
        return endpoint;
      }
    }
    return null;
  }

  // Endpoints.

  /** An endpoint is to take receives from here. */
  synchronized void addUser(final EndpointImpl endpoint) {
    checkOpen("use by " + endpoint.name());
    users.add(endpoint);
  }

  synchronized void removeUser(final EndpointImpl endpoint) {
    users.remove(endpoint);
  }

  /** Nothing is left of the queue pair of an endpoint. */
  synchronized void removeNumber(final Incarnation endpoint) {
    if (numbers.remove(endpoint.qpNumber(), endpoint)) {
      publishNumbers();
    }
  }

  /**
   * Says which number the queue pair of an endpoint has.
   *
   * @return false if completions of another endpoint's queue pair with that number may be left: its
   *     close is not complete.
   */
  synchronized boolean addNumber(final Incarnation endpoint, final int number) {
    final boolean added = numbers.putIfAbsent(number, endpoint) == null;
    if (added) {
      endpoint.qpNumber(number);
      publishNumbers();
    }
    return added;
  }

  private void publishNumbers() {
    final Incarnation[] table = new Incarnation[Integer.highestOneBit(numbers.size() + 1) << 2];
    final int mask = table.length - 1;
    numbers.forEach(
        (number, endpoint) -> {
          int i = number & mask;
          while (table[i] != null) {
            i = (i + 1) & mask;
          }
          table[i] = endpoint;
        });
    byNumber = table;
  }

  /**
   * Reserves room for all receives in an EVD, unless another endpoint did.
   *
   * @return the completion queue to use.
   */
  CqFeed reserveRoom(final EvdImpl evd) {
    while (true) {
      final CqFeed there = shareRoom(evd, null);
      if (there != null) {
        return there;
      }
      final int receives = roomFor();
      final Room made = new Room(evd.room().reserve(receives), receives); // under no monitor
      final CqFeed used = shareRoom(evd, made);
      if (used != made.feed) {
        giveRoom(evd, made); // somebody else was faster, or resized
      }
      if (used != null) {
        return used;
      }
    }
  }

  private synchronized int roomFor() {
    return roomFor;
  }

  /** The room there is, or that was made; null if there is none, or it is of another size. */
  private synchronized CqFeed shareRoom(final EvdImpl evd, final Room made) {
    final Room room = rooms.get(evd);
    if (room != null) {
      room.endpoints++;
      return room.feed;
    }
    if (made == null || made.receives != roomFor) {
      return null;
    }
    rooms.put(evd, made);
    return made.feed;
  }

  /** An endpoint uses its room no more; the last one gives it back. */
  void releaseRoom(final EvdImpl evd) {
    final Room room;
    synchronized (this) {
      room = rooms.get(evd);
      if (--room.endpoints > 0) {
        return;
      }
      rooms.remove(evd);
    }
    giveRoom(evd, room);
  }

  private void giveRoom(final EvdImpl evd, final Room room) {
    room.feed.giveRoom(room.receives + WorkQueue.MARKERS);
    evd.room().release(room.receives);
  }

  // Resizing.

  @Override
  public void resize(final int receives) {
    ia.limits().checkSrqReceives(receives, 1, name + ".resize");
    beginResize();
    try {
      ia.limits().checkCapability(Capability.SRQ_RESIZE, name, "resize");
      if (receives > maxReceives) {
        grow(receives);
      } else {
        shrink(receives);
      }
    } finally {
      endResize();
    }
  }

  private synchronized void beginResize() {
    checkOpen("resize");
    if (resizing) {
      throw Misuse.state(ReturnSubtype.NO_SUBTYPE, name + ".resize: it is being resized");
    }
    resizing = true;
  }

  private synchronized void endResize() {
    resizing = false;
  }

  private void grow(final int to) {
    final int from = maxReceives;
    resizeRooms(to); // first: a receive that is taken must have room
    boolean done = false;
    try {
      resizeQueue(to);
      lockUnlessStuck("resize");
      try {
        addSlots(to);
        maxReceives = to;
      } finally {
        guard.unlock();
      }
      done = true;
    } finally {
      if (!done) {
        resizeRooms(from);
      }
    }
  }

  private void shrink(final int to) {
    final int from = maxReceives;
    lockUnlessStuck("resize");
    try {
      if (openReceives.get() > to || watermark.get() > to) {
        throw Misuse.state(
            ReturnSubtype.NO_SUBTYPE,
            name
                + ".resize to "
                + to
                + ": "
                + openReceives
                + " receives are open, and the low watermark is "
                + watermark);
      }
      maxReceives = to;
    } finally {
      guard.unlock();
    }
    boolean done = false;
    try {
      resizeQueue(to);
      done = true;
    } finally {
      if (!done) {
        maxReceives = from;
      }
    }
    resizeRooms(to);
  }

  private void resizeQueue(final int to) {
    try {
      queue.resize(to);
    } catch (final VerbsException e) {
      checkOpen("resize"); // a close may have come between
      throw Misuse.failed(name + ".resize to " + to, e, ReturnSubtype.RESOURCE_SRQ);
    }
  }

  /** All rooms become of a size, or stay as they are. */
  private synchronized void resizeRooms(final int to) {
    final Map<EvdImpl, Room> changed = new HashMap<>();
    boolean done = false;
    try {
      rooms.forEach(
          (evd, room) -> {
            evd.room().resizeReserved(room.feed, room.receives, to, name + ".resize to " + to);
            final Room other = new Room(room.feed, to);
            other.endpoints = room.endpoints;
            changed.put(evd, other);
          });
      done = true;
    } finally {
      if (!done) {
        changed.forEach((evd, room) -> evd.room().resizeReserved(room.feed, to, roomFor, name));
      }
    }
    rooms.putAll(changed);
    roomFor = to;
  }

  // The watermark.

  @Override
  public void lowWatermark(final int receives) {
    if (receives < 0 || receives > maxReceives) {
      throw Misuse.argument(
          1, name + ".lowWatermark: " + receives + " is not within 0.." + maxReceives);
    }
    checkOpen("lowWatermark");
    final int before = watermark.getAndSet(receives);
    try {
      queue.armLimit(receives);
    } catch (final Throwable e) {
      watermark.compareAndSet(receives, before); // the device still has that one
      checkOpen("lowWatermark"); // a close may have come between
      throw Misuse.failed(name + ".lowWatermark of " + receives, e);
    } finally { // refused or not: what completed meanwhile was compared with the new one
      if (openReceives.get() < watermark.get()) { // a device may look only when one is taken
        tellFirst();
      }
    }
  }

  @Override
  public int lowWatermark() {
    return watermark.get();
  }

  /** The device says that fewer receives are left than asked for. From any thread. */
  void onLowWatermark() {
    if (told.getAndUpdate(before -> Math.max(0, before - 1)) == 0) {
      tell();
    }
  }

  /**
   * Tells before the device does. Its word comes later or never, and must not count for the next
   * watermark, which may be set at once; if another one is dropped for it, {@link #complete} tells.
   */
  private void tellFirst() {
    told.incrementAndGet();
    if (!tell()) {
      told.decrementAndGet();
    }
  }

  /** Tells once for each time asked. */
  private boolean tell() {
    final boolean isAsked = watermark.getAndSet(0) > 0;
    if (isAsked) {
      ia.asyncErrors()
          .report(
              asyncSlot,
              AsyncEvent.Kind.SRQ_LOW_WATERMARK,
              name + ": few receives are left, post more and set the watermark again");
    }
    return isAsked;
  }

  // Closing.

  @Override
  public void close() {
    close(false);
  }

  /** Closes it whoever uses it: its endpoints were drained or given up. */
  void closeAbruptly() {
    close(true);
  }

  private void close(final boolean abruptly) {
    synchronized (this) {
      if (!abruptly && !users.isEmpty()) {
        throw Misuse.inUse(ReturnSubtype.INVALID_STATE_SRQ_IN_USE, name, users);
      }
      if (closed) {
        return;
      }
      closed = true;
      if (!abruptly) {
        waitForPost();
      }
    }
    if (abruptly) {
      guard.lock(); // a post that found it open is over
      guard.unlock();
    }
    asyncSlot.withdraw(new ArrayList<>());
    try {
      ia.destroy(name, queue::close);
    } finally {
      ia.endpoints().free(tag);
      pz.removeUser(this);
      ia.remove(this);
    }
  }

  /** A post that found it open is over then, or stuck: then it stays open. */
  private void waitForPost() {
    try {
      lockUnlessStuck("close");
    } catch (final DatException e) {
      closed = false;
      throw e;
    }
    guard.unlock();
  }

  private void lockUnlessStuck(final String call) {
    if (!guard.lockUnlessStuck()) {
      throw Misuse.state(
          ReturnSubtype.INVALID_STATE_SRQ_IN_USE,
          name + "." + call + ": a post to it does not return; call it again after that");
    }
  }

  private void checkOpen(final String call) {
    if (closed) {
      throw Misuse.closed(ReturnSubtype.INVALID_HANDLE_SRQ, this, call);
    }
  }

  // What it is.

  @Override
  public int maxIov() {
    return iov;
  }

  @Override
  public int maxReceives() {
    return maxReceives;
  }

  @Override
  public int openReceives() {
    return openReceives.get();
  }
}
