package org.jdapl.evd;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jdapl.sim.SimModel;
import org.jdapl.tck.Bench;
import org.jdapl.verbs.ArmModel;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.LastWqe;
import org.jdapl.verbs.NotificationConcurrency;
import org.jdapl.verbs.SecondArm;
import org.jdapl.verbs.SolicitedSupport;
import org.jdapl.verbs.VerbsProvider;

/** A model to run the contract tests over, and how. */
record SimCase(
    boolean virtual, SimModel model, Notification notification, int dispatchers, long seed) {

  private static final long LATENCY = 2_000;
  private static final long LATE = 50_000;

  private static volatile String wanted = System.getProperty("jdapl.case", "");

  /** How the device tells of completions. */
  private enum Push {
    SERIAL,
    INSIDE_VERBS,
    CONCURRENT,
    CHANNEL;

    SimModel of(final SimModel model) {
      return switch (this) {
        case SERIAL -> model;
        case INSIDE_VERBS -> model.withNotifiesInsideVerbs(true);
        case CONCURRENT -> model.withConcurrency(NotificationConcurrency.CONCURRENT);
        case CHANNEL -> model.withDelivery(Delivery.CHANNEL);
      };
    }
  }

  /** What becomes of notifications on their way. */
  enum Notification {
    ON_TIME,
    /** Whenever a queue notifies, the others do, though there is nothing in them yet. */
    EARLY,
    /** They come long after what they tell of, and after more. */
    LATE,
    DOUBLED;

    VerbsProvider of(final VerbsProvider provider) {
      return this == ON_TIME || this == LATE
          ? provider
          : new NotifyingProvider(provider) {
            @Override
            void onNotification(final Queue queue, final List<Queue> all) {
              if (Notification.this == EARLY) {
                all.forEach(Queue::tell);
              } else {
                queue.tell();
                queue.tell();
              }
            }
          };
    }
  }

  /** A choice for each kind of behaviour. */
  private record Choice(
      ArmModel arm, SimModel.Hint hint, Push push, SecondArm second, Notification notification) {

    SimModel model() {
      final SolicitedSupport solicited =
          switch (second) {
            case IGNORED, UNKNOWN -> SolicitedSupport.FULL;
            case COUNTED -> SolicitedSupport.NO_ERRORS;
            case OVERWRITES -> SolicitedSupport.UNSUPPORTED;
          };
      final LastWqe lastWqe =
          switch (hint) {
            case NONE, WITHOUT_ARM -> LastWqe.REPORTED;
            case EXACT -> LastWqe.NEVER;
            case MAYBE -> LastWqe.UNKNOWN;
          };
      return push.of(
          SimModel.DEFAULT
              .withArm(arm)
              .withHint(hint)
              .withSecondArm(second)
              .withLastWqe(lastWqe)
              .withSolicited(solicited));
    }

    SimCase onVirtualTime() {
      final long latency = notification == Notification.LATE ? LATE : LATENCY;
      return new SimCase(
          true,
          model().withLatency(0, latency).withCmLatency(0, 3 * LATENCY),
          notification,
          1,
          Long.getLong("jdapl.seed", 42));
    }

    SimCase withThreads() {
      final SimModel noWaits = model().withLastWqe(LastWqe.REPORTED); // on real time they are long
      return new SimCase(false, noWaits, Notification.ON_TIME, 2, 0);
    }
  }

  /** A sample in which each two choices meet; -Djdapl.models=all takes every combination. */
  static Stream<SimCase> virtualTime() {
    return everyVirtualTime().filter(SimCase::isWanted);
  }

  /** Those that are not wanted, too. */
  static Stream<SimCase> everyVirtualTime() {
    return choices("all".equals(System.getProperty("jdapl.models"))).map(Choice::onVirtualTime);
  }

  /** Of the sample every second one, with threads. */
  static Stream<SimCase> realTime() {
    return withThreads(2);
  }

  /** All on virtual time, and with threads every fifth of the sample. */
  static Stream<SimCase> all() {
    return Stream.concat(virtualTime(), withThreads(5));
  }

  private static Stream<SimCase> withThreads(final int step) {
    final AtomicInteger index = new AtomicInteger();
    return choices(false)
        .map(Choice::withThreads)
        .filter(SimCase::isWanted)
        .filter(origin -> index.getAndIncrement() % step == 0);
  }

  /** Leaves those whose name has that text; at first it is that of -Djdapl.case=TEXT. */
  static void want(final String text) {
    wanted = text;
  }

  private boolean isWanted() {
    return toString().contains(wanted);
  }

  /** Each arm with each hint and each push: with all of the others, or one of each in turn. */
  private static Stream<Choice> choices(final boolean all) {
    final List<SecondArm> seconds =
        List.of(SecondArm.IGNORED, SecondArm.COUNTED, SecondArm.OVERWRITES);
    final List<Notification> notifications = List.of(Notification.values());
    final List<Choice> choices = new ArrayList<>();
    int turn = 0;
    for (final ArmModel arm : ArmModel.values()) {
      for (final SimModel.Hint hint : SimModel.Hint.values()) {
        for (final Push push : Push.values()) {
          final int second = turn % seconds.size();
          final int notification = (turn + turn / notifications.size()) % notifications.size();
          for (final SecondArm s : all ? seconds : seconds.subList(second, second + 1)) {
            for (final Notification n :
                all ? notifications : notifications.subList(notification, notification + 1)) {
              choices.add(new Choice(arm, hint, push, s, n));
            }
          }
          turn++;
        }
      }
    }
    return choices.stream();
  }

  Bench open() {
    return new SimBench(this);
  }

  @Override
  public String toString() {
    return (virtual ? "virtual time, seed " + seed : "threads")
        + ", "
        + model
        + (virtual ? " notifications=" + notification : "");
  }
}
