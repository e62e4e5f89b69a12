package org.jdapl.examples.stress;

import static org.jdapl.dat.EventStream.CONNECTION;
import static org.jdapl.dat.EventStream.CONNECTION_REQUEST;
import static org.jdapl.dat.EventStream.DTO;
import static org.jdapl.dat.EventStream.SOFTWARE;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EvdStatistics;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.SoftwareEvent;

/** An EVD that takes everything, and its consumer, whose policy changes all the time. */
final class Station {

  /** How the consumer behaves. */
  enum Habit {
    /** As a consumer should. */
    PLAIN,
    /** It holds its turn for a while at every 1000th event. */
    SLOW,
    /** It throws at every 1000th event. */
    THROWING,
    /** Its EVD takes software events only, and is closed in the middle. */
    CLOSING
  }

  /** A software event: who posted it, and its number among those of this poster to this station. */
  record Tick(int poster, long number) {}

  private static final int LENGTH = 2048;
  private static final int MANY = 3;
  private static final int SPECIAL = 1000;
  private static final long HOLD = TimeUnit.MILLISECONDS.toNanos(1);

  final String name;
  private final Side side;
  private final Habit habit;
  private final Account account;
  private final Ledger ledger;
  private final Evd evd;
  private final AtomicLong delivered = new AtomicLong();
  private final AtomicLong thrown = new AtomicLong();
  private final AtomicInteger upcalls = new AtomicInteger();

  /** Posted by each poster. Its element is written by that poster only. */
  final long[] posted;

  private final EventHandler single = new Consumer(1);
  private final EventHandler many = new Consumer(MANY);
  private final EventHandler dequeuer = new Consumer(0);

  Station(final Side side, final Habit habit, final int posters) {
    this.side = side;
    this.habit = habit;
    account = side.account();
    final InterfaceAdapter ia = side.ia();
    evd =
        habit == Habit.CLOSING
            ? ia.createEvd(LENGTH, SOFTWARE)
            : ia.createEvd(LENGTH, DTO, CONNECTION, CONNECTION_REQUEST, SOFTWARE);
    name = evd.name();
    ledger = new Ledger(name, account, posters, side.connections());
    posted = new long[posters];
    evd.upcall(single);
  }

  Evd evd() {
    return evd;
  }

  /** Posts the next software event of a poster. */
  Outcome post(final int poster) {
    final Outcome outcome = evd.postSoftwareEvent(new Tick(poster, posted[poster]));
    if (outcome == Outcome.SUCCESS) {
      posted[poster]++;
      account.software.posted.increment();
    }
    return outcome;
  }

  // Policies. By one thread, and by the consumer inside of its upcall.

  void single(final Invoke when) {
    evd.upcall(single, Concurrency.SINGLE_INSTANCE, when);
  }

  void many(final Invoke when) {
    evd.upcall(many, Concurrency.many(MANY), when);
  }

  /** One upcall, which takes some events and enables the next one. */
  void notifyOnce(final Invoke when, final int rounds) {
    evd.notifyOnce(
        ready -> {
          enter(1);
          dequeue(100);
          upcalls.decrementAndGet();
          try {
            if (rounds > 1) {
              notifyOnce(Invoke.ON_ANY, rounds - 1);
            } else {
              single(Invoke.ON_ANY);
            }
          } catch (final DatException e) {
            account.refused(e); // it was closed meanwhile
          }
        },
        when);
  }

  void disable(final boolean wait) {
    if (wait) {
      evd.teardown();
    } else {
      evd.disable();
    }
  }

  /** Takes events, if it is allowed at this moment. From any thread. */
  void dequeue(final int limit) {
    try {
      account.dequeued.add(evd.drain(dequeuer, limit));
    } catch (final DeliberateFailure e) {
      account.dequeued.increment(); // at least the one that it threw at
    } catch (final DatException e) {
      account.refused(e);
    }
  }

  // Events.

  private final class Consumer implements EventHandler {

    /** How many upcalls may run at once; 0 for a dequeue. */
    private final int most;

    Consumer(final int most) {
      this.most = most;
    }

    @Override
    public void onEvent(final Event event) {
      final long count = delivered.incrementAndGet();
      enter(most);
      try {
        take(event);
        if (count % SPECIAL == 0) {
          beSpecial(most > 0);
        }
      } finally {
        if (most > 0) {
          upcalls.decrementAndGet();
        }
      }
    }

    private void take(final Event event) {
      try {
        record(event);
        side.handle(event);
      } catch (final RuntimeException e) {
        account.breach(name + ": its handler failed at " + event + ": " + e);
      }
    }
  }

  private void record(final Event event) {
    switch (event.stream()) {
      case SOFTWARE -> {
        final Tick tick = (Tick) ((SoftwareEvent) event).payload();
        ledger.record(event.sequence(), Ledger.NUMBER, tick.poster, 0, tick.number);
        account.software.delivered.increment();
      }
      case DTO -> {
        Side.record((DtoCompletion) event, ledger);
        account.dto.delivered.increment();
      }
      case CONNECTION -> {
        side.record((ConnectionEvent) event, ledger);
        account.connection.delivered.increment();
      }
      default -> {
        ledger.record(event.sequence(), Ledger.OTHER, 0, 0, 0);
        account.request.delivered.increment();
      }
    }
  }

  private void enter(final int most) {
    if (most > 0) {
      final int running = upcalls.incrementAndGet();
      if (running > most) {
        account.breach(name + ": " + running + " upcalls at once where " + most + " may run");
      }
    }
  }

  private void beSpecial(final boolean inUpcall) {
    switch (habit) {
      case SLOW -> LockSupport.parkNanos(HOLD);
      case THROWING -> {
        account.thrown.increment();
        if (inUpcall) {
          thrown.incrementAndGet();
        }
        throw new DeliberateFailure();
      }
      default -> {}
    }
  }

  /** What a throwing consumer throws. */
  static final class DeliberateFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    DeliberateFailure() {
      super("thrown on purpose at every 1000th event", null, false, false);
    }
  }

  // The end.

  /** Closes the EVD, with what is in it. */
  void close(final Duration bound) throws Exception {
    final DrainReport report = evd.closeAsync(bound).toCompletableFuture().get();
    if (!report.complete()) {
      account.breach(name + ": its close did not end within " + bound + ": " + evd);
    }
    account.closedEvds.increment();
    final EvdStatistics statistics = evd.statistics();
    long sequence = statistics.events();
    // A dequeue that was under way may still be at its handler.
    if (!Arena.reached(() -> ledger.check() == statistics.events())) {
      account.breach(
          "%s: %d events came, %d of them without a gap, and it counted %d"
              .formatted(name, delivered.get(), ledger.check(), statistics.events()));
    }
    if (statistics.failures() != thrown.get()) {
      account.breach(
          name + ": its handler failed " + statistics.failures() + " times, and threw " + thrown);
    }
    account.wakes.add(statistics.wakes());
    for (final Event event : report.events()) {
      switch (event.stream()) {
        case SOFTWARE -> {
          // They follow those that came, in order.
          final Tick tick = (Tick) ((SoftwareEvent) event).payload();
          ledger.record(sequence++, Ledger.NUMBER, tick.poster, 0, tick.number);
          account.software.reported.increment();
        }
        case CONNECTION -> account.connection.reported.increment();
        case CONNECTION_REQUEST -> {
          account.request.posted.increment();
          account.request.reported.increment();
        }
        default -> account.breach(name + ": its report has " + event);
      }
    }
    ledger.check();
  }
}
