package org.jdapl.dat;

/** The types of DAT return codes, with DAT's numbers. */
public enum ReturnType {
  /** Done. */
  SUCCESS(0),
  /** The call was ended because its object was closed. */
  ABORT(1),
  /** Somebody listens at that connection qualifier. */
  CONN_QUAL_IN_USE(2),
  /** There is no room; nothing was changed. */
  INSUFFICIENT_RESOURCES(3),
  /** The provider failed; the cause says how. */
  INTERNAL_ERROR(4),
  /** The object was closed, or does not fit. */
  INVALID_HANDLE(5),
  /** An argument is not valid. */
  INVALID_PARAMETER(6),
  /** The object is in a state in which the call is not legal. */
  INVALID_STATE(7),
  /** A length is outside of what the memory or the message allows. */
  LENGTH_ERROR(8),
  /** The provider does not have this feature. */
  MODEL_NOT_SUPPORTED(9),
  /** There is no such provider. */
  PROVIDER_NOT_FOUND(10),
  /** The memory does not have the right that the call needs. */
  PRIVILEGES_VIOLATION(11),
  /** The objects belong to different protection zones. */
  PROTECTION_VIOLATION(12),
  /** The queue is empty. */
  QUEUE_EMPTY(13),
  /** The queue is full. */
  QUEUE_FULL(14),
  /** The time was over. */
  TIMEOUT_EXPIRED(15),
  /** There is a provider of that name. */
  PROVIDER_ALREADY_REGISTERED(16),
  /** The provider is in use. */
  PROVIDER_IN_USE(17),
  /** The address is not valid. */
  INVALID_ADDRESS(18),
  /** The thread was interrupted. */
  INTERRUPTED_CALL(19),
  /** There is no free connection qualifier. */
  CONN_QUAL_UNAVAILABLE(20),
  /** The memory region is reserved. */
  RESERVED_LMR(21),
  /** The port is in use. */
  PORT_IN_USE(22),
  /** The way to communicate is not supported. */
  COMM_NOT_SUPPORTED(23),
  /** Not implemented. */
  NOT_IMPLEMENTED(0x3FFF);

  private final int number;

  ReturnType(final int number) {
    this.number = number;
  }

  /**
   * DAT's number of this type.
   *
   * @return the number, as in bits 16 to 29 of a DAT_RETURN.
   */
  public int number() {
    return number;
  }
}
