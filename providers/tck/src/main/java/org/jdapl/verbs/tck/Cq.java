package org.jdapl.verbs.tck;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.RearmOutcome;
import org.jdapl.verbs.WorkCompletions;

/** A completion queue, and a record of its notifications. */
final class Cq {

  private static final int SURPLUS = 8;

  final CompletionQueue queue;
  final AtomicInteger notifications = new AtomicInteger();

  /** How often it was armed: where second arms count, each is good for a notification. */
  int arms;

  final AtomicInteger insideVerbs = new AtomicInteger();
  final AtomicInteger deepest = new AtomicInteger();
  final AtomicInteger ofAnother = new AtomicInteger();

  /** What a notification does, beside being counted. */
  volatile Runnable whenNotified = () -> {};

  /** All that was polled so far. */
  final List<Completion> polled = new ArrayList<>();

  private final VerbsTck tck;
  private final AtomicInteger depth = new AtomicInteger();

  Cq(final VerbsTck tck, final Side side, final int entries) {
    this.tck = tck;
    queue = side.device.createCq(entries, this::onNotification);
  }

  private void onNotification(final CompletionQueue of) {
    deepest.accumulateAndGet(depth.incrementAndGet(), Math::max);
    try {
      if (queue != null && of != queue) {
        ofAnother.incrementAndGet();
      }
      if (tck.isInsideVerb()) {
        insideVerbs.incrementAndGet();
      }
      notifications.incrementAndGet();
      whenNotified.run();
    } finally {
      depth.decrementAndGet();
    }
  }

  int arm(final ArmKind kind) {
    arms++;
    final int hint = tck.verb("arm " + kind, () -> queue.arm(kind));
    tck.did("hint " + hint);
    return hint;
  }

  int arm() {
    return arm(ArmKind.NEXT);
  }

  /** Arms, and polls and arms again as long as the declaration asks for it; true if it is armed. */
  boolean armSurely() {
    for (int attempt = 0; attempt < 16; attempt++) {
      if (queue.device().declaration().isArmedAfter(arm())) {
        return true;
      }
      pollAll();
    }
    return false;
  }

  List<Completion> poll(final int max) {
    final WorkCompletions batch = new WorkCompletions(max + SURPLUS);
    final int returned = tck.verb("poll up to " + max, () -> queue.poll(batch, max));
    return taken(batch, returned, max);
  }

  private List<Completion> taken(final WorkCompletions batch, final int returned, final int max) {
    tck.check(
        returned == batch.size() && returned <= max && returned >= 0,
        "P04: poll appends as many as it returns, and at most the " + max + " asked for",
        "returned " + returned + ", appended " + batch.size(),
        "a batch that is filled to its own capacity, not to what was asked for.");
    final List<Completion> now = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      now.add(Completion.of(batch, i));
    }
    polled.addAll(now);
    tck.did("took " + now);
    return now;
  }

  /** Polls until it is empty. */
  List<Completion> pollAll() {
    final List<Completion> all = new ArrayList<>();
    List<Completion> some = poll(16);
    while (!some.isEmpty()) {
      all.addAll(some);
      some = poll(16);
    }
    return all;
  }

  /** Polls until so many came since the start. */
  void awaitPolled(final int count, final String often) {
    tck.await(quietly(count), count + " completions", () -> polled, often);
  }

  /** Polls without a step for each time. */
  private BooleanSupplier quietly(final int count) {
    final WorkCompletions batch = new WorkCompletions(16 + SURPLUS);
    return () -> {
      batch.clear();
      final int returned = queue.poll(batch, 16);
      if (returned != 0 || batch.size() != 0) {
        taken(batch, returned, 16);
      }
      return polled.size() >= count;
    };
  }

  RearmOutcome pollAndRearm(final Form form, final int max) {
    final WorkCompletions batch = new WorkCompletions(max + SURPLUS);
    final RearmOutcome outcome =
        tck.verb(
            "pollAndRearm up to " + max,
            () -> form.of(queue).pollAndRearm(batch, max, ArmKind.NEXT));
    final int found = batch.size();
    tck.did(outcome.toString());
    taken(batch, found, max);
    final boolean right =
        switch (outcome) {
          case SUCCESS -> found <= max;
          case COMPLETED, POLL_NEEDED -> found >= 1 && found <= max;
          case NOT_DONE -> found == 0;
        };
    tck.check(
        right,
        "A08's table: SUCCESS 1..m, COMPLETED 1..m, POLL_NEEDED 1..m, NOT_DONE 0; asked for " + max,
        outcome + " with " + found,
        "the queue was not empty when it was looked at after the arm, and what was found there was"
            + " not taken along.");
    return outcome;
  }

  /**
   * Drains and arms as the table says, until it says stop.
   *
   * @return whether it did; false if it never armed, which is legal for a while.
   */
  boolean drain(final Form form, final int max) {
    for (int turn = 0; turn < 64; turn++) {
      switch (pollAndRearm(form, max)) {
        case COMPLETED, NOT_DONE -> {
          return true;
        }
        case POLL_NEEDED -> {
          pollAll();
          return true;
        }
        case SUCCESS -> {}
      }
    }
    return false;
  }

  void awaitNotification(final int count, final String often) {
    tck.await(
        () -> notifications.get() >= count,
        "notification " + count + " of the armed queue",
        () ->
            notifications
                + " notifications; and the queue has these, which nobody was told of: "
                + pollAll(),
        often);
  }

  /** Destroys it. */
  void close() {
    tck.verb(
        "destroy the completion queue",
        () -> {
          queue.close();
          return null;
        });
  }
}
