package org.jdapl.evd;

import java.util.List;
import java.util.stream.Stream;
import org.jdapl.evd.Mistake.Edit;

/** Mistakes that are races, each with a race that must show it. */
@SuppressWarnings("StringConcatToTextBlock") // code, a line a string
final class RaceMistakes {

  /**
   * A mistake.
   *
   * @param story what is wrong.
   * @param race shows it.
   * @param edits how the code is broken.
   */
  record Planted(String story, String race, List<Edit> edits) {
    @Override
    public String toString() {
      return story;
    }
  }

  private RaceMistakes() {}

  static Stream<Planted> all() {
    return Stream.concat(ofTheContract(), more());
  }

  /** Those of {@link Mistakes} that are races. */
  private static Stream<Planted> ofTheContract() {
    return Stream.of(
        known("U01", "a signal during a turn makes a second token", "POLICY x POLICY"),
        known("U04", "is not scheduled again", "POLICY x DEQUEUE"),
        known("U05", "NOTIFY goes on telling", "NOTIFY x NOTIFY"),
        known("U05", "MANY runs one more than its limit", "MANY x TURN"),
        known("U05", "teardown does not wait for the running upcall", "TEARDOWN x TEARDOWN"),
        known("U09", "a queued upcall runs although", "POLICY x TEARDOWN"));
  }

  /** Those that schedules by priorities show. */
  static Stream<Planted> byPriorities() {
    return Stream.of(
        known("U03", "going idle forgets what was signalled since", "SIGNAL x SIGNAL"),
        known("A03", "is swallowed by a plain store", "SIGNAL x SIGNAL"),
        known("T07", "closes its completion queues there", "CLOSE x CLOSE"));
  }

  private static Planted known(final String rule, final String story, final String race) {
    final List<Mistake> found =
        Mistakes.all().filter(m -> m.rule().equals(rule) && m.story().contains(story)).toList();
    if (found.size() != 1) {
      throw new IllegalStateException(rule + " \"" + story + "\" names " + found);
    }
    return new Planted(found.get(0).toString(), race, found.get(0).edits());
  }

  private static Stream<Planted> more() {
    return Stream.of(
        new Planted(
            "going idle is a plain store: what was signalled since is forgotten",
            "POST x TURN",
            List.of(
                new Edit(
                    "EvdState.java",
                    "case END -> (s & (WORK | CONTROL)) != 0 ? s : s & ~(TURN | UPCALL);",
                    "case END -> s & ~(TURN | UPCALL | WORK | CONTROL);"),
                new Edit(
                    "EvdImpl.java", "    resume();\n    return false;\n", "    return true;\n"))),
        planted(
            "a turn takes the handler of a policy that is not set yet",
            "POLICY x TURN",
            "EvdUpcalls.java",
            "return policy == (state & EvdState.CONCURRENCY) ? events : null;",
            "return events;"),
        planted(
            "two take the turn: TAKE does not look whether it is held",
            "DEQUEUE x DEQUEUE",
            "EvdState.java",
            "return (s & TURN) != 0 ? BUSY : (s | TURN) &",
            "return (s | TURN) &"),
        planted(
            "bits are cleared after the look, not before",
            "POST x TURN",
            "EvdUpcalls.java",
            "looked = true; // once for an event: what is in the lane may be held back\n"
                + "        } else if (evd.end()) {",
            "looked = true; // once for an event: what is in the lane may be held back\n"
                + "        } else if (state.apply(EvdState.RESUME, 0) >= 0 && evd.end()) {"),
        planted(
            "the last upcall of MANY schedules nobody",
            "POLICY x MANY",
            "EvdState.java",
            "case DONE -> schedule(s - ONE_RUNNING);",
            "case DONE -> s - ONE_RUNNING;"),
        planted(
            "a policy change schedules nobody",
            "POLICY x DEQUEUE",
            "EvdState.java",
            ": schedule((s & ~CONCURRENCY) | argument);",
            ": (s & ~CONCURRENCY) | argument;"),
        planted(
            "who waits for quiet looks first, and adds itself then",
            "TEARDOWN x TEARDOWN",
            "EvdImpl.java",
            "    quietWaiters.add(action);\n    checkQuiet();",
            "    checkQuiet();\n    if (!EvdState.isQuiet(state.get())) {\n"
                + "      quietWaiters.add(action);\n    } else {\n      action.run();\n    }"),
        planted(
            "a close does not wait for a poster between its count and its offer",
            "CLOSE x CLOSE",
            "Lane.java",
            "return waiting((long) WORD.getAndBitwiseOr(this, CLOSED)) == 0;",
            "return waiting((long) WORD.getAndBitwiseOr(this, CLOSED)) >= 0;"),
        planted(
            "a post does not see that the lane was closed meanwhile",
            "CLOSE x CLOSE",
            "Lane.java",
            "if (before < 0) {",
            "if (before < 0 && before > 0) {"),
        planted(
            "one EVD of an endpoint is told that an upcall returned, not each",
            "ENDPOINT_CLOSE x TURN",
            "EndpointDrain.java",
            "      evd.control(() -> {});\n",
            "      evd.control(() -> {});\n      break;\n"),
        planted(
            "two first posts make a queue each",
            "POST x POST",
            "Lane.java",
            "QUEUE.compareAndSet(this, NONE, newQueue());",
            "queue = newQueue();"),
        planted(
            "a post is told of before it is in the lane",
            "POST x POST",
            "EvdImpl.java",
            "    if (!lane.offerSoftware(payload)) {\n"
                + "      checkOpen(\"postSoftwareEvent\");\n"
                + "      return Outcome.QUEUE_FULL;\n"
                + "    }\n"
                + "    signal(EvdState.LANE);\n",
            "    signal(EvdState.LANE);\n"
                + "    if (!lane.offerSoftware(payload)) {\n"
                + "      checkOpen(\"postSoftwareEvent\");\n"
                + "      return Outcome.QUEUE_FULL;\n"
                + "    }\n"),
        planted(
            "a waiter falls asleep by a plain store: what was signalled since wakes nobody",
            "POST x AWAIT",
            "EvdState.java",
            "case SLEEP -> (s & (WORK | CONTROL)) == 0 && (s & WAITER) != 0 ? s | ASLEEP : s;",
            "case SLEEP -> s | ASLEEP;"),
        new Planted(
            "who may not wait any more is told by a mark, which is gone when it looks",
            "AWAIT x UNWAITABLE",
            List.of(
                new Edit(
                    "EvdState.java",
                    "(s & ~(WAITER | ASLEEP)) | UNWAITABLE",
                    "(s & ~ASLEEP) | UNWAITABLE"),
                new Edit(
                    "ConsumerTurn.java",
                    "if ((state.get() & EvdState.WAITER) == 0) {",
                    "if ((state.get() & EvdState.UNWAITABLE) != 0) {"))),
        planted(
            "a waiter that returns schedules nobody",
            "AWAIT x CLOSE",
            "EvdState.java",
            "case RETURN -> schedule((s & ~(TURN | WAITER | ASLEEP)) | argument);",
            "case RETURN -> (s & ~(TURN | WAITER | ASLEEP)) | argument;"),
        planted(
            "a move that finds no turn is done at once, before those that wait for one",
            "MOVE x MOVE",
            "EvdImpl.java",
            "    control(() -> dispatcher = to);",
            "    if ((state.get() & EvdState.TURN) == 0) {\n"
                + "      dispatcher = to;\n"
                + "      return;\n"
                + "    }\n"
                + "    control(() -> dispatcher = to);"),
        planted(
            "a move is left to who holds the turn, who has looked already",
            "POST x MOVE",
            "EvdImpl.java",
            "    control(() -> dispatcher = to);",
            "    controls.add(() -> dispatcher = to);\n"
                + "    if ((state.get() & EvdState.TURN) == 0) {\n"
                + "      signal(EvdState.CONTROL);\n"
                + "    }"),
        planted(
            "a dispatcher leaves the token of an EVD that was moved since it was published",
            "AWAIT x MOVE",
            "EvdImpl.java",
            "    final long before = state.apply(EvdState.POP, 0);",
            "    if (by != dispatcher) {\n"
                + "      return;\n"
                + "    }\n"
                + "    final long before = state.apply(EvdState.POP, 0);"),
        planted(
            "a resize forgets what was posted since it looked",
            "POST x RESIZE",
            "Lane.java",
            "(long) length << LENGTH_SHIFT;\n        if (WORD.compareAndSet(this, before, after)) {",
            "(long) length << LENGTH_SHIFT;\n        word = after;\n        if (word < 0 || word >= 0) {"),
        planted(
            "two resize at once: the lane gets the length of one, the EVD that of the other",
            "RESIZE x RESIZE",
            "EvdRoom.java",
            "    synchronized (this) {\n      final int from = length;\n",
            "    {\n      final int from = length;\n"),
        planted(
            "a dispatcher looks, and announces itself as sleeper then",
            "POST x SLEEP",
            "IdleWait.java",
            "      sleeper.set(Thread.currentThread());\n"
                + "      if (!isWorkThere(sequence, cursor)) {\n",
            "      if (!isWorkThere(sequence, cursor)) {\n"
                + "        sleeper.set(Thread.currentThread());\n"),
        planted(
            "a token that any dispatcher may take wakes none",
            "MANY x SLEEP",
            "Dispatcher.java",
            "more tokens than EVDs at \" + evd);\n    }\n    wakeOne();",
            "more tokens than EVDs at \" + evd);\n    }"),
        planted(
            "the reaper does not look for timers once more before it sleeps",
            "TASK x SLEEP",
            "Reaper.java",
            "if (newTimers.isEmpty() && !stopped) {",
            "if (!stopped) {"),
        planted(
            "the reaper does not look for tasks once more before it sleeps",
            "TASK x SLEEP",
            "Reaper.java",
            "if (tasks.isEmpty() && !stopped) {",
            "if (!stopped) {"));
  }

  private static Planted planted(
      final String story,
      final String race,
      final String file,
      final String right,
      final String wrong) {
    return new Planted(story, race, List.of(new Edit(file, right, wrong)));
  }
}
