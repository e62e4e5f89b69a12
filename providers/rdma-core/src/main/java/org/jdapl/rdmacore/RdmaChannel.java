package org.jdapl.rdmacore;

import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jdapl.rdmacore.jni.Layout;
import org.jdapl.rdmacore.jni.Poller;
import org.jdapl.rdmacore.jni.Verbs;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.VerbsException;

/**
 * A channel: epoll over the descriptors of its devices, and an eventfd that wakes it. It has no
 * thread; events are taken off the descriptors, acknowledged, and handed to handlers in {@link
 * #await}.
 */
final class RdmaChannel implements EventChannel {

  /** Where events come from: something with a descriptor, or that was posted. */
  interface Source {
    /**
     * Takes what is there, and calls the handlers.
     *
     * @return the number of handler calls made.
     */
    int drain();
  }

  private static final String NAME = "event channel";
  private static final long WAKE_TAG = 0;

  private final Registry sources = new Registry();
  private final Queue<Source> posted = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean woken = new AtomicBoolean();
  private final ByteBuffer tags = Layout.allocate(Poller.MAX * Long.BYTES);
  private final long tagsAddress = Verbs.address(tags);
  private final int epoll;
  private final int wakeup;

  // Under the monitor of this object.
  private int devices;
  private boolean awaiting;
  private volatile boolean closed;

  RdmaChannel() {
    epoll = check("epoll_create", Poller.create());
    int event = -1;
    try {
      event = check("eventfd", Poller.createWakeup());
      check("epoll_ctl", Poller.add(epoll, event, WAKE_TAG));
    } catch (final VerbsException e) {
      if (event >= 0) {
        Poller.close(event);
      }
      Poller.close(epoll);
      throw e;
    }
    wakeup = event;
  }

  private static int check(final String verb, final int result) {
    return Results.check(result, verb, NAME, "a channel needs two file descriptors; see ulimit -n");
  }

  // Of devices, from any thread.

  synchronized void opened() {
    checkOpen("open_device");
    devices++;
  }

  synchronized void closed() {
    devices--;
  }

  /**
   * Looks at a descriptor from now on.
   *
   * @return the tag for {@link #remove}.
   */
  long add(final int fd, final Source source, final String owner) {
    Results.check(Poller.setNonBlocking(fd), "fcntl", owner, "descriptor " + fd);
    final long tag = sources.add(source);
    final int result = Poller.add(epoll, fd, tag);
    if (result < 0) {
      sources.remove(tag);
      Results.check(result, "epoll_ctl", owner, "descriptor " + fd);
    }
    return tag;
  }

  /** Does not look at a descriptor any more. */
  void remove(final long tag, final int fd) {
    sources.remove(tag);
    Poller.remove(epoll, fd);
  }

  /** Does not look at a descriptor any more that is broken; {@link #remove} may still follow. */
  void ignore(final int fd) {
    Poller.remove(epoll, fd);
  }

  /** Has something done in {@link #await}, soon. */
  void post(final Source call) {
    posted.add(call);
    wakeup();
  }

  // The channel.

  @Override
  public int await(final long timeoutNanos) {
    synchronized (this) {
      checkOpen("await");
      if (awaiting) {
        throw new VerbsException(
            "await", NAME, VerbsException.EBUSY, "another thread awaits here; one may at a time");
      }
      awaiting = true;
    }
    try {
      return deliver(timeoutNanos);
    } finally {
      synchronized (this) {
        awaiting = false;
      }
    }
  }

  private int deliver(final long timeoutNanos) {
    final int ready = Poller.await(epoll, tagsAddress, posted.isEmpty() ? millis(timeoutNanos) : 0);
    Results.check(ready, "epoll_wait", NAME, "");
    int made = 0;
    Throwable failure = null;
    for (int i = 0; i < ready; i++) {
      final long tag = tags.getLong(i * Long.BYTES);
      if (tag == WAKE_TAG) {
        Poller.clearWakeup(wakeup);
        woken.set(false); // who finds it set until here is answered by the end of this await
      } else if (sources.find(tag) instanceof Source source) {
        try {
          made += source.drain();
        } catch (final RuntimeException | Error e) {
          failure = Results.first(failure, e);
        }
      }
    }
    for (int left = posted.size(); left > 0; left--) { // not what its own handlers post
      final Source call = posted.poll();
      if (call == null) {
        break;
      }
      try {
        made += call.drain();
      } catch (final RuntimeException | Error e) {
        failure = Results.first(failure, e);
      }
    }
    Results.rethrow(failure);
    return made;
  }

  /** What epoll counts in: never less than asked for, for a wait of 0 would spin. */
  private static int millis(final long nanos) {
    if (nanos <= 0) {
      return 0;
    }
    final long millis = TimeUnit.NANOSECONDS.toMillis(nanos - 1) + 1;
    return (int) Math.min(Integer.MAX_VALUE, millis);
  }

  @Override
  public void wakeup() {
    if (!closed && woken.compareAndSet(false, true)) {
      synchronized (this) { // the descriptor may be closed, and be another's
        if (!closed) {
          if (Poller.wake(wakeup) < 0) {
            woken.set(false); // the next one tries again
          }
        }
      }
    }
  }

  private void checkOpen(final String verb) {
    if (closed) {
      throw new VerbsException(verb, NAME, VerbsException.EINVAL, "the channel is closed");
    }
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    if (devices > 0 || awaiting) {
      throw new VerbsException(
          "destroy_comp_channel",
          NAME,
          VerbsException.EBUSY,
          awaiting
              ? "a thread awaits in it; wake it up, and close when it returned"
              : devices + " open devices deliver in it; close them first");
    }
    closed = true;
    Poller.close(wakeup);
    Poller.close(epoll);
  }

  @Override
  public String toString() {
    return NAME + (closed ? " (closed)" : " of " + devices + " devices");
  }
}
