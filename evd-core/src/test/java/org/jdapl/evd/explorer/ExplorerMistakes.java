package org.jdapl.evd.explorer;

import java.util.stream.Stream;
import org.jdapl.evd.Mistake;

/** Mistakes for the random consumers to find. */
@SuppressWarnings("StringConcatToTextBlock") // code, a line a string
final class ExplorerMistakes {

  private ExplorerMistakes() {}

  static Stream<Mistake> all() {
    return Stream.of(
        Mistake.of(
            "T01",
            "a queue pair is destroyed before it is drained",
            "EndpointDrain.java",
            "    if (!isDrained(evd) || (upcalls.get() > 0 && !late)) {",
            "    if (upcalls.get() > 0 && !late) {"),
        Mistake.of(
            "T03",
            "a post is accepted behind the last marker",
            "WorkQueue.java",
            "    sealed = true;\n",
            "    sealed = false;\n"),
        Mistake.of(
            "M05",
            "a completion of a dead queue pair is handed out as one of a newer endpoint",
            "EndpointTable.java",
            "    return owner != null && owner.tag() == tag ? owner : null;",
            "    return owner;"),
        Mistake.of(
            "T05",
            "the number of an endpoint is used again before it is drained",
            "EndpointDrain.java",
            "      connection.later(this::postMarkers);\n",
            "      incarnation.ia().endpoints().free(incarnation.tag());\n"
                + "      connection.later(this::postMarkers);\n"),
        Mistake.of(
            "T08",
            "a connection id is destroyed before its event is acknowledged",
            "Connection.java",
            "        case TIMEWAIT_EXIT -> {}\n      }\n    } finally {\n",
            "        case TIMEWAIT_EXIT -> {}\n      }\n    } finally {\n"
                + "      if (machine.state() == EndpointState.CLOSED) {\n"
                + "        id.close();\n"
                + "      }\n"),
        Mistake.of(
            "U08",
            "a close waits in its own upcall",
            "IaImpl.java",
            "if (!Dispatcher.isCurrent() && !Reaper.isCurrent()) {",
            "if (!Reaper.isCurrent()) {"),
        Mistake.of(
            "T02",
            "a request is reported and delivered",
            "Merger.java",
            "    queue.complete(slot);\n    stash.release(entry);\n    to.set(view",
            "    if (endpoint.connection().state() == org.jdapl.dat.EndpointState.CLOSED) {\n"
                + "      queue.sweep(slot, DrainReport.Status.FLUSHED);\n"
                + "    }\n"
                + "    queue.complete(slot);\n"
                + "    stash.release(entry);\n"
                + "    to.set(view"),
        Mistake.of(
            "T02",
            "a request is delivered and reported",
            "Merger.java",
            "    if (queue.isSwept()) {\n      sweep(endpoint, queue, slot, entry);\n      return false;\n    }\n"
                + "    handOut(",
            "    if (queue.isSwept()) {\n"
                + "      queue.sweep(slot, DrainReport.Status.FLUSHED);\n"
                + "    }\n"
                + "    handOut("),
        Mistake.of(
            "T05",
            "an entry of a shared receive queue is lost: the endpoint that took it was closed",
            "SharedReceives.java",
            "      srq.complete(slot ^ SHARED);\n",
            "      if (incarnation.connection().state() != org.jdapl.dat.EndpointState.CLOSED) {\n"
                + "        srq.complete(slot ^ SHARED);\n"
                + "      }\n"),
        Mistake.of(
            "E05",
            "an entry of a shared receive queue is lost: a post that the device refused",
            "SrqImpl.java",
            "        complete(id & INDEX_MASK);\n",
            "        slot.id.set(NOT_POSTED);\n"),
        Mistake.of(
            "M04",
            "DISCONNECTED comes twice",
            "Connection.java",
            "    final EndpointState before = machine.move(Trigger.END);\n    if (before != null) {\n"
                + "      final ConnectionEvent.Kind known",
            "    EndpointState before = machine.move(Trigger.END);\n"
                + "    if (before != null || ended) {\n"
                + "      before = before == null ? EndpointState.DISCONNECTED : before;\n"
                + "      ended = false;\n"
                + "      final ConnectionEvent.Kind known"),
        Mistake.of(
            "W04",
            "a waiter is not woken",
            "EvdState.java",
            "case SIGNAL -> schedule(s | argument) & ~ASLEEP;",
            "case SIGNAL -> schedule(s | argument);"),
        Mistake.of(
            "T11",
            "a registration ends while a request uses it",
            "LmrImpl.java",
            "    closed = user == null;\n    if (user != null) {",
            "    closed = true;\n    if (user == this) {"),
        Mistake.of(
            "T12",
            "the removal of a device leaves it open",
            "IaImpl.java",
            "isLost ? deviceClose::run : this::finishClose)",
            "isLost ? () -> {} : this::finishClose)"),
        Mistake.of(
            "D01",
            "a transfer begins at another place of its region",
            "PzImpl.java",
            "region.address() + offset, (int) length",
            "region.address() + (offset & ~64), (int) length"),
        Mistake.of(
            "W03",
            "a second waiter is let in",
            "EvdState.java",
            "final long after = (s & WAITER) != 0 ? WAITED : take(s);",
            "final long after = take(s & ~TURN);"),
        Mistake.of(
            "W04",
            "the waiter is not woken by a close",
            "EvdState.java",
            "case SIGNAL -> schedule(s | argument) & ~ASLEEP;",
            "case SIGNAL -> schedule(s | argument) & (argument == CONTROL ? -1 : ~ASLEEP);"),
        Mistake.of(
            "W04",
            "the waiter is not woken though no thread may wait any more",
            "EvdState.java",
            "REFUSED : (s & ~(WAITER | ASLEEP)) | UNWAITABLE;",
            "REFUSED : (s & ~WAITER) | UNWAITABLE;"),
        Mistake.of(
            "W06",
            "upcalls are enabled while a thread waits",
            "EvdState.java",
            "yield (s & WAITER) != 0 && (argument & POLICY) != 0",
            "yield (s & WAITER) != 0 && (argument & POLICY) == MANY"),
        Mistake.of(
            "U07",
            "a dequeue is let in while an upcall of MANY runs on another thread",
            "EvdState.java",
            "case TAKE -> {\n        if ((s & (POLICY | CLOSED | UPCALL | RUNNING)) != 0) {",
            "case TAKE -> {\n        if ((s & (POLICY | CLOSED | UPCALL)) != 0) {"),
        Mistake.of(
            "U05",
            "a teardown does not wait for the upcall that runs on another thread",
            "EvdState.java",
            "return (s & (UPCALL | RUNNING | POLICY)) == 0;",
            "return (s & (RUNNING | POLICY)) == 0;"),
        Mistake.of(
            "W05",
            "a CNO keeps its trigger from the thread that waits",
            "CnoImpl.java",
            "released = waiters.poll();",
            "released = null;"),
        Mistake.of(
            "W05",
            "a CNO is not told of an event that comes while an endpoint is closed",
            "EvdImpl.java",
            "      if (EvdState.tells(before, after, operation)) {",
            "      if (!EvdState.madeToken(before, after)\n"
                + "          && EvdState.tells(before, after, operation)) {"),
        Mistake.of(
            "W05",
            "a CNO is not told of what ON_NEW held back",
            "EvdUpcalls.java",
            "DISABLED = EvdState.DISABLED | EvdState.WORK;",
            "DISABLED = EvdState.DISABLED;"));
  }
}
