package org.jdapl.evd.explorer;

import java.util.stream.Stream;
import org.jdapl.evd.Mistake;

/** Mistakes for the random consumers to find. */
@SuppressWarnings("StringConcatToTextBlock") // code, a line a string
final class ExplorerMistakes {

  private ExplorerMistakes() {}

  static Stream<Mistake> all() {
    return Stream.concat(ofEvents(), ofRemoteMemory());
  }

  /** Of events, connections, requests and teardown. */
  private static Stream<Mistake> ofEvents() {
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
                "    return owner;")
            .foundBy("2086"),
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
                    + "    fill(",
                "    if (queue.isSwept()) {\n"
                    + "      queue.sweep(slot, DrainReport.Status.FLUSHED);\n"
                    + "    }\n"
                    + "    fill(")
            .foundBy("9416"),
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
                "        slot.id.set(NOT_POSTED);\n")
            .foundBy("1711"),
        Mistake.of(
                "M04",
                "DISCONNECTED comes twice",
                "Connection.java",
                "      final EndpointState before = machine.move(trigger);\n"
                    + "      if (before != null) {\n"
                    + "        final ConnectionEvent.Kind known",
                "      EndpointState before = machine.move(trigger);\n"
                    + "      if (before != null || (trigger == Trigger.END && gate.hasEnded())) {\n"
                    + "        before = before == null ? EndpointState.DISCONNECTED : before;\n"
                    + "        final ConnectionEvent.Kind known")
            .with(
                "ConnectionGate.java",
                "  boolean handOutEnd(final ConnectionEventImpl event) {\n    if (ended) {\n",
                "  boolean handOutEnd(final ConnectionEventImpl event) {\n    if (event == null) {\n"),
        Mistake.of(
                "E01",
                "a connection event is reported by its endpoint and by its EVD",
                "ConnectionEventImpl.java",
                "    return null; //",
                "    return this; //")
            .with("ConnectionGate.java", "    evd.merger().forgetGone();\n", ""),
        Mistake.of(
                "C02",
                "a connection that came about ends as one that did not",
                "Connection.java",
                "          default -> gate.isEstablished();",
                "          default -> false;")
            .foundBy("12785"),
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
            "        closed = user == null;\n      }\n      if (user != null) {",
            "        closed = true;\n      }\n      if (user == this) {"),
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
            "A02",
            "a queue that a dequeue found empty is taken for armed",
            "CqFeed.java",
            "    if (into.size() == 0 && mode == Mode.PLAIN) {",
            "    if (into.size() == 0) {"),
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
                "case TAKE -> {\n        if ((s & (POLICY | CLOSED | UPCALL)) != 0) {")
            .foundBy("2420"),
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
                    + "          && EvdState.tells(before, after, operation)) {")
            .foundBy("8415"),
        Mistake.of(
            "W05",
            "a CNO is not told of what ON_NEW held back",
            "EvdUpcalls.java",
            "DISABLED_WITH_WORK = EvdState.DISABLED | EvdState.WORK;",
            "DISABLED_WITH_WORK = EvdState.DISABLED;"),
        Mistake.of(
                "U04",
                "an event that a close polled waits behind one that does not tell",
                "EvdImpl.java",
                "      settled &= !merger.foundNews();",
                "      merger.foundNews();")
            .foundBy("3702"),
        Mistake.of(
            "U04",
            "an event that tells waits behind one that does not",
            "Merger.java",
            "evd.mayBeUnsignalled() && success && queue.isUnsignalled(slot);",
            "evd.mayBeUnsignalled();"),
        Mistake.of(
                "E05",
                "a shared receive queue that was made smaller takes as many receives as before",
                "SrqImpl.java",
                "openReceives.get() < maxReceives ? firstFree() : null",
                "firstFree()")
            .foundBy("10890"));
  }

  /** Of remote memory regions, atomics and immediate data. */
  private static Stream<Mistake> ofRemoteMemory() {
    return Stream.of(
        Mistake.of(
                "D02",
                "a window gives the rights of the one that was bound before it, too",
                "WorkQueue.java",
                "    access.clear();\n    if (privileges",
                "    if (privileges")
            .foundBy("6806"),
        Mistake.of(
            "D02",
            "a window begins where its region does",
            "RmrImpl.java",
            "bind.address = region == null ? 0 : region.start() + from;",
            "bind.address = region == null ? 0 : region.start();"),
        Mistake.of(
            "D01",
            "a window of an endpoint is bound though it is",
            "RmrImpl.java",
            "if (scope == Scope.EP && bound && (bytes > 0 || at != endpoint)) {",
            "if (bound && bytes < 0) {"),
        Mistake.of(
            "D01",
            "a message that ends a window leaves its owner believe that it is bound",
            "Merger.java",
            "      ended.onInvalidated();\n",
            "      ended.isLast(0);\n"),
        Mistake.of(
            "D01",
            "a receive does not say what its message ended",
            "Merger.java",
            "      view.setInvalidated(stash.invalidatedRkey(entry));\n",
            ""),
        Mistake.of(
                "D01",
                "a read into a window begins where the window does",
                "RmrImpl.java",
                "single(asked, offset + from, bytes)",
                "single(asked, offset, bytes)")
            .foundBy("12019"),
        Mistake.of(
                "D02",
                "a read into a window may leave it",
                "RmrImpl.java",
                "bytes > length - from",
                "bytes < from - length")
            .foundBy("3442"),
        Mistake.of(
            "T02",
            "a bind that is swept stays open for its window",
            "Merger.java",
            "      queue.tellWindow(slot, success);\n      if (endsWindow(",
            "      if (endsWindow("),
        Mistake.of(
                "T02",
                "a window is closed while a bind of it is open",
                "RmrImpl.java",
                "      if (openBinds > 0) {\n        throw",
                "      if (openBinds < 0) {\n        throw")
            .foundBy("2227"),
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
                "if (region == null && !regions.contains(region)) {")
            .foundBy("2874"),
        Mistake.of(
            "D01",
            "an atomic adds and compares half a number",
            "EndpointImpl.java",
            "      send.compareAdd = operand;",
            "      send.compareAdd = (int) operand;"),
        Mistake.of(
            "D01",
            "a swap puts back what it compared with",
            "EndpointImpl.java",
            "      send.swap = swap;",
            "      send.swap = operand;"),
        Mistake.of(
            "D01",
            "a fetch and add adds something else",
            "EndpointImpl.java",
            "        offset,\n        null,\n        rmrContext,\n        remoteAddress,\n        add,",
            "        offset,\n        null,\n        rmrContext,\n        remoteAddress,\n        add + offset,"),
        Mistake.of(
            "D01",
            "immediate data is that of the request before",
            "EndpointImpl.java",
            "      send.immediate = (int) operand;\n",
            "      send.immediate = send.immediate == 0 ? (int) operand : send.immediate;\n"),
        Mistake.of(
            "D01",
            "a receive of immediate data counts as one of a message",
            "Merger.java",
            "stash.opcode(entry) == WcOpcode.RECV_RDMA_WITH_IMM",
            "stash.opcode(entry) == WcOpcode.RECV"));
  }
}
