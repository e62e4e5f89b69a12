package org.jdapl.verbs;

/**
 * How a device behaves where the verbs leave a choice. A declaration is a lower bound: a device may
 * be better than it says, never worse. {@code UNKNOWN} is always legal and stands for the worst.
 *
 * @param armModel for which completions an armed queue raises a notification.
 * @param hint what {@link CompletionQueue#arm} returns.
 * @param armedAfterHint whether the queue is armed when {@link CompletionQueue#arm} returned a
 *     hint.
 * @param secondArm what a second arm does before the first one's notification.
 * @param concurrency whether two notifications of one queue may run at once.
 * @param notifiesInsideVerbs whether a handler may be called on the stack of a verb, a post say.
 * @param solicited what {@link ArmKind#SOLICITED} is worth.
 * @param lastWqe whether {@link AsyncType#QP_LAST_WQE_REACHED} is reported.
 * @param privateData how long the private data is that it shows.
 */
public record Declaration(
    ArmModel armModel,
    ArmHint hint,
    ArmedAfterHint armedAfterHint,
    SecondArm secondArm,
    NotificationConcurrency concurrency,
    boolean notifiesInsideVerbs,
    SolicitedSupport solicited,
    LastWqe lastWqe,
    PrivateDataLength privateData) {

  /**
   * The declaration of a device of which nothing is known.
   *
   * @return the worst of each.
   */
  public static Declaration weakest() {
    return new Declaration(
        ArmModel.UNKNOWN,
        ArmHint.NONE,
        ArmedAfterHint.UNKNOWN,
        SecondArm.UNKNOWN,
        NotificationConcurrency.CONCURRENT,
        true,
        SolicitedSupport.UNSUPPORTED,
        LastWqe.UNKNOWN,
        PrivateDataLength.UNKNOWN);
  }

  /**
   * What {@link CompletionQueue#arm} checks first.
   *
   * @param cq the queue, for the message.
   * @param kind what is asked for.
   * @throws VerbsException with EOPNOTSUPP if solicited arms are {@link
   *     SolicitedSupport#UNSUPPORTED}.
   */
  public void checkArm(final String cq, final ArmKind kind) {
    if (kind == ArmKind.SOLICITED && solicited == SolicitedSupport.UNSUPPORTED) {
      throw VerbsException.unsupported("req_notify_cq(solicited)", cq);
    }
  }

  /**
   * Whether no look at the queue is needed after an {@link CompletionQueue#arm} that returned a
   * hint.
   *
   * @param returned what the arm returned.
   * @return true if the queue is armed and every completion in it, now or later, raises a
   *     notification.
   */
  public boolean maySleepAfter(final int returned) {
    final boolean strong = armModel == ArmModel.STRONG && isArmedAfter(returned);
    return strong || (hint == ArmHint.EXACT && returned == 0);
  }

  /**
   * Whether an {@link CompletionQueue#arm} that returned a hint surely armed the queue.
   *
   * @param returned what the arm returned.
   * @return false if the queue must be polled and then armed again.
   */
  public boolean isArmedAfter(final int returned) {
    return returned == 0 || armedAfterHint == ArmedAfterHint.YES;
  }
}
