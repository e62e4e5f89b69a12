package org.jdapl.verbs.tck;

import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;

/** A completion as it was polled. */
record Completion(
    long wrId,
    WcStatus status,
    WcOpcode opcode,
    int byteLength,
    int qpNumber,
    boolean hasImmediate,
    int immediate,
    boolean hasInvalidated,
    int invalidatedRkey) {

  static Completion of(final WorkCompletions batch, final int index) {
    return new Completion(
        batch.wrId(index),
        batch.status(index),
        batch.opcode(index),
        batch.byteLength(index),
        batch.qpNumber(index),
        batch.hasImmediate(index),
        batch.immediate(index),
        batch.hasInvalidated(index),
        batch.invalidatedRkey(index));
  }

  boolean isSuccess() {
    return status == WcStatus.SUCCESS;
  }

  /** What is valid of it. */
  @Override
  public String toString() {
    return "wr_id "
        + wrId
        + " "
        + status
        + " of qp "
        + qpNumber
        + (isSuccess() ? " " + opcode + " " + byteLength + " bytes" : "")
        + (isSuccess() && hasImmediate ? " imm " + immediate : "")
        + (isSuccess() && hasInvalidated ? " ended key " + invalidatedRkey : "");
  }
}
