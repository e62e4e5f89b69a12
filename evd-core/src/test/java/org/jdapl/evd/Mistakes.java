package org.jdapl.evd;

import java.util.stream.Stream;

/** The mistakes to plant: at least one for each rule that this module keeps. */
@SuppressWarnings("StringConcatToTextBlock") // code, a line a string
final class Mistakes {

  private Mistakes() {}

  static Stream<Mistake> all() {
    return Stream.of(
            events(),
            upcalls(),
            upcallsWithThreads(),
            waiting(),
            waitingWithThreads(),
            merge(),
            arming(),
            teardown(),
            states(),
            connections(),
            posts(),
            retries(),
            sharedReceives(),
            windows(),
            errors(),
            registry())
        .flatMap(mistakes -> mistakes);
  }

  private static Stream<Mistake> events() {
    return Stream.of(
        Mistake.of(
            "E01",
            "the event at hand is taken when the policy changed meanwhile, and lost",
            "EvdUpcalls.java",
            "          || budget == 0\n          || merger.isTired()) {",
            "          || budget == 0\n"
                + "          || merger.isTired()) {\n"
                + "        merger.next(handout);"),
        Mistake.of(
                "E01",
                "a connection event is in the reports of its endpoint and of its EVD",
                "ConnectionEventImpl.java",
                "    return null; //",
                "    return this; //")
            .with("ConnectionGate.java", "    evd.merger().forgetGone();\n", ""),
        Mistake.of(
                "E04",
                "a post without memory counts",
                "Lane.java",
                "        countedBy.undo();\n",
                "")
            .foundBy("aPostWithoutMemory"),
        Mistake.of(
            "E05",
            "an event of an endpoint that is closed stays in its lane",
            "ConnectionGate.java",
            "    evd.merger().forgetGone();\n",
            ""),
        Mistake.of(
            "E02",
            "the newest completion is handed out first",
            "Stash.java",
            "NONE - 1 - at++ : NONE;",
            "NONE - 1 - --end : NONE;"),
        Mistake.of(
            "E11",
            "what is left of a batch is not kept at the end of a turn",
            "EvdImpl.java",
            "    merger.end();\n    if (advanceDrains()",
            "    if (advanceDrains()"),
        Mistake.of(
            "E11",
            "the rest of a batch is kept with the newest completion first",
            "Stash.java",
            "      append(ready, keep(at++));",
            "      prepend(ready, keep(at++));"),
        Mistake.of(
            "E02",
            "what is put in front of the rest of a batch comes behind it",
            "Stash.java",
            "    final int entry = ready.head;\n    if (entry == NONE) {",
            "    final int entry = ready.head;\n    if (entry == NONE || at < end) {"),
        Mistake.of(
            "E03",
            "the numbers of events have gaps",
            "Merger.java",
            "return sequence++;",
            "return sequence += 2;"),
        Mistake.of(
            "E04",
            "a full queue takes one more",
            "Lane.java",
            "if (waiting(before) >= length(before)) {",
            "if (waiting(before) > length(before)) {"),
        Mistake.of(
            "E05",
            "an endpoint that does not fit is let in",
            "EvdRoom.java",
            "completions > length - reserved",
            "completions > length"),
        Mistake.of(
            "E05",
            "a request is free again when it is polled twice over",
            "WorkQueue.java",
            "return posted - completed - (markersPosted - markersCompleted) >= max;",
            "return posted - completed - (markersPosted - markersCompleted) > max;"),
        Mistake.of(
            "E09",
            "events stay usable after the handler returned",
            "Handout.java",
            "    event.release();\n",
            ""),
        Mistake.of(
            "E10",
            "a boxed long for each event",
            "Merger.java",
            "    return sequence++;",
            "    final Long boxed = Long.valueOf(sequence++ + 1000);\n"
                + "    spareNumber = boxed;\n"
                + "    return boxed - 1000;\n"
                + "  }\n"
                + "\n"
                + "  private volatile Object spareNumber;\n"
                + "\n"
                + "  Object spareNumber() {\n"
                + "    return spareNumber;"),
        Mistake.of(
                "E11",
                "the rest of a batch is dropped when the handler disables itself",
                "EvdImpl.java",
                "    apply(EvdState.LEAVE, left());",
                "    merger.forget();\n    apply(EvdState.LEAVE, left());")
            .with(
                "Merger.java",
                "  /** Whether completions wait in the stash. */",
                "  void forget() {\n"
                    + "    int entry;\n"
                    + "    while ((entry = stash.pop()) != Stash.NONE) {\n"
                    + "      stash.release(entry);\n"
                    + "    }\n"
                    + "  }\n\n"
                    + "  /** Whether completions wait in the stash. */"),
        Mistake.of(
            "E11",
            "a turn that ends leaves the rest of its batch to who uses that next",
            "EvdImpl.java",
            "  private long left() {\n    merger.end();\n",
            "  private long left() {\n"),
        Mistake.of(
                "E11",
                "what ON_NEW holds back stays in the batch of who uses that next",
                "Merger.java",
                "    } while (found && --most > 0);\n    stash.keep();\n",
                "    } while (found && --most > 0);\n")
            .with(
                "EvdImpl.java",
                "    merger.end();\n    if (advanceDrains()",
                "    if (advanceDrains()"),
        Mistake.of(
            "E11",
            "a turn that ends over a stash does not say so",
            "EvdImpl.java",
            "(!settled && merger.hasMoreInMemory() ? EvdState.LANE : 0)",
            "0"),
        Mistake.of(
            "E06",
            "a request that found its EVD full is not reported",
            "SpImpl.java",
            "      ia.asyncErrors()\n          .report(\n              evd.asyncSlot(),\n",
            "      java.util.Objects.hash(\n              evd.asyncSlot(),\n"),
        Mistake.of(
            "E06",
            "a request that was refused stays in its adapter",
            "CrImpl.java",
            "final ByteBuffer data) {\n    ia.remove(this);\n",
            "final ByteBuffer data) {\n    if (status == CmHandler.CONSUMER_REJECT) {\n"
                + "      ia.remove(this);\n    }\n"),
        Mistake.of(
            "E07",
            "an object has more than one slot in the async EVD",
            "AsyncSlot.java",
            "      if (event.waitsIn(evd, kind)) {",
            "      if (event.waitsIn(evd, kind) && reason == null) {"),
        Mistake.of(
            "E07",
            "an error of a closed object stays in the async EVD",
            "AsyncEventImpl.java",
            "    waitsIn.control(waitsIn.merger()::forgetGone);\n",
            ""),
        Mistake.of(
            "E08",
            "an EVD is made shorter than what waits in it",
            "Lane.java",
            "        if (waiting(before) > length) {",
            "        if (waiting(before) < 0) {"));
  }

  private static Stream<Mistake> upcalls() {
    return Stream.of(
        Mistake.of(
                "U02",
                "a post runs the turn itself",
                "EvdImpl.java",
                "          dispatcher.ready(this);",
                "          if (Dispatcher.isCurrent()) {\n"
                    + "            dispatcher.ready(this);\n"
                    + "          } else {\n"
                    + "            dispatcher.runHere(this);\n"
                    + "          }")
            .with(
                "Dispatcher.java",
                "  boolean isByHand() {",
                "  void runHere(final EvdImpl evd) {\n"
                    + "    current = CURRENT.get();\n"
                    + "    evd.turn(this);\n"
                    + "  }\n\n"
                    + "  boolean isByHand() {"),
        Mistake.of(
                "U12",
                "the guard is a plain word",
                "EvdState.java",
                "      if (WORD.compareAndSet(this, before, after)) {",
                "      java.util.concurrent.locks.LockSupport.parkNanos(1); // the gap is short\n"
                    + "      if (before >= 0) {\n"
                    + "        word = after;")
            .withThreads(),
        Mistake.of(
                "U03",
                "going idle forgets what was signalled since",
                "EvdState.java",
                "case END -> (s & (WORK | CONTROL)) != 0 ? s : s & ~(TURN | UPCALL);",
                "case END -> s & ~(TURN | UPCALL | WORK | CONTROL);")
            .withThreads(),
        Mistake.of(
            "U03",
            "a completion that came during an upcall waits for a look into the lane",
            "EvdUpcalls.java",
            "!looked && (s & EvdState.CQ) == 0 && comesSoon(by, s)",
            "!looked && comesSoon(by, s)"),
        Mistake.of(
            "U04",
            "a turn whose budget is used up is not scheduled again",
            "EvdState.java",
            "case LEAVE -> schedule((s & ~(TURN | UPCALL)) | argument);",
            "case LEAVE -> (s & ~(TURN | UPCALL)) | argument;"),
        Mistake.of(
            "U05",
            "NOTIFY goes on telling",
            "EvdState.java",
            "case NOTIFIED -> (s & POLICY) == NOTIFY ? s & ~POLICY : s;",
            "case NOTIFIED -> s;"),
        Mistake.of(
            "U06",
            "ON_NEW is taken for ON_ANY",
            "EvdUpcalls.java",
            "    if (when == Invoke.ON_ANY) {",
            "    if (when != null) {"),
        Mistake.of(
            "U06",
            "a notification that brings nothing lets go of what ON_NEW holds back",
            "EvdImpl.java",
            "        settled = !merger.collectNews();",
            "        settled = false;"),
        Mistake.of(
            "U06",
            "ON_NEW arms over old completions",
            "EvdImpl.java",
            "    merger.collect();\n    settled = true;",
            "    settled = true;"),
        Mistake.of(
            "U07",
            "anybody may dequeue while upcalls are enabled",
            "EvdState.java",
            "case TAKE -> {\n        if ((s & (POLICY | CLOSED | UPCALL | RUNNING)) != 0) {",
            "case TAKE -> {\n        if ((s & CLOSED) != 0) {"),
        Mistake.of(
            "U08",
            "a close inside an upcall waits",
            "IaImpl.java",
            "if (!Dispatcher.isCurrent() && !Reaper.isCurrent()) {",
            "if (future != null) {"),
        Mistake.of(
                "U09",
                "a queued upcall runs although the EVD was torn down",
                "EvdState.java",
                "    return policy != DISABLED && (s & RUNNING) == 0;",
                "    return (s & RUNNING) == 0;")
            .with(
                "EvdUpcalls.java",
                "(s & EvdState.POLICY) != EvdState.SINGLE\n          || handler == null",
                "handler == null")
            .with(
                "EvdUpcalls.java",
                "    if ((now & EvdState.POLICY) == EvdState.SINGLE) {",
                "    if (target.events != null) {")
            .thatHangs(),
        Mistake.of(
            "U10",
            "what the error handler throws ends the dispatcher",
            "FaultLog.java",
            "    } catch (final Throwable e) {\n",
            "    } catch (final ArithmeticException e) {\n"),
        Mistake.of(
            "U10",
            "the error handler is not told the event",
            "FaultLog.java",
            "errorHandler.onError(evd, event, failure);",
            "errorHandler.onError(evd, null, failure);"),
        Mistake.of(
            "U10",
            "each failure is logged",
            "FaultLog.java",
            "    } else if (isPowerOfTwo(count)) {\n",
            "    } else if (count > 0) {\n"),
        Mistake.of(
            "U10",
            "a throwing handler ends the turn",
            "EvdImpl.java",
            "    by.holdTurn(true);\n    try {",
            "    by.holdTurn(false);\n    try {"),
        Mistake.of(
            "U10",
            "nobody takes over from a dispatcher that an error ended",
            "Dispatcher.java",
            "      start();\n    } catch",
            "    } catch"),
        Mistake.of(
                "U10",
                "a factory that makes no thread ends a dispatcher",
                "Dispatcher.java",
                "      start();\n    } catch (final Exception | VirtualMachineError | LinkageError e) {",
                "      start();\n    } catch (final OutOfMemoryError e) {")
            .foundBy("itGoesOnThoughNoOtherThread"),
        Mistake.of(
                "U10",
                "a factory that lacks a class ends a dispatcher",
                "Dispatcher.java",
                "VirtualMachineError | LinkageError e",
                "VirtualMachineError e")
            .foundBy("itGoesOnThoughNoOtherThread")
            .thatHangs(),
        Mistake.of(
                "T13",
                "the device's own word of a watermark counts for the next one",
                "SrqImpl.java",
                "    told.incrementAndGet();\n    if (!tell()) {\n      told.decrementAndGet();\n    }",
                "    tell();")
            .foundBy("theDevicesOwnWord"),
        Mistake.of(
                "T13",
                "the device's word of a watermark that was told of is waited for once only",
                "SrqImpl.java",
                "Math.max(0, before - 1)",
                "0")
            .foundBy("theDevicesOwnWord"),
        Mistake.of(
                "T10",
                "an EVD that is closed after the bound of its adapter is left to its timer",
                "IaImpl.java",
                "      stillOpen().forEach(IaImpl::closeNow);",
                "")
            .foundBy("aCloseBehindAStuckHandler")
            .thatHangs(),
        Mistake.of(
                "T10",
                "an EVD whose close has not begun when the runtime ends is left open",
                "IaImpl.java",
                "      final var unused = evd.closing().start(Duration.ZERO, true);\n",
                "")
            .foundBy("anEvdOfALostDevice")
            .thatHangs(),
        Mistake.of(
            "U11",
            "completions that are left out cost nothing",
            "Merger.java",
            "      } else if (--patience <= 0) {\n        return false;\n",
            ""),
        Mistake.of(
            "U11",
            "one EVD with MANY has a turn for each turn of all others",
            "Dispatcher.java",
            "int tokens = readyAnywhere.size();",
            "int tokens = Math.min(1, readyAnywhere.size());"),
        Mistake.of(
            "U14",
            "every turn polls",
            "EvdImpl.java",
            "    if ((bits & EvdState.CQ) != 0) {\n      merger.resume();",
            "    {\n      merger.resume();"));
  }

  private static Stream<Mistake> upcallsWithThreads() {
    return Stream.of(
            Mistake.of(
                    "U01",
                    "a signal during a turn makes a second token, and the turn is not exclusive",
                    "EvdState.java",
                    "(s & (TOKEN | TURN)) == 0 && ((s & CONTROL)",
                    "(s & TOKEN) == 0 && ((s & CONTROL)")
                .with(
                    "EvdState.java",
                    "    if ((s & TURN) != 0) {\n"
                        + "      return s; // its holder schedules when it leaves\n"
                        + "    }\n",
                    "")
                .with(
                    "EvdImpl.java",
                    "if ((before & EvdState.TURN) != 0 || (now & EvdState.TURN) == 0) {",
                    "if ((now & EvdState.TURN) == 0) {")
                .with(
                    "EvdImpl.java",
                    "          dispatcher.ready(this);",
                    "          dispatcher.readyAnywhere(this);"),
            Mistake.of(
                "U05",
                "MANY runs one more than its limit",
                "EvdState.java",
                "return (s & RUNNING) >>> RUNNING_SHIFT < (s & LIMIT) >>> LIMIT_SHIFT;",
                "return (s & RUNNING) >>> RUNNING_SHIFT <= (s & LIMIT) >>> LIMIT_SHIFT;"),
            Mistake.of(
                "U05",
                "upcalls are enabled while a teardown waits",
                "EvdUpcalls.java",
                "if (to != null && teardowns > 0) {",
                "if (to != null && teardowns > 99) {"),
            Mistake.of(
                "U05",
                "teardown does not wait for the running upcall",
                "EvdState.java",
                "return (s & (UPCALL | RUNNING | POLICY)) == 0;",
                "return (s & POLICY) == 0;"))
        .map(Mistake::withThreads);
  }

  private static Stream<Mistake> waiting() {
    return Stream.of(
        Mistake.of(
            "W01",
            "a wait ends at the first event, whatever the threshold",
            "ConsumerTurn.java",
            "remaining >= threshold && takeOne(own)",
            "remaining >= 1 && takeOne(own)"),
        Mistake.of(
            "W01",
            "suppressed successes and markers count as events",
            "Stash.java",
            "return used - silents;",
            "return used;"),
        Mistake.of(
            "W01",
            "connection events of closed endpoints count",
            "Lane.java",
            "event instanceof LaneEvent laneEvent && laneEvent.isGone()",
            "event == null"),
        Mistake.of(
            "W01",
            "the end that waits at its gate does not count",
            "Merger.java",
            "return stash.events() + lane.count() + heldEnds;",
            "return stash.events() + lane.count();"),
        Mistake.of(
            "W01",
            "suppressed successes keep their slots while a thread waits",
            "Merger.java",
            "    while (stash.first() != Stash.NONE\n        && stash.isSilent(stash.first())\n"
                + "        && passSilent(stash.first())) {",
            "    while (heldEnds < 0) {"),
        Mistake.of(
            "W02",
            "an event that is there is taken when the time is over",
            "ConsumerTurn.java",
            "      if (ia.runtime().isOver(deadline)) {\n",
            "      if (ia.runtime().isOver(deadline)) {\n        takeOne(own);\n"),
        Mistake.of(
            "W03",
            "a thread waits inside a handler",
            "Misuse.java",
            "if (Dispatcher.isCurrent() || Reaper.isCurrent()) {",
            "if (object == null) {"),
        Mistake.of(
            "W04",
            "a marker that a waiter passes tells nobody",
            "Merger.java",
            "      queue.complete(slot);\n      connection.onMarker(queue, success);\n",
            "      queue.complete(slot);\n"),
        Mistake.of(
            "W04",
            "an interrupt is not looked at",
            "ConsumerTurn.java",
            "      if (Thread.currentThread().isInterrupted()) {\n"
                + "        return Outcome.INTERRUPTED_CALL;",
            "      if (Thread.interrupted()) {\n        return Outcome.TIMEOUT_EXPIRED;"),
        Mistake.of(
            "W04",
            "an await takes a queue that a dequeue found empty for armed",
            "CqFeed.java",
            "    if (into.size() == 0 && mode == Mode.PLAIN) {",
            "    if (into.size() == 0) {"),
        Mistake.of(
            "W05",
            "a CNO that comes in the middle of a dequeue is not told",
            "EvdState.java",
            "(s & ~CNO) | argument | missed(s, argument);",
            "(s & ~CNO) | argument;"),
        Mistake.of(
            "W05",
            "a trigger that nobody waits for is forgotten",
            "CnoImpl.java",
            "        triggeredBy = by;\n        return;",
            "        return;"),
        Mistake.of(
            "W05",
            "a trigger sticks for ever",
            "CnoImpl.java",
            "    triggeredBy = null;\n    if (own.evd == null) {",
            "    if (own.evd == null) {"),
        Mistake.of(
            "W05",
            "an EVD that left its CNO triggers it",
            "CnoImpl.java",
            "      if (!evds.contains(by)) {",
            "      if (by == null) {"),
        Mistake.of(
            "W06",
            "what is held back for an upcall that a teardown refuses is told to nobody",
            "EvdUpcalls.java",
            "      if (!isSet) {\n        evd.letGo();\n      }\n",
            ""),
        Mistake.of(
            "W06",
            "upcalls and the CNO are told both",
            "EvdState.java",
            "return (s & (CNO | POLICY | UPCALL | RUNNING | WAITER | CLOSED)) == CNO;",
            "return (s & (CNO | CLOSED)) == CNO;"),
        Mistake.of(
            "W06",
            "the CNO hears of what is left only with the next event",
            "EvdState.java",
            "|| operation == SET_CNO || !mayTell(before));",
            "|| operation == SET_CNO);"),
        Mistake.of(
            "W06",
            "a thread waits although an upcall is enabled",
            "EvdState.java",
            "      case AWAIT -> {\n        if ((s & (POLICY | CLOSED | UPCALL | RUNNING)) != 0) {",
            "      case AWAIT -> {\n        if ((s & CLOSED) != 0) {"),
        Mistake.of(
                "W07",
                "a wait by hand parks its thread",
                "Jdapl.java",
                "    if (byHand) {\n      drive(",
                "    if (byHand && deadline < 0) {\n      drive(")
            .thatHangs());
  }

  private static Stream<Mistake> waitingWithThreads() {
    return Stream.of(
            Mistake.of(
                "W02",
                "each event begins the timeout anew",
                "ConsumerTurn.java",
                "      ia.runtime().block(this, deadline);",
                "      ia.runtime().block(this, deadline);\n"
                    + "      if (!ia.runtime().isOver(deadline)) {\n"
                    + "        return waitInTurn(own, threshold,"
                    + " ia.runtime().deadline(Duration.ofMillis(500)));\n"
                    + "      }"),
            Mistake.of(
                    "W03",
                    "a dequeue waits for the waiter instead of being refused",
                    "EvdState.java",
                    "yield (s & WAITER) != 0 ? WAITED : take(s);",
                    "yield take(s);")
                .thatHangs(),
            Mistake.of(
                    "W04",
                    "nobody wakes the thread that waits",
                    "ConsumerTurn.java",
                    "    LockSupport.unpark(waiter);",
                    "    waiter.getName();")
                .thatHangs(),
            Mistake.of(
                "W04",
                "setUnwaitable is forgotten when it is taken back",
                "EvdState.java",
                "(s & ~(WAITER | ASLEEP)) | UNWAITABLE;",
                "(s & ~ASLEEP) | UNWAITABLE;"),
            Mistake.of(
                "W05",
                "a trigger releases all threads",
                "CnoImpl.java",
                "    LockSupport.unpark(released.thread);",
                "    LockSupport.unpark(released.thread);\n"
                    + "    synchronized (this) {\n"
                    + "      Waiter other;\n"
                    + "      while ((other = waiters.poll()) != null) {\n"
                    + "        other.evd = by;\n"
                    + "        LockSupport.unpark(other.thread);\n"
                    + "      }\n"
                    + "    }"),
            Mistake.of(
                "W05",
                "a trigger that finds a thread whose time is over is lost",
                "CnoImpl.java",
                "    if (own.evd != null) {\n      to.onReady",
                "    if (own.evd != null && (timeout.isZero() || !ia.runtime().isOver(deadline)))"
                    + " {\n"
                    + "      to.onReady"),
            Mistake.of(
                "W06",
                "upcalls are enabled while a thread waits",
                "EvdState.java",
                "yield (s & WAITER) != 0 && (argument & POLICY) != 0\n            ? WAITED",
                "yield (s & WAITER) != 0 && (argument & POLICY) > POLICY\n            ? WAITED"))
        .map(Mistake::withThreads);
  }

  private static Stream<Mistake> merge() {
    return Stream.of(
        Mistake.of(
            "M01",
            "an EVD takes DTO or CONNECTION, not both",
            "IaImpl.java",
            "    if (flags == 0) {",
            "    if (flags == 0 || (flags & 0x60) == 0x60) {"),
        Mistake.of(
            "M02",
            "a completion does not wait for ESTABLISHED",
            "ConnectionGate.java",
            "    return !established && !ended && shares(queue);",
            "    return false;"),
        Mistake.of(
            "M02",
            "the active side holds completions back for ever",
            "ConnectionGate.java",
            "    if (!established && !ended) {\n      unhold();",
            "    if (established && !ended) {\n      unhold();"),
        Mistake.of(
            "M02",
            "ESTABLISHED is handed out again when the device tells of it",
            "ConnectionGate.java",
            "    if (established || ended) {\n      return false;",
            "    if (ended) {\n      return false;"),
        Mistake.of(
            "M03",
            "an end that came to its bound is not counted",
            "ConnectionGate.java",
            "    if (heldEnd != null) {\n      evd.counters()",
            "    if (heldEnd == null) {\n      evd.counters()"),
        Mistake.of(
            "U09",
            "an upcall that is dropped is not counted",
            "EvdState.java",
            "mayUpcall(before) && (after & POLICY) == DISABLED",
            "mayUpcall(after)"),
        Mistake.of(
            "M03",
            "the end of a connection does not wait for completions",
            "ConnectionGate.java",
            "    if (!isOpen()) {\n      holdEnd(event);",
            "    if (heldEnd != null) {\n      holdEnd(event);"),
        Mistake.of(
                "M04",
                "each thing that ends a connection makes an event",
                "Connection.java",
                "      final EndpointState before = machine.move(trigger);\n"
                    + "      if (before != null) {\n"
                    + "        final ConnectionEvent.Kind known",
                "      EndpointState before = machine.move(trigger);\n"
                    + "      if (trigger == Trigger.END || before != null) {\n"
                    + "        before = before == null ? EndpointState.DISCONNECTED : before;\n"
                    + "        final ConnectionEvent.Kind known")
            .with(
                "ConnectionGate.java",
                "  boolean handOutEnd(final ConnectionEventImpl event) {\n    if (ended) {\n",
                "  boolean handOutEnd(final ConnectionEventImpl event) {\n    if (event == null) {\n"),
        Mistake.of(
            "M04",
            "a connection whose requests are flushed stands for ever",
            "Connection.java",
            "            if (isUp()) {\n              onBroken();",
            "            if (!isUp()) {\n              onBroken();"),
        Mistake.of(
            "M05",
            "a close does not wait for who handles an async error of its endpoint",
            "EndpointDrain.java",
            "    if ((upcalls.get() > 0 && !late) || !connection.endCalls()) {",
            "    if (!connection.endCalls()) {"),
        Mistake.of(
                "M05",
                "a dead endpoint's completions are given to the next one",
                "EndpointTable.java",
                "owner != null && owner.tag() == tag ? owner : null",
                "owner")
            .with(
                "EndpointDrain.java",
                "      evd.merger().sweep(incarnation);",
                "      evd.merger().collect();"));
  }

  private static Stream<Mistake> arming() {
    return Stream.of(
        Mistake.of(
            "A06",
            "solicited arms on a device where errors do not count",
            "EvdRoom.java",
            "== SolicitedSupport.FULL",
            "!= SolicitedSupport.UNSUPPORTED"),
        Mistake.of(
            "A06",
            "every arm is for the next completion",
            "CqFeed.java",
            "cq.pollAndRearm(into, BATCH, kind)",
            "cq.pollAndRearm(into, BATCH, ArmKind.NEXT)"),
        Mistake.of(
            "A06",
            "a queue is armed for what its present user wants",
            "EvdRoom.java",
            "feed.kind() == kind && feed",
            "feed"),
        Mistake.of(
            "A06",
            "a dequeue trusts that an armed queue is empty",
            "ConsumerTurn.java",
            "    merger.lookAgain();\n    for (",
            "    for ("),
        Mistake.of(
            "A06",
            "an await trusts that an armed queue is empty",
            "Merger.java",
            "    lookAgain();\n    collect();",
            "    collect();"),
        Mistake.of(
            "A06",
            "requests come to an EVD for solicited receives",
            "EvdRoom.java",
            "    } else if (solicited) {",
            "    } else if (solicited && user == evd) {"),
        Mistake.of(
            "A06",
            "the watchdog takes receives that need not tell for lost",
            "CqFeed.java",
            "if (kind == ArmKind.NEXT) {",
            "if (kind != null) {"),
        Mistake.of(
            "A10",
            "the watchdog leaves an EVD without upcalls alone",
            "EvdState.java",
            "|| (s & (TOKEN | TURN | RUNNING | CQ | CONTROL)) == 0;",
            "|| ((s & POLICY) != 0 && (s & (TOKEN | TURN | RUNNING | CQ | CONTROL)) == 0);"),
        Mistake.of(
                "A10",
                "the watchdog looks for notifications that nobody asked for",
                "EvdState.java",
                "(s & (TOKEN | TURN | RUNNING | CQ | CONTROL)) == 0;",
                "(s & (TOKEN | TURN | RUNNING | CONTROL)) == 0;")
            .with(
                "CqFeed.java",
                "    if (mode == Mode.ARMED && !notified) {",
                "    if (mode != Mode.WAITING && !notified) {"),
        Mistake.of(
            "A10",
            "in virtual time the watchdog looks when the time is over",
            "Jdapl.java",
            "lookedInVain ? Long.MAX_VALUE : WATCH_PERIOD.toNanos()",
            "Long.MAX_VALUE"),
        Mistake.of(
            "A10",
            "the watchdog trusts that an armed queue will notify",
            "CqFeed.java",
            "    if (mode == Mode.ARMED && !notified) {",
            "    if (mode == Mode.ARMED && notified) {"),
        Mistake.of(
            "A10",
            "the watchdog wakes the EVDs that are not idle only",
            "EvdState.java",
            "(s & (TOKEN | TURN | RUNNING | CQ | CONTROL)) == 0;",
            "(s & (TOKEN | TURN | RUNNING | CQ | CONTROL)) != 0;"),
        Mistake.of(
            "A01",
            "an arm is not followed by a look",
            "RearmAdapter.java",
            "if (declaration.maySleepAfter(hint)) {",
            "if (hint == 0) {"),
        Mistake.of(
            "A01",
            "a device that does not say is taken for a strong one",
            "Declaration.java",
            "armModel == ArmModel.STRONG &&",
            "armModel != ArmModel.WEAK &&"),
        Mistake.of(
            "A02",
            "a hint is taken for an arm where the device does not say",
            "Declaration.java",
            "armedAfterHint == ArmedAfterHint.YES",
            "armedAfterHint != ArmedAfterHint.NO"),
        Mistake.of(
            "A02",
            "a look is taken after every arm",
            "RearmAdapter.java",
            "if (declaration.maySleepAfter(hint)) {",
            "if (hint < 0) {"),
        Mistake.of(
            "A02",
            "a dequeue arms, though nobody is to be told",
            "ConsumerTurn.java",
            "return next(to, !EvdState.tellsNobody(before));",
            "return next(to, true);"),
        Mistake.of(
            "A02",
            "a dequeue of which nobody is told takes an armed queue for empty",
            "Merger.java",
            "      if (arms ? feed.hasMore() : !feed.isPaused()) {",
            "      if (feed.hasMore()) {"),
        Mistake.of(
            "A03",
            "a signal between arm and idle is swallowed by a plain store",
            "EvdState.java",
            "case END -> (s & (WORK | CONTROL)) != 0 ? s : s & ~(TURN | UPCALL);",
            "case END -> s & ~(TURN | UPCALL | WORK | CONTROL);"),
        Mistake.of(
            "A04",
            "a notification that was consumed is not followed by an arm",
            "CqFeed.java",
            "    if (mode != Mode.WAITING || due) {\n      mode = Mode.REARM;",
            "    if (mode != Mode.WAITING || due) {\n      mode = Mode.PLAIN;"),
        Mistake.of(
            "A05",
            "a full batch is taken for the last one",
            "CqFeed.java",
            "        if (into.size() == 0) {\n          pause();\n        }",
            "        mode = Mode.ARMED;"),
        Mistake.of(
            "A07",
            "a notification polls",
            "CqFeed.java",
            "      notified = true;\n",
            "      notified = true;\n      cq.poll(new WorkCompletions(1), 1);\n"),
        Mistake.of(
            "A08",
            "a look that filled the buffer is taken for the last one",
            "RearmAdapter.java",
            "          return RearmOutcome.POLL_NEEDED;",
            "          return RearmOutcome.COMPLETED;"),
        Mistake.of(
            "A02",
            "POLL_NEEDED is not followed by plain polls",
            "CqFeed.java",
            "case POLL_NEEDED -> armed(Mode.PLAIN);",
            "case POLL_NEEDED -> armed(Mode.ARMED);"),
        Mistake.of(
            "A09",
            "notifications without completions cost a poll each, for ever",
            "CqFeed.java",
            "if (++empties >= EMPTY_LIMIT) {",
            "if (++empties < 0) {"));
  }

  private static Stream<Mistake> teardown() {
    return Stream.of(
        Mistake.of(
            "T01",
            "the queue pair is destroyed before it was drained",
            "EndpointDrain.java",
            "          && incarnation.requests().postMarker(incarnation.qp(), true) == 0) {\n"
                + "        return;",
            "          && incarnation.requests().postMarker(incarnation.qp(), true) == 0) {\n"
                + "        abandoned = true;"),
        Mistake.of(
            "T01",
            "nobody says that a close is over its bound",
            "EndpointDrain.java",
            "      reaper.schedule(GRACE, closed, this::giveUp);\n",
            ""),
        Mistake.of(
            "E02",
            "completions overtake those that were swept into the report",
            "Merger.java",
            "    if (queue.isSwept()) {",
            "    if (queue == null) {"),
        Mistake.of(
            "T02",
            "what was swept is not in the report",
            "WorkQueue.java",
            "    report.add(\n",
            "    new ArrayList<DrainReport.Request>().add(\n"),
        Mistake.of(
            "T02",
            "what is delivered during a close is in its report as well",
            "Merger.java",
            "    queue.complete(slot);\n    stash.release(entry);\n    to.set(view,",
            "    if (endpoint.connection().state() == org.jdapl.dat.EndpointState.CLOSED) {\n"
                + "      queue.report().add(\n"
                + "          new DrainReport.Request(\n"
                + "              DrainReport.Queue.RECEIVE,\n"
                + "              queue.cookie(slot),\n"
                + "              null,\n"
                + "              DrainReport.Status.FLUSHED));\n"
                + "    }\n"
                + "    queue.complete(slot);\n"
                + "    stash.release(entry);\n"
                + "    to.set(view,"),
        Mistake.of(
            "T02",
            "what waits for ESTABLISHED is lost when its endpoint is closed",
            "Merger.java",
            "    if (endpoint.connection().isOf(evd)) {\n"
                + "      unhold(endpoint.gate());\n"
                + "    }\n",
            ""),
        Mistake.of(
                "T02",
                "a close takes a queue that a dequeue found empty for armed",
                "CqFeed.java",
                "    if (into.size() == 0 && mode == Mode.PLAIN) {",
                "    if (into.size() == 0) {")
            .with(
                "EvdImpl.java",
                "          merger.resume(); // one before may have told of itself in vain\n",
                ""),
        Mistake.of(
            "T02",
            "a queue that waits for its timer is not polled before its requests are given up",
            "EndpointDrain.java",
            "      evd.control(evd.merger()::resumeAll);",
            "      evd.control(evd.merger()::resume);"),
        Mistake.of(
                "T03",
                "a post is accepted after the close's marker",
                "WorkQueue.java",
                "    sealed = true;\n",
                "")
            .with(
                "Incarnation.java",
                "    } else if (state != EndpointState.CONNECTED) {",
                "    } else if (state == EndpointState.UNCONNECTED) {")
            .with("Incarnation.java", "    if (requests.isSealed()) {", "    if (what == null) {"),
        Mistake.of(
            "T03",
            "what is posted before the reaper stops the queue pair is refused",
            "Incarnation.java",
            "      connection.stop();\n",
            ""),
        Mistake.of(
            "T05",
            "a dead endpoint's completions are given to the next one",
            "EndpointTable.java",
            "owner != null && owner.tag() == tag ? owner : null",
            "owner"),
        Mistake.of(
            "T05",
            "a number is given to the next endpoint while completions of the last one may come",
            "EndpointTable.java",
            "(generations[slot] + 1) & GENERATION_MASK",
            "generations[slot] & GENERATION_MASK"),
        Mistake.of(
                "T06",
                "the queue of an error completion is told by its opcode",
                "Merger.java",
                "    final WorkQueue queue = endpoint.queue(wrId);\n"
                    + "    final boolean success = stash.status(entry) == WcStatus.SUCCESS;",
                "    final boolean success = stash.status(entry) == WcStatus.SUCCESS;\n"
                    + "    final WorkQueue queue =\n"
                    + "        endpoint.queue(success ? wrId : wrId ^ (stash.byteLength(entry) == 0 ? 0"
                    + " : WorkQueue.REQUEST_QUEUE));")
            .thatHangs(),
        Mistake.of(
            "U09",
            "who saw quiet before ends a teardown while an upcall runs",
            "EvdImpl.java",
            "    if (EvdState.isQuiet(state.get())) {\n      action.run();",
            "    if (action != null) {\n      action.run();"),
        Mistake.of(
            "U09",
            "a teardown that an old look found is forgotten",
            "EvdImpl.java",
            "      quietWaiters.add(action);\n    }\n",
            "      action.hashCode();\n    }\n"),
        Mistake.of(
            "U13",
            "a policy is published under its lock",
            "EvdUpcalls.java",
            "    evd.publish(before, EvdState.SET_POLICY, policy);\n",
            "    synchronized (state) {\n"
                + "      evd.publish(before, EvdState.SET_POLICY, policy);\n"
                + "    }\n"),
        Mistake.of(
            "U13",
            "a post stops its queue pair under its guard",
            "EndpointImpl.java",
            "    incarnation.checkMayPost(operation);\n    requests.lock();\n    try {\n",
            "    requests.lock();\n    try {\n      incarnation.checkMayPost(operation);\n"),
        Mistake.of(
            "T07",
            "an EVD closed inside its own upcall closes its completion queues there",
            "EvdClose.java",
            "      evd.whenQuiet(() -> evd.control(this::finish));",
            "      finish();"),
        Mistake.of(
                "T08",
                "an id is destroyed inside the event that says that it failed",
                "Connection.java",
                "ADDR_ERROR, ROUTE_ERROR ->\n            end(",
                "ADDR_ERROR, ROUTE_ERROR ->\n            endOf(\n                id,")
            .with(
                "Connection.java",
                "  private void end(final ConnectionEvent.Kind kind) {",
                "  private void endOf(final CmId id, final ConnectionEvent.Kind kind) {\n"
                    + "    end(kind);\n"
                    + "    id.close();\n"
                    + "  }\n\n"
                    + "  private void end(final ConnectionEvent.Kind kind) {"),
        Mistake.of(
            "T08",
            "a close that is complete in an upcall destroys its id there",
            "EndpointDrain.java",
            "      reaper.execute(this::account);",
            "      account();"),
        Mistake.of(
            "T09",
            "a queue pair is destroyed under a call of the connection manager",
            "Connection.java",
            "    return inProgress.compareAndSet(0, NO_MORE);",
            "    return true;"),
        Mistake.of(
            "T09",
            "the id is destroyed before its queue pair",
            "EndpointDrain.java",
            "    destroy(incarnation.qp()::close);\n    destroy(connection::release);\n",
            "    destroy(connection::release);\n    destroy(incarnation.qp()::close);\n"),
        Mistake.of(
                "T10",
                "a runtime stops before the last of its devices is closed",
                "Jdapl.java",
                "      if (devices > 0) {\n",
                "      if (devices < 0) {\n")
            .foundBy("theDeviceIsClosed"),
        Mistake.of(
                "T10",
                "what could not be destroyed is forgotten",
                "IaImpl.java",
                "      destroyLater(verb);\n",
                "")
            .foundBy("whatCouldNotBeDestroyed"),
        Mistake.of(
                "T10",
                "what could not be destroyed for an unexpected reason is forgotten",
                "IaImpl.java",
                "    } catch (final Throwable e) {\n      destroyLater(verb);",
                "    } catch (final VerbsException e) {\n      destroyLater(verb);")
            .foundBy("whatCouldNotBeDestroyed"),
        Mistake.of(
                "T10",
                "a completion queue that is created too late is forgotten",
                "EvdRoom.java",
                "      late = queuesDestroyed;\n",
                "      late = false;\n")
            .foundBy("whatIsCreatedTooLate"),
        Mistake.of(
                "T10",
                "a region is deregistered while a queue pair still reaches it",
                "LmrImpl.java",
                "    pz.checkStopped(name + \".close\");\n",
                "")
            .foundBy("aRegionStaysRegistered"),
        Mistake.of(
            "T10",
            "a close of a region that looks for users counts as done",
            "LmrImpl.java",
            "    synchronized (this) { // another close waits for what this one finds\n",
            "    {\n"),
        Mistake.of(
            "T11",
            "the close of a region waits for a post that does not return",
            "WorkQueue.java",
            "    if (!lockUnlessStuck()) {\n      return true;\n    }\n",
            "    lock();\n"),
        Mistake.of(
            "T11",
            "a region is deregistered under a post that does not return",
            "WorkQueue.java",
            "    if (!lockUnlessStuck()) {\n      return true;",
            "    if (!lockUnlessStuck()) {\n      return false;"),
        Mistake.of(
            "T11",
            "a region is deregistered under a shared receive whose post does not return",
            "SrqImpl.java",
            "    if (!guard.lockUnlessStuck()) {\n      return true;",
            "    if (!guard.lockUnlessStuck()) {\n      return false;"),
        Mistake.of(
                "T10",
                "the close of a shared queue waits for a post that does not return",
                "SrqImpl.java",
                "      if (!abruptly) {\n        waitForPost();\n      }\n    }\n    if (abruptly) {",
                "    }\n    if (iov > 0) {")
            .foundBy("aSharedQueueIsClosed"),
        Mistake.of(
                "T10",
                "a shared queue that grows waits for a post that does not return",
                "SrqImpl.java",
                "      lockUnlessStuck(\"resize\");\n      try {",
                "      guard.lock();\n      try {")
            .foundBy("aSharedQueueIsNotResized"),
        Mistake.of(
                "T10",
                "a shared queue that shrinks waits for a post that does not return",
                "SrqImpl.java",
                "    lockUnlessStuck(\"resize\");\n    try {",
                "    guard.lock();\n    try {")
            .foundBy("aSharedQueueIsNotResized"),
        Mistake.of(
            "T02",
            "what is accounted for after the bound is not reported if a verb does not return",
            "EndpointDrain.java",
            "    if (accounted) { // meanwhile",
            "    if (accounted && !late) {"),
        Mistake.of(
            "T10",
            "each turn sets a timer for a post that does not return",
            "EndpointDrain.java",
            "goesOnLater.getAndSet(true)",
            "goesOnLater.getAndSet(false)"),
        Mistake.of(
            "T10",
            "a close looks once for a post that does not return",
            "EndpointDrain.java",
            "goesOnLater.set(false);",
            "goesOnLater.set(true);"),
        Mistake.of(
                "T10",
                "a zone is locked while a post is waited for",
                "PzImpl.java",
                "  DatObject userOf(",
                "  synchronized DatObject userOf(")
            .foundBy("aPostThatDoesNotReturn"),
        Mistake.of(
            "T02",
            "a request that is being posted is given up, and accepted",
            "WorkQueue.java",
            "    if (!tryLock()) {\n      return false;\n    }\n    try {\n      for",
            "    final boolean unused = tryLock();\n    try {\n      for"),
        Mistake.of(
            "T09",
            "an id is destroyed under a call that began meanwhile",
            "Connection.java",
            "    if (inProgress.incrementAndGet() <= 0) {\n      return;\n    }\n",
            "    enter();\n"),
        Mistake.of(
                "T10",
                "a call that does not return holds up all others",
                "Reaper.java",
                "        startCaller();\n      } catch",
                "        tasks.size();\n      } catch")
            .foundBy("aVerbThatDoesNotReturnHoldsUpNothingElse"),
        Mistake.of(
                "T10",
                "a factory that makes no thread ends the look at what is stuck",
                "Reaper.java",
                "      } catch (final Throwable e) { // what the factory",
                "      } catch (final OutOfMemoryError e) { // what the factory")
            .foundBy("aFactoryWithoutAThread"),
        Mistake.of(
                "T10",
                "a call that returns while its successor's thread is not there is the last one",
                "Reaper.java",
                "now != this && now.runs",
                "now != this")
            .foundBy("aThreadThatCannotStart")
            .thatHangs(),
        Mistake.of(
                "T10",
                "a call that one look finds counts as stuck",
                "Reaper.java",
                "      if (found == 0 || found != last) {",
                "      if (found == 0 || last < 0) {")
            .foundBy("aCallAtEachLook"),
        Mistake.of(
                "T10",
                "a call that returns late takes back what its successor announced",
                "Reaper.java",
                "    private final AtomicReference<Thread> waiting",
                "    private static final AtomicReference<Thread> waiting")
            .foundBy("aCallThatReturnsLate"),
        Mistake.of(
                "T10",
                "a call that does not return holds up the timers",
                "Reaper.java",
                "while (caller == null && (task",
                "while ((task")
            .foundBy("anAbruptCloseEndsAtItsBoundWhateverVerb"),
        Mistake.of(
                "T10",
                "the close of an adapter waits for its device",
                "IaImpl.java",
                "    reaper.schedule(bound, closed, this::endClose);",
                "")
            .foundBy("anAbruptCloseEndsAtItsBoundWhateverVerb"),
        Mistake.of(
                "T10",
                "what is accounted for is not reported before the queue pair is destroyed",
                "EndpointDrain.java",
                "    if (accounted) {\n      report();\n    } else {",
                "    if (!accounted) {")
            .foundBy("aCloseIsReportedAtItsBound"),
        Mistake.of(
                "T10",
                "only the first close of an adapter says how long its steps may take",
                "IaImpl.java",
                "      if (!closed.isDone()) { //",
                "    final boolean first = !released;\n    released = true;\n    if (first) { //")
            .with(
                "IaImpl.java",
                "  private void close(final Duration bound) {\n",
                "  private boolean released;\n\n  private void close(final Duration bound) {\n")
            .withThreads()
            .foundBy("ofTwoAbruptClosesTheShorterBoundCounts"),
        Mistake.of(
            "T10",
            "only the first close of an EVD sets its bound",
            "EvdClose.java",
            "    ia.reaper().schedule(bound, closed, this::onBound);",
            "    if (first) {\n      ia.reaper().schedule(bound, closed, this::onBound);\n    }"),
        Mistake.of(
                "P04",
                "what a closed EVD cannot destroy is told of to nobody",
                "EvdImpl.java",
                "    if (closing.isAccounted()) {",
                "    if (what.isEmpty()) {")
            .foundBy("aQueueThatCannotBeDestroyed"),
        Mistake.of(
                "T10",
                "a teardown waits for a stuck upcall whatever becomes of its EVD",
                "EvdImpl.java",
                "    ia.await(CompletableFuture.anyOf(done, closed), null, this);",
                "    ia.await(CompletableFuture.anyOf(done), null, this);")
            .foundBy("anAbruptCloseEndsATeardown"),
        Mistake.of(
                "T13",
                "a watermark that is refused forgets the one before",
                "SrqImpl.java",
                "      watermark.compareAndSet(receives, before);",
                "      watermark.compareAndSet(receives, 0 * before);")
            .foundBy("ThatIsRefusedLeaves"),
        Mistake.of(
                "E01",
                "a short bound of a close loses what is queued",
                "EvdClose.java",
                "    if (accounted || !EvdState.isQuiet(state.get())) {",
                "    if (ia != null) {")
            .foundBy("HoweverShortItsBound"),
        Mistake.of(
                "E01",
                "a close that is over its bound does not tell what it dropped",
                "EndpointDrain.java",
                "new DrainReport(List.of(), 0, droppedEvents, false)",
                "DrainReport.INCOMPLETE")
            .foundBy("whatWasDroppedIsInTheReport"),
        Mistake.of(
                "T10",
                "the end of an adapter leaves the close of an EVD to a timer that does not come",
                "IaImpl.java",
                "      giveUp(stuck);\n",
                "")
            .foundBy("EndsWithItsAdapter"),
        Mistake.of(
            "T10",
            "the adapter closes while objects live",
            "IaImpl.java",
            "    if (!open.isEmpty()) {",
            "    if (open.size() > 100) {"),
        Mistake.of(
            "T10",
            "an endpoint that is closed stays counted",
            "EndpointLife.java",
            "    } else {\n      endpoint.ia().remove(endpoint);\n    }\n",
            "    }\n"),
        Mistake.of(
            "T10",
            "an object that is closed stays in the list of those that are open",
            "IaImpl.java",
            "      leaks.closed(object.name());\n",
            ""),
        Mistake.of(
            "T10",
            "the place where an object was created is lost",
            "LeakDetector.java",
            "        objects.put(name, here);",
            "        objects.put(name, null);"),
        Mistake.of(
            "T10",
            "the place is inside the framework",
            "LeakDetector.java",
            "            IaImpl.class.getName(),\n",
            ""),
        Mistake.of(
            "T10",
            "a completion queue is destroyed before the queue pair of a stuck handler's endpoint",
            "EvdRoom.java",
            "    return !users.isEmpty();",
            "    return users.isEmpty();"),
        Mistake.of(
            "T11",
            "a region is closed though a request uses it",
            "PzImpl.java",
            "endpoint.now().uses(lmr)",
            "endpoint.now().uses(null)"),
        Mistake.of(
                "T11",
                "the request of an endpoint that is being closed uses no region",
                "PzImpl.java",
                "endpoint && endpoint.now().uses(lmr))",
                "endpoint\n"
                    + "              && endpoint.state() != org.jdapl.dat.EndpointState.CLOSED\n"
                    + "              && endpoint.now().uses(lmr))")
            .foundBy("aRegionOfAnEndpointThatIsClosed"),
        Mistake.of(
            "T12",
            "a device that is lost stays open",
            "IaImpl.java",
            "isLost ? deviceClose::run : this::finishClose",
            "isLost ? () -> {} : this::finishClose"),
        Mistake.of(
            "T12",
            "the loss of a device is reported each time it is told",
            "IaImpl.java",
            "    if (lost.compareAndSet(false, true)) {",
            "    if (!lost.getAndSet(true) || why != null) {"),
        Mistake.of(
            "T12",
            "who waits is not told that the device is lost",
            "EvdClose.java",
            "          deviceLost = true;\n",
            ""),
        Mistake.of(
            "T12",
            "the device is closed while an object is being created",
            "IaImpl.java",
            "      if (creating > 0 && ",
            "      if (creating > 1 && "),
        Mistake.of(
            "T12",
            "the end of a connection is not handed out when its device is lost",
            "EndpointDrain.java",
            "      if (enabled && !late) {",
            "      if (enabled && !abandoned) {"),
        Mistake.of(
            "T12",
            "what is stuck delays the close of a lost device beyond its bound",
            "DeviceRelease.java",
            "    once(ends, 1, last);",
            "    once(ends, 3, last);"));
  }

  private static Stream<Mistake> connections() {
    return Stream.of(
        Mistake.of(
            "C02",
            "an accept has no bound",
            "Connection.java",
            "    schedule(bounds().accept(), () ->"
                + " timeOut(ConnectionEvent.Kind.ACCEPT_COMPLETION_ERROR));\n",
            ""),
        Mistake.of(
            "C02",
            "the bound of a connect ends a connection that came about",
            "EndpointStates.java",
            "          .on(CONNECTED, Trigger.END, DISCONNECTED)\n",
            "          .on(CONNECTED, Trigger.END, DISCONNECTED)\n"
                + "          .on(CONNECTED, Trigger.TIME_OUT, DISCONNECTED)\n"),
        Mistake.of(
            "C02",
            "a connection that came about ends as one that did not",
            "Connection.java",
            "          default -> gate.isEstablished();",
            "          default -> false;"),
        Mistake.of(
            "C02",
            "a connection that came about is reported as one that did not",
            "ConnectionGate.java",
            "event = connection.revised(waiting);",
            "event = waiting;"),
        Mistake.of(
            "C02",
            "a reject of the consumer is taken for the library's",
            "Connection.java",
            "                status == CmHandler.CONSUMER_REJECT",
            "                status < 0"),
        Mistake.of(
            "C03",
            "private data may be a byte too long",
            "PrivateData.java",
            "    if (data.remaining() > limit) {",
            "    if (data.remaining() > limit + 1) {"),
        Mistake.of(
            "C03",
            "a length that is not known is said to be exact",
            "IaLimits.java",
            "    return !privateData.hasRemaining() || showsExactPrivateData();",
            "    return true;"),
        Mistake.of(
            "C03",
            "what a provider shows during a call is kept and not copied",
            "PrivateData.java",
            "    return"
                + " ByteBuffer.allocate(shown.remaining()).put(shown.duplicate()).flip().asReadOnlyBuffer();",
            "    return shown.asReadOnlyBuffer();"),
        Mistake.of(
            "C04",
            "a graceful disconnect waits for its requests as long as they take",
            "Connection.java",
            "        schedule(bounds().disconnect(), () -> endByConsumer(Trigger.END));",
            "        assert bounds() != null;"),
        Mistake.of(
            "C05",
            "the bounds of an endpoint are not asked for",
            "Connection.java",
            "    return incarnation.attributes().bounds();",
            "    return Bounds.defaults();"),
        Mistake.of(
            "C05",
            "who waits for ESTABLISHED waits for ever",
            "ConnectionGate.java",
            "        connection.schedule(connection.bounds().order(), () ->"
                + " evd.control(this::establishBound));",
            "        assert connection.bounds() != null;"),
        Mistake.of(
            "C05",
            "the end waits for the last completions for ever",
            "ConnectionGate.java",
            "      connection.schedule(connection.bounds().order(), () -> evd.control(this::endBound));",
            "      assert connection.bounds() != null;"));
  }

  private static Stream<Mistake> posts() {
    return Stream.of(
        Mistake.of(
            "D01",
            "an unsignalled success makes an upcall",
            "EvdImpl.java",
            "settled = !merger.collectNews() && merger.hasMoreInMemory();",
            "settled = false;"),
        Mistake.of(
            "D01",
            "an unsignalled failure makes no upcall",
            "Merger.java",
            " && success && queue.isUnsignalled(slot);",
            " && queue.isUnsignalled(slot);"),
        Mistake.of(
            "D01",
            "an unsignalled success ends a wait",
            "ConsumerTurn.java",
            "(isEntering || merger.hasTelling())",
            "(isEntering || remaining > 0)"),
        Mistake.of(
            "D01",
            "a compare and swap puts something else in place",
            "EndpointImpl.java",
            "      send.swap = swap;",
            "      send.swap = operand;"),
        Mistake.of(
            "D01",
            "immediate data of the first of a batch is taken for all",
            "Stash.java",
            "polled.immediate(index(entry))",
            "polled.immediate(0)"),
        Mistake.of(
            "D01",
            "a receive does not tell what took it",
            "Merger.java",
            "stash.opcode(entry) == WcOpcode.RECV_RDMA_WITH_IMM",
            "stash.opcode(entry) == WcOpcode.RECV"),
        Mistake.of(
            "D01",
            "what the device cannot do is posted all the same",
            "IaLimits.java",
            "if (!capabilities.contains(needed)) {",
            "if (needed == null) {"),
        Mistake.of(
            "D01",
            "immediate data of an extension is cut to 32 bits",
            "EndpointImpl.java",
            "operand != Integer.toUnsignedLong(data)",
            "operand == data"),
        Mistake.of(
            "D01",
            "an atomic of an extension may be longer than a number",
            "EndpointImpl.java",
            "    if (total != Long.BYTES) {",
            "    if (total < 0) {"),
        Mistake.of(
            "D01",
            "an RDMA write with immediate data is never a solicited one",
            "EndpointImpl.java",
            "return operation == DtoOperation.SEND || operation == DtoOperation.RDMA_WRITE_IMMED;",
            "return operation == DtoOperation.SEND;"),
        Mistake.of(
            "D01",
            "an addition reads, and writes a moment later",
            "SimQp.java",
            "      case ATOMIC_FETCH_AND_ADD -> fabric.remote.putLong(old + request.compareAdd);\n",
            "      case ATOMIC_FETCH_AND_ADD -> {\n"
                + "        final int key = request.rkey;\n"
                + "        final long at = request.remoteAddress;\n"
                + "        final long sum = old + request.compareAdd;\n"
                + "        fabric.later(\n"
                + "            1,\n"
                + "            () -> {\n"
                + "              if (fabric.remote.setRemote(\n"
                + "                  fabric.memory.remote(key),\n"
                + "                  pd, at, ATOMIC_BYTES, Access.REMOTE_ATOMIC)) {\n"
                + "                fabric.remote.putLong(sum);\n"
                + "              }\n"
                + "            });\n"
                + "      }\n"),
        Mistake.of(
            "D01",
            "a swap does not look whether it is as expected",
            "SimQp.java",
            "fabric.remote.putLong(old == request.compareAdd ? request.swap : old);",
            "fabric.remote.putLong(request.swap);"),
        Mistake.of(
            "D02",
            "an atomic writes memory that is for reading",
            "EndpointImpl.java",
            "        || operation == DtoOperation.FETCH_AND_ADD\n",
            ""),
        Mistake.of(
            "E09",
            "a copy forgets the immediate data",
            "CompletionView.java",
            "copy.set(operation, immediateData,",
            "copy.set(operation, 0,"),
        Mistake.of(
            "D03",
            "an object that rides along is forgotten",
            "WorkQueue.java",
            "    contexts[slot] = context;",
            "    contexts[slot] = null;"),
        Mistake.of(
            "D04",
            "threads post at once",
            "PostGuard.java",
            "    for (int tries = 0; !tryLock(); tries++) {",
            "    for (int tries = 0; !tryLock() && tries < 0; tries++) {"),
        Mistake.of(
            "D05",
            "no request is signaled if all are suppressed",
            "WorkQueue.java",
            "!suppress || sinceSignal + 1 >= signalInterval",
            "!suppress"),
        Mistake.of(
            "D05",
            "a suppressed request makes no event though it fails",
            "Merger.java",
            "    if (success && queue.isSuppressed(slot)) {\n      queue.tellWindow(slot, true);",
            "    if (queue.isSuppressed(slot)) {\n      queue.tellWindow(slot, true);"),
        Mistake.of(
            "D05",
            "a suppressed request makes an event though it succeeds",
            "WorkQueue.java",
            "(byte) ((suppress ? SUPPRESSED : 0) | (unsignalled ? UNSIGNALLED : 0))",
            "(byte) (unsignalled ? UNSIGNALLED : 0)"),
        Mistake.of(
            "D01",
            "one segment more than the attributes say is taken",
            "PzImpl.java",
            "    if (count > most) {",
            "    if (count > most + 1) {"),
        Mistake.of(
            "D01",
            "the last segment of a request is left out",
            "PzImpl.java",
            "    for (int i = 0; i < count; i++) {\n      if (!(segments.lmr(i)",
            "    for (int i = 0; i < Math.max(1, count - 1); i++) {\n"
                + "      if (!(segments.lmr(i)"),
        Mistake.of(
            "D01",
            "any request may be a solicited one",
            "EndpointImpl.java",
            "(completesAtPeer(operation) ? CompletionFlags.SOLICITED_WAIT : 0)",
            "CompletionFlags.SOLICITED_WAIT"),
        Mistake.of(
            "D01",
            "a fence is forgotten",
            "EndpointImpl.java",
            "    send.fence = (flags & CompletionFlags.BARRIER_FENCE) != 0;",
            "    send.fence = false;"));
  }

  private static Stream<Mistake> retries() {
    return Stream.of(
        Mistake.of(
                "C06",
                "a time-out that is not needed any more stays as long as an earlier one",
                "Reaper.java",
                "    if (timers.size() > mostTimers) {",
                "    if (timers.size() > 1 << 20) {")
            .foundBy("aTimeOutThatIsNotNeeded"),
        Mistake.of(
            "C06",
            "the reads that were asked for are told as negotiated",
            "Connection.java",
            "return told < 0 ? incarnation.attributes().rdmaReadsOut() : told;",
            "return incarnation.attributes().rdmaReadsOut();"),
        Mistake.of(
            "C06",
            "a number of reads that the provider does not tell is told",
            "Connection.java",
            "return told < 0 ? incarnation.attributes().rdmaReadsIn() : told;",
            "return told < -1 ? incarnation.attributes().rdmaReadsIn() : told;"),
        Mistake.of(
            "C06",
            "a read is answered though none were negotiated",
            "SimQp.java",
            "    if (wqe.isRead() && readsIn == 0) {",
            "    if (wqe.isRead() && readsIn < 0) {"),
        Mistake.of(
            "C06",
            "a read that waits for others is forgotten",
            "SimQp.java",
            "      } else if (holdsRead) {",
            "      } else if (holdsRead && arrived == posted) {"),
        Mistake.of(
            "C06",
            "one kind of retries is taken for both",
            "Connection.java",
            "        attributes.rnrRetryCount(),\n",
            "        attributes.retryCount(),\n"),
        Mistake.of(
            "C06",
            "the ack timeout stays the provider's own",
            "Connection.java",
            "code(attributes.ackTimeout(), Timers::ackCode)",
            "Timers.PROVIDERS_OWN"),
        Mistake.of(
            "C06",
            "a wait for a receive is shorter than it was given",
            "Timers.java",
            "    while (code <= LAST && rnrNanos(code) < nanos) {",
            "    while (code < LAST && rnrNanos(code + 1) < nanos) {"),
        Mistake.of(
            "C06",
            "a timer that is too long for the wire is taken",
            "IaLimits.java",
            "timer.compareTo(Duration.ofNanos(max)) > 0",
            "timer.equals(Duration.ofNanos(Long.MAX_VALUE))"));
  }

  private static Stream<Mistake> windows() {
    return Stream.of(
        Mistake.of(
            "T11",
            "the window of a bind is not known to be bound when it is done",
            "RmrImpl.java",
            "      held = region;\n",
            "      held = null;\n"),
        Mistake.of(
            "D01",
            "a message that ends a window leaves its owner believe that it is bound",
            "Merger.java",
            "      ended.onInvalidated();\n",
            "      ended.isLast(0);\n"),
        Mistake.of(
            "D01",
            "a window whose bind is done after the message that ended it counts as bound",
            "RmrImpl.java",
            "      endedEarly++;\n",
            "      endedEarly = 0;\n"),
        Mistake.of(
            "D01",
            "a suppressed bind is forgotten",
            "WorkQueue.java",
            "      tellWindow(slot, true);\n      countSuppressed();",
            "      countSuppressed();"),
        Mistake.of(
            "D02",
            "a window gives what its region does not",
            "RmrImpl.java",
            "        region.checkUse(endpoint.pz(), from, bytes, privilege, name);",
            "        region.checkUse(endpoint.pz(), from, bytes, null, name);"),
        Mistake.of(
            "D02",
            "a read into a window may leave it",
            "RmrImpl.java",
            "bytes > length - from",
            "bytes < from - length"),
        Mistake.of(
            "T11",
            "a region is closed while a window is bound to it",
            "PzImpl.java",
            "user instanceof RmrImpl rmr && rmr.mayBeBoundTo(lmr)",
            "user instanceof RmrImpl && user == lmr"),
        Mistake.of(
            "T11",
            "a bind that was flushed counts as one that was not done",
            "RmrImpl.java",
            "if (region != null && !regions.contains(region)) {",
            "if (region == null && !regions.contains(region)) {"),
        Mistake.of(
            "T11",
            "a window that could not be closed is bound to nothing",
            "RmrImpl.java",
            "    return held == region || perhaps.contains(region) || givenUp.contains(region);",
            "    return !closed && mayHaveIt(region);\n"
                + "  }\n"
                + "\n"
                + "  private boolean mayHaveIt(final LmrImpl region) {\n"
                + "    return held == region || perhaps.contains(region) || givenUp.contains(region);"),
        Mistake.of(
            "T11",
            "a window that could not be closed is none of its zone's",
            "RmrImpl.java",
            "    window.close();\n    pz.removeUser(this);",
            "    pz.removeUser(this);\n    window.close();"),
        Mistake.of(
            "T11",
            "a bind that was given up is over when a later one is done",
            "RmrImpl.java",
            "    mayHave(givenUp, region);\n",
            ""),
        Mistake.of(
            "T02",
            "a bind fails whose window is closed before its post returns",
            "RmrImpl.java",
            "      if (isClosed()) {\n        return;",
            "      if (window == null) {\n        return;"),
        Mistake.of(
            "R02",
            "a window that is closed before its bind returned stays listed",
            "RmrImpl.java",
            "      if (isClosed()) {\n        removeFromList();\n      }\n",
            ""),
        Mistake.of(
            "D01",
            "a read takes the region of one bind and the offset of another",
            "RmrImpl.java",
            "  synchronized Segments checkRead(",
            "  Segments checkRead("),
        Mistake.of(
            "E05",
            "a bind does not count as a request",
            "RmrImpl.java",
            "      endpoint.checkTakesPosts(this);\n      if (requests.isFull()) {",
            "      endpoint.checkTakesPosts(this);\n      if (requests.isSealed()) {"),
        Mistake.of(
            "D01",
            "a window that is not bound is closed",
            "RmrImpl.java",
            "    if (!bound && bytes == 0) {",
            "    if (scope == Scope.EP && !bound && bytes == 0) {"),
        Mistake.of(
            "R01",
            "a bind takes a flag that it does not know",
            "RmrImpl.java",
            "LEGAL_FLAGS = CompletionFlags.SUPPRESS |",
            "LEGAL_FLAGS = CompletionFlags.SUPPRESS | CompletionFlags.UNSIGNALLED |"),
        Mistake.of(
            "T02",
            "a bind that is swept stays open for its window",
            "Merger.java",
            "      queue.tellWindow(slot, success);\n      if (endsWindow(",
            "      if (endsWindow("));
  }

  private static Stream<Mistake> sharedReceives() {
    return Stream.of(
        Mistake.of(
            "C05",
            "each flush of a shared receive sets a timer",
            "Connection.java",
            "isUp() && !flushTimed.getAndSet(true)",
            "isUp() && !flushTimed.getAndSet(false)"),
        Mistake.of(
            "T04",
            "a receive that is in a report is not free again",
            "Merger.java",
            "    queue.complete(slot);\n    stash.release(entry);\n  }\n\n  static DtoStatus",
            "    if (!success || queue.isMarker(slot)) {\n"
                + "      queue.complete(slot);\n"
                + "    }\n"
                + "    stash.release(entry);\n  }\n\n  static DtoStatus"),
        Mistake.of(
            "E05",
            "a shared queue that grows takes no room for more",
            "SrqImpl.java",
            "    resizeRooms(to); // first: a receive that is taken must have room",
            ""),
        Mistake.of(
            "E05",
            "a shared queue that was made smaller takes as many receives as before",
            "SrqImpl.java",
            "openReceives.get() < maxReceives ? firstFree() : null",
            "firstFree()"),
        Mistake.of(
            "E05",
            "a shared queue gives back the room it had before it was resized",
            "SrqImpl.java",
            "    rooms.putAll(changed);\n",
            ""),
        Mistake.of(
            "E02",
            "a batch of shared receives is taken for one endpoint's",
            "Stash.java",
            "polled.qpNumber(index(entry))",
            "polled.qpNumber(0)"),
        Mistake.of(
            "E05",
            "each endpoint takes room for all shared receives",
            "SrqImpl.java",
            "      final CqFeed there = shareRoom(evd, null);",
            "      rooms.remove(evd);\n      final CqFeed there = shareRoom(evd, null);"),
        Mistake.of(
            "E05",
            "the room of shared receives is not given back",
            "SrqImpl.java",
            "    giveRoom(evd, room);\n  }",
            "  }"),
        Mistake.of(
            "M03",
            "the end of a connection waits for no shared receive",
            "SharedReceives.java",
            "    if (!lastTaken || isDrained()) {",
            "    if (isDrained()) {"),
        Mistake.of(
            "M03",
            "the last shared receives are left in the completion queue",
            "SharedReceives.java",
            "polled || evd.merger().passOver(incarnation.receiveFeed())",
            "evd != null"),
        Mistake.of(
            "T02",
            "the report does not have the receives that an endpoint took of a shared queue",
            "SharedReceives.java",
            "  boolean isSuppressed(final int slot) {\n    return false;",
            "  boolean isSuppressed(final int slot) {\n    return isDrained() || isSealed();"),
        Mistake.of(
            "T04",
            "the last receive of a shared queue is not waited for",
            "SharedReceives.java",
            "    if (!lastTaken || isDrained()) {",
            "    if (isDrained()) {"),
        Mistake.of(
            "T04",
            "completions behind the last-receive event are not polled",
            "SharedReceives.java",
            "polled || evd.merger().passOver(incarnation.receiveFeed())",
            "evd != null"),
        Mistake.of(
            "T04",
            "a device that never reports the last receive is waited for",
            "SharedReceives.java",
            "    if (waiting && incarnation",
            "    if (lastTaken && incarnation"),
        Mistake.of(
            "T04",
            "the last receive is waited for without a bound",
            "SharedReceives.java",
            "            this::onLastTaken);",
            "            () -> {});"),
        Mistake.of(
            "T04",
            "the bound stays short where the last receive is reported",
            "AsyncErrors.java",
            "        reportsLastWqe = true;\n",
            ""),
        Mistake.of(
            "T05",
            "a shared receive whose completion is nobody's is lost",
            "Merger.java",
            "      srq.giveBack(wrId);\n",
            ""),
        Mistake.of(
            "T05",
            "a shared receive is lost when its completion is swept",
            "SrqImpl.java",
            "    } while (!returned.compareAndSet(first, done));",
            "    } while (!returned.compareAndSet(first, Thread.currentThread() == null ? done :"
                + " first));"),
        Mistake.of(
            "T06",
            "the number of a queue pair is believed to be new too early",
            "SrqImpl.java",
            "numbers.putIfAbsent(number, endpoint) == null",
            "numbers.put(number, endpoint) != endpoint"),
        Mistake.of(
            "T06",
            "the number of a queue pair is forgotten before its completion queue was looked at",
            "EndpointDrain.java",
            "    if (incarnation.srq() == null) {",
            "    if (incarnation.srq() != null) {\n"
                + "      incarnation.srq().removeNumber(incarnation);\n"
                + "    }\n"
                + "    if (incarnation.srq() == null) {"),
        Mistake.of(
            "T13",
            "the low watermark is told of twice",
            "SrqImpl.java",
            "isAsked = watermark.getAndSet(0) > 0;",
            "isAsked = watermark.get() > 0;"),
        Mistake.of(
            "T13",
            "a watermark that was passed before it was set is not told of",
            "SrqImpl.java",
            "    if (openReceives.decrementAndGet() < watermark.get()) {",
            "    if (openReceives.decrementAndGet() < 0) {"),
        Mistake.of(
            "T13",
            "a watermark that is reached already is told of only when the device says so",
            "SrqImpl.java",
            "      if (openReceives.get() < watermark.get()) {",
            "      if (openReceives.get() < 0) {"),
        Mistake.of(
                "T13",
                "what completed while a watermark was refused is not compared with the one before",
                "SrqImpl.java",
                "      if (openReceives.get() < watermark.get()) {",
                "      if (watermark.get() == receives && openReceives.get() < receives) {")
            .foundBy("WhileAnotherIsRefused"),
        Mistake.of(
            "R02",
            "a closed shared receive queue takes posts",
            "SrqImpl.java",
            "      checkOpen(\"postReceive\");\n",
            ""));
  }

  private static Stream<Mistake> states() {
    return Stream.of(
        Mistake.of(
            "C01",
            "a disconnected endpoint connects without a reset",
            "EndpointStates.java",
            "          .on(DISCONNECTED, Trigger.RESET, CLOSED)\n",
            "          .on(DISCONNECTED, Trigger.RESET, CLOSED)\n"
                + "          .on(DISCONNECTED, Trigger.CONNECT, ACTIVE_CONNECTION_PENDING)\n"),
        Mistake.of(
            "C01",
            "a reserved service point goes on listening after its request",
            "RspImpl.java",
            "    if (offer(request)) {\n      ia().reaper().execute(this::withdraw);\n",
            "    if (offer(request)) {\n      move(Trigger.UNTAKE);\n"),
        Mistake.of(
            "C01",
            "a reserved service point whose EVD was full takes no request any more",
            "RspImpl.java",
            "    } else if (!move(Trigger.UNTAKE)) {",
            "    } else if (state() == State.CLOSED) {"),
        Mistake.of(
            "C01",
            "a rejected request leaves its endpoint where it was",
            "Connection.java",
            "        machine.move(Trigger.REJECT);\n",
            ""),
        Mistake.of(
            "C01",
            "a second service point for an endpoint takes the place of the first",
            "Connection.java",
            "      legal = machine.move(Trigger.RESERVE) != null;\n      if (legal) {",
            "      legal = machine.move(Trigger.RESERVE) != null;\n"
                + "      if (servicePoint != null) {"),
        Mistake.of(
            "C01",
            "a service point that was closed gives back the endpoint of another one",
            "Connection.java",
            "      if (reservedFor == servicePoint) {",
            "      if (reservedFor != null) {"),
        Mistake.of(
            "C01",
            "a request of somebody else takes an endpoint that waits for its own",
            "EndpointStates.java",
            "          .on(PASSIVE_CONNECTION_PENDING, Trigger.REJECT, UNCONNECTED)\n",
            "          .on(PASSIVE_CONNECTION_PENDING, Trigger.REJECT, UNCONNECTED)\n"
                + "          .on(PASSIVE_CONNECTION_PENDING, Trigger.ACCEPT,"
                + " COMPLETION_PENDING)\n"),
        Mistake.of(
            "C01",
            "a request that was handed off can be answered once more",
            "CrImpl.java",
            "    answer(Trigger.HANDOFF, \"handoff\");\n",
            ""),
        Mistake.of(
            "C01",
            "a closed service point still takes what was under way",
            "SpImpl.java",
            "    if (state() == State.CLOSED) { // it was under way",
            "    if (request == null) {"),
        Mistake.of(
            "C01",
            "a reset does not begin anew",
            "EndpointLife.java",
            "        now = fresh;\n",
            ""),
        Mistake.of(
            "C01",
            "open receives are lost by a change that needs another queue pair",
            "EndpointLife.java",
            "      if (!last.receives().isIdle()) {",
            "      if (parameters == null) {"),
        Mistake.of(
                "C01",
                "a connection that stood is rejected afterwards",
                "Connection.java",
                "            isUp(before) == (kind == ConnectionEvent.Kind.DISCONNECTED) ?",
                "            isUp(before) || kind != ConnectionEvent.Kind.DISCONNECTED ?")
            .with("Connection.java", "default -> gate.isEstablished();", "default -> false;"),
        Mistake.of(
                "C02",
                "a connect whose first event is DISCONNECTED ends as if it had stood",
                "Connection.java",
                "            isUp(before) == (kind == ConnectionEvent.Kind.DISCONNECTED) ?",
                "            !isUp(before) || kind == ConnectionEvent.Kind.DISCONNECTED ?")
            .foundBy("eachFailureOfAConnect"),
        Mistake.of(
                "C02",
                "a request for which there is no memory is left to nobody",
                "SpImpl.java",
                "    boolean offered = false;\n    try {",
                "    boolean offered = true;\n    try {")
            .foundBy("aRequestWithoutMemory"),
        Mistake.of(
            "T01",
            "the close of a reserved endpoint leaves its service point",
            "Connection.java",
            "      later(servicePoint::withdraw);\n",
            "      assert servicePoint != null;\n"),
        Mistake.of(
            "T01",
            "the close of an endpoint leaves the request that waits for it",
            "Connection.java",
            "      later(request::close);\n",
            "      assert request != null;\n"),
        Mistake.of(
                "T01",
                "a close forgets the reset that is in progress",
                "EndpointLife.java",
                "      beginUnlessClosed();\n      final Incarnation opening",
                "      final Incarnation opening")
            .with(
                "EndpointLife.java",
                "            .thenCompose(nothing -> now.drain().start(bound));\n",
                "            .thenCompose(nothing -> drained);\n")
            .with(
                "EndpointLife.java",
                "      before = closed && fresh != null ? fresh.connection().close() : null;\n",
                "      before = null;\n"),
        Mistake.of(
            "T02",
            "what a reset found open is in no report",
            "EndpointLife.java",
            "    return begun.done.thenCombine(last.drain().whole(), (nothing, report) -> report);",
            "    return begun.done.thenApply(nothing -> DrainReport.EMPTY);"),
        Mistake.of(
            "T02",
            "a reset reports at its bound what it does not know yet",
            "EndpointLife.java",
            "    return begun.done.thenCombine(last.drain().whole(), (nothing, report) -> report);",
            "    return begun.done.thenCombine(last.drain().closed(), (nothing, report) -> report);"),
        Mistake.of(
                "M05",
                "a reset begins anew before all of before is drained",
                "EndpointLife.java",
                "    if (before == null) { // the one",
                "    if (begun != null) { // the one")
            .with(
                "EndpointLife.java",
                "    return begun.done.thenCombine(last.drain().whole(), (nothing, report) -> report);",
                "    return begun.done.thenApply(nothing -> DrainReport.EMPTY);"),
        Mistake.of(
            "C01",
            "a service point that got its request before its creation returned stays listed",
            "IaImpl.java",
            "    if (servicePoint.isDestroyed()) {",
            "    if (servicePoint == null) {"),
        Mistake.of(
            "C01",
            "a service point listens on though its endpoint was closed before its creation"
                + " returned",
            "SpImpl.java",
            "    if (state() == State.CLOSED) { // meanwhile",
            "    if (listener == null) { // meanwhile"),
        Mistake.of(
                "C01",
                "a request is refused before its endpoint waits for another one",
                "RspImpl.java",
                "    waitForAnother();\n    super.lose(request);",
                "    super.lose(request);")
            .with(
                "RspImpl.java",
                "      ia().reaper().execute(this::withdraw);\n    }\n  }\n\n  @Override",
                "      ia().reaper().execute(this::withdraw);\n    } else {\n"
                    + "      waitForAnother();\n    }\n  }\n\n  @Override"),
        Mistake.of(
            "C01",
            "a service point listens on for an endpoint that was closed while its request was lost",
            "RspImpl.java",
            "    if (!connection.requestLost()) {",
            "    if (connection.requestLost() && connection == null) {"),
        Mistake.of(
            "C01",
            "a request takes the endpoint of whatever service point has it",
            "Connection.java",
            "reservedFor == servicePoint && machine.move(Trigger.REQUEST) != null;",
            "machine.move(Trigger.REQUEST) != null;"),
        Mistake.of(
            "C01",
            "a request that is closed while its accept fails is never answered",
            "CrImpl.java",
            "      if (unwanted || (endpoint != null",
            "      if ((endpoint != null"),
        Mistake.of(
            "C01",
            "a call that fails because of a close says that the provider failed",
            "Connection.java",
            "    return machine.move(undo) != null;\n",
            "    machine.move(undo);\n    return true;\n"),
        Mistake.of(
            "T02",
            "a close waits for a reset that does not begin any more",
            "EndpointLife.java",
            "      pending = beginning ? renewal : null;",
            "      pending = renewal;"));
  }

  private static Stream<Mistake> errors() {
    return Stream.of(
        Mistake.of(
                "R01",
                "an EVD that cannot be made keeps its room",
                "IaImpl.java",
                "      runtime.releaseEvd(); // an EVD that",
                "      // an EVD that")
            .foundBy("anEvdThatCannotBeMade"),
        Mistake.of(
                "R02",
                "an upcall that closed its EVD goes on dequeuing",
                "ConsumerTurn.java",
                "    if (isInside) {\n      evd.checkOpen(call);\n",
                "    if (isInside) {\n")
            .foundBy("anUpcallThatClosedItsEvd"),
        Mistake.of(
            "P04",
            "a channel that fails to wake its reader fails the poster",
            "IdleWait.java",
            "    } catch (final Throwable e) { // none of the poster's",
            "    } catch (final ArithmeticException e) { // none of the poster's"),
        Mistake.of(
                "U08",
                "a wait that is over is not known to be below",
                "EvdImpl.java",
                "      if (consumer.isWaitingHere()) {",
                "      if (before >= 0) {")
            .foundBy("BelowIt"),
        Mistake.of(
            "U10",
            "a handler that throws below a wait for a CNO takes its trigger with it",
            "CnoImpl.java",
            "        trigger(own.evd);\n",
            "        own.evd = null;\n"),
        Mistake.of(
                "U10",
                "a channel that cannot be closed ends its thread again and again",
                "Dispatcher.java",
                "      } catch (final Throwable e) { // mostly",
                "      } catch (final RuntimeException e) { // mostly")
            .foundBy("ChannelCannotBeClosed"),
        Mistake.of(
                "T09",
                "an error in a disconnect leaves its endpoint open",
                "Connection.java",
                "        ownEnd = event;\n        offerEnd(event);\n      }\n    } finally {\n      exit();\n    }\n",
                "        ownEnd = event;\n        offerEnd(event);\n      }\n      exit();\n    } catch (final IllegalStateException e) {\n      exit();\n    }\n")
            .foundBy("anErrorInADisconnect"),
        Mistake.of(
            "U10",
            "an error of a channel ends a dispatcher's thread",
            "IdleWait.java",
            "    } catch (final Throwable e) {\n",
            "    } catch (final RuntimeException e) {\n"),
        Mistake.of(
            "P05",
            "an error ends for good that a channel is read while its reader is kept",
            "Jdapl.java",
            "    } finally {\n"
                + "      isReading = goesOn; // after an error, too: the next watch begins anew\n"
                + "    }\n",
            "    } catch (final IllegalStateException e) {\n"
                + "      goesOn = false;\n"
                + "    }\n"
                + "    isReading = goesOn;\n"),
        Mistake.of(
            "P04",
            "a dispatcher whose sleep an error ended counts as asleep",
            "IdleWait.java",
            "        sleep();\n      }\n    } finally {\n      sleeper.set(null);\n",
            "        sleep();\n      }\n      sleeper.set(null);\n    } finally {\n"),
        Mistake.of(
            "P04",
            "a dispatcher that could not be woken counts as awake",
            "IdleWait.java",
            "      onFault(e);\n      return false;",
            "      onFault(e);\n      return true;"),
        Mistake.of(
                "R01",
                "an open that failed keeps its room",
                "Jdapl.java",
                "      if (ia == null) {\n        releaseEvd();\n",
                "      if (ia == null) {\n")
            .foundBy("anOpenThatTheProvider"),
        Mistake.of(
                "R01",
                "a device that was opened in vain stays open",
                "Jdapl.java",
                "        closeUnused(device);\n",
                "")
            .foundBy("anOpenThatTheProvider"),
        Mistake.of(
            "R01",
            "an empty queue is an exception",
            "ConsumerTurn.java",
            "        return Outcome.QUEUE_EMPTY;",
            "        throw new IllegalStateException(\"empty\");"),
        Mistake.of(
            "P04",
            "what a provider says that it returned is believed",
            "CqFeed.java",
            "    if (into.size() == 0 && mode == Mode.PLAIN) {",
            "    if (said == 0 && mode == Mode.PLAIN) {"),
        Mistake.of(
            "P04",
            "what a poll took before it failed is dropped",
            "CqFeed.java",
            "        pause();\n      }\n    } while (",
            "        into.clear();\n        pause();\n      }\n    } while ("),
        Mistake.of(
            "R02",
            "a closed EVD is used",
            "EvdImpl.java",
            "    return (state.get() & EvdState.CLOSED) != 0;",
            "    return false;"),
        Mistake.of(
            "R03",
            "the provider's failure is not the cause",
            "Misuse.java",
            "cause.getMessage() : cause),\n        cause);",
            "cause.getMessage() : cause));"),
        Mistake.of(
                "P04",
                "a checked exception of a task ends the reaper's thread",
                "Reaper.java",
                "catch (final Throwable e) { // a checked one",
                "catch (final RuntimeException | Error e) { // a checked one")
            .with(
                "Reaper.java",
                "      } catch (final Throwable e) {\n        // As for tasks.",
                "      } catch (final VirtualMachineError e) {")
            .foundBy("whatATaskThrowsEndsNoThread"),
        Mistake.of(
                "P04",
                "a checked exception of a poll ends the turn",
                "CqFeed.java",
                "      } catch (final Throwable e) {\n"
                    + "        evd.onProviderFault(FaultLog.Call.POLL, cq, \"failed: \" + e, e);\n"
                    + "        pause();",
                "      } catch (final RuntimeException | Error e) {\n"
                    + "        evd.onProviderFault(FaultLog.Call.POLL, cq, \"failed: \" + e, e);\n"
                    + "        pause();")
            .foundBy("anExceptionOutOfPoll"),
        Mistake.of(
                "P04",
                "a logger that throws ends what it was told in",
                "Log.java",
                "return method.getReturnType() == boolean.class ? false : null;",
                "throw e.getCause();")
            .foundBy("whatDestroyThrows"),
        Mistake.of(
            "R03",
            "an endpoint that the device has no room for keeps what it is made of",
            "Incarnation.java",
            "        ia.endpoints().free(tag);\n        release(ofReceives, ofRequests);",
            "        ia.endpoints().free(tag);"),
        Mistake.of(
            "R03",
            "a device without room is an internal error",
            "Misuse.java",
            "case VerbsException.ENOMEM -> ReturnType.INSUFFICIENT_RESOURCES;",
            "case VerbsException.ENOMEM -> ReturnType.INTERNAL_ERROR;"));
  }

  private static Stream<Mistake> registry() {
    return Stream.of(
        Mistake.of(
            "P01",
            "a provider that cannot be loaded ends the look for others",
            "Jdapl.java",
            "{ // the iterator goes on behind it\n",
            "{\n        if (!found.isEmpty() || e != null) {\n          throw e;\n        }\n"),
        Mistake.of(
            "P01",
            "a lower minor is taken for a higher one",
            "Registry.java",
            "info -> info.minor() >= minor",
            "info -> info.minor() <= minor"),
        Mistake.of(
            "P01",
            "a minor must be the one that is asked for, as in the C library",
            "Registry.java",
            "info -> info.minor() >= minor",
            "info -> info.minor() == minor"),
        Mistake.of(
            "P01",
            "thread safety is not looked at",
            "Registry.java",
            "info -> info.threadSafe() == threadSafe",
            "info -> true"),
        Mistake.of(
            "P01",
            "of several lines the last one is tried first",
            "Registry.java",
            "    for (final DatConf.Entry entry : found) {",
            "    final List<DatConf.Entry> reversed = new ArrayList<>(found);\n"
                + "    java.util.Collections.reverse(reversed);\n"
                + "    for (final DatConf.Entry entry : reversed) {"),
        Mistake.of(
            "P01",
            "of several lines the first one only is tried",
            "Registry.java",
            "        failures.add(e);",
            "        throw e;"),
        Mistake.of(
            "P01",
            "a line that is wrong takes the next one along",
            "DatConf.java",
            "      conf.add(file + \":\" + ++number, line);",
            "      if (number < 0) {\n"
                + "        number = 1 - number;\n"
                + "        continue;\n"
                + "      }\n"
                + "      final int before = conf.unused.size();\n"
                + "      conf.add(file + \":\" + ++number, line);\n"
                + "      number = conf.unused.size() > before ? -number : number;"),
        Mistake.of(
            "P01",
            "what is wrong in a file ends it, as in the C library",
            "DatConf.java",
            "      conf.add(file + \":\" + ++number, line);",
            "      if (conf.unused.isEmpty()) {\n"
                + "        conf.add(file + \":\" + ++number, line);\n"
                + "      }"),
        Mistake.of(
            "P01",
            "the provider gets no parameters",
            "Registry.java",
            ".parameters(entry.parameters())",
            ""),
        Mistake.of(
            "S01",
            "only what a file names is registered",
            "Registry.java",
            "    for (final String provider : Jdapl.providers()) {",
            "    for (final String provider : List.<String>of()) {"));
  }
}
