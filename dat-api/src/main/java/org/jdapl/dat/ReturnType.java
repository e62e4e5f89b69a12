package org.jdapl.dat;

/** The types of DAT return codes, with DAT's numbers. */
public enum ReturnType {
  /** Done. */
  SUCCESS(0, "done"),
  /** The call was ended because its object was closed. */
  ABORT(1, "the call was ended because its object was closed"),
  /** Somebody listens at that connection qualifier. */
  CONN_QUAL_IN_USE(2, "somebody listens at that connection qualifier"),
  /** There is no room; nothing was changed. */
  INSUFFICIENT_RESOURCES(3, "there is no room; nothing was changed"),
  /** The provider failed. */
  INTERNAL_ERROR(4, "the provider failed"),
  /** The object was closed, or does not fit. */
  INVALID_HANDLE(5, "the object was closed, or does not fit"),
  /** An argument is not valid. */
  INVALID_PARAMETER(6, "an argument is not valid"),
  /** The object is in a state in which the call is not legal. */
  INVALID_STATE(7, "the object is in a state in which the call is not legal"),
  /** A length is outside of what the memory or the message allows. */
  LENGTH_ERROR(8, "a length is outside of what the memory or the message allows"),
  /** The provider does not have this feature. */
  MODEL_NOT_SUPPORTED(9, "the provider does not have this feature"),
  /** There is no such provider. */
  PROVIDER_NOT_FOUND(10, "there is no such provider"),
  /** The memory does not have the right that the call needs. */
  PRIVILEGES_VIOLATION(11, "the memory does not have the right that the call needs"),
  /** The objects belong to different protection zones. */
  PROTECTION_VIOLATION(12, "the objects belong to different protection zones"),
  /** The queue is empty. */
  QUEUE_EMPTY(13, "the queue is empty"),
  /** The queue is full. */
  QUEUE_FULL(14, "the queue is full"),
  /** The time was over. */
  TIMEOUT_EXPIRED(15, "the time was over"),
  /** There is a provider of that name. */
  PROVIDER_ALREADY_REGISTERED(16, "there is a provider of that name"),
  /** The provider is in use. */
  PROVIDER_IN_USE(17, "the provider is in use"),
  /** The address is not valid. */
  INVALID_ADDRESS(18, "the address is not valid"),
  /** The thread was interrupted. */
  INTERRUPTED_CALL(19, "the thread was interrupted"),
  /** The connection qualifier is not available. */
  CONN_QUAL_UNAVAILABLE(20, "the connection qualifier is not available"),
  /** The memory region is reserved. */
  RESERVED_LMR(21, "the memory region is reserved"),
  /** The port is in use. */
  PORT_IN_USE(22, "the port is in use"),
  /** The way to communicate is not supported. */
  COMM_NOT_SUPPORTED(23, "the way to communicate is not supported"),
  /** The first type of extensions. */
  EXTENSION_BASE(0x1000, "the first type of extensions"),
  /** Not implemented. */
  NOT_IMPLEMENTED(0x3FFF, "not implemented");

  private final int number;
  private final String text;

  ReturnType(final int number, final String text) {
    this.number = number;
    this.text = text;
  }

  /**
   * DAT's number of this type.
   *
   * @return the number, as in bits 16 to 29 of a DAT_RETURN.
   */
  public int number() {
    return number;
  }

  /**
   * What it means, in a few words (dat_strerror, the major message).
   *
   * @return the words, beginning small and without a full stop.
   */
  public String text() {
    return text;
  }
}
