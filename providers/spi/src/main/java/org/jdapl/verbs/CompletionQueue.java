package org.jdapl.verbs;

/**
 * A completion queue (ibv_cq). One thread at a time polls and arms it; the provider adds
 * completions whenever it likes. Once it is closed, to poll, arm or resize it throws a {@link
 * VerbsException} with EINVAL.
 */
public interface CompletionQueue extends AutoCloseable {

  /**
   * The device it belongs to.
   *
   * @return the device.
   */
  Device device();

  /**
   * How many completions it holds.
   *
   * @return at least what was asked for.
   */
  int capacity();

  /**
   * Takes completions out of the queue (ibv_poll_cq). With an error only wr_id, status, qp_num and
   * the vendor error are valid.
   *
   * @param into where they are appended, behind what it holds already.
   * @param max how many to take at most, at least 1.
   * @return how many were appended.
   * @throws VerbsException if the queue is broken.
   */
  int poll(WorkCompletions into, int max);

  /**
   * Asks for a notification (ibv_req_notify_cq). One arm gives at most one notification. The queue
   * is edge triggered in the sense of {@link Declaration#armModel}.
   *
   * @param kind which completions count.
   * @return a hint in the sense of {@link Declaration#hint}: above 0 if completions may have been
   *     missed, else 0.
   * @throws VerbsException if the queue could not be armed.
   */
  int arm(ArmKind kind);

  /**
   * Takes completions and, when the queue is empty, arms it, in one crossing. What is returned says
   * what to do next; see {@link RearmOutcome}. The default does it with {@link #poll} and {@link
   * #arm} as the device's {@link Declaration} allows.
   *
   * @param into where completions are appended.
   * @param max how many to take at most, at least 1.
   * @param kind which completions the arm asks for.
   * @return what to do next.
   * @throws VerbsException if the queue is broken or could not be armed, with nothing appended.
   *     Whether it is armed is not known then.
   */
  default RearmOutcome pollAndRearm(final WorkCompletions into, final int max, final ArmKind kind) {
    return RearmAdapter.pollAndRearm(this, into, max, kind);
  }

  /**
   * Changes the capacity (ibv_resize_cq) and loses no completion.
   *
   * @param entries the least number of entries it must hold.
   * @throws VerbsException if not supported, if it is more than the device allows, or if it holds
   *     more completions than that.
   */
  default void resize(final int entries) {
    throw VerbsException.unsupported("resize_cq", device().name());
  }

  /**
   * Destroys the queue (ibv_destroy_cq). A barrier: when it returned, no notification of this queue
   * runs or will ever start. Must not be called inside a notification of this queue.
   *
   * @throws VerbsException with EBUSY if a queue pair uses it.
   */
  @Override
  void close();
}
