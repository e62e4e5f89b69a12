package org.jdapl.verbs;

/** A verb failed. Carries the verb, the object, and the errno with its text. */
public final class VerbsException extends RuntimeException {

  /** Not permitted. */
  public static final int EPERM = 1;

  /** The device failed, or is gone. */
  public static final int EIO = 5;

  /** Operation would block; try again. */
  public static final int EAGAIN = 11;

  /** No memory, or a queue is full. */
  public static final int ENOMEM = 12;

  /** Permission denied. */
  public static final int EACCES = 13;

  /** No such device. */
  public static final int ENODEV = 19;

  /** In use. */
  public static final int EBUSY = 16;

  /** Not valid. */
  public static final int EINVAL = 22;

  /** Not supported. */
  public static final int EOPNOTSUPP = 95;

  /** The address or service is in use. */
  public static final int EADDRINUSE = 98;

  /** There is no connection, or not any more. */
  public static final int ENOTCONN = 107;

  /** The peer did not answer. */
  public static final int ETIMEDOUT = 110;

  private static final long serialVersionUID = 1L;

  private final String verb;
  private final int errno;

  /**
   * A failure.
   *
   * @param verb the verb, such as {@code create_cq}.
   * @param object the name of the object it was called on.
   * @param errno the errno.
   * @param detail the value that was not right and what was expected.
   */
  public VerbsException(
      final String verb, final String object, final int errno, final String detail) {
    super(verb + " on " + object + ": " + text(errno) + " (errno " + errno + "): " + detail);
    this.verb = verb;
    this.errno = errno;
  }

  /**
   * The failure of a verb that was called with something that is not valid: {@link #EINVAL}.
   *
   * @param verb the verb.
   * @param object the name of the object it was called on.
   * @param detail the value that was not right and what was expected.
   * @return the exception, to be thrown.
   */
  public static VerbsException invalid(
      final String verb, final String object, final String detail) {
    return new VerbsException(verb, object, EINVAL, detail);
  }

  /**
   * The failure of an optional verb that the provider does not have.
   *
   * @param verb the verb.
   * @param object the name of the object it was called on.
   * @return the exception, to be thrown.
   */
  public static VerbsException unsupported(final String verb, final String object) {
    return new VerbsException(verb, object, EOPNOTSUPP, "the provider does not have this verb");
  }

  /**
   * The failure of a verb that waits for the handlers of its object, and was called inside one:
   * {@link #EBUSY}.
   *
   * @param verb the verb.
   * @param object the name of the object it was called on.
   * @return the exception, to be thrown.
   */
  public static VerbsException insideHandler(final String verb, final String object) {
    return new VerbsException(
        verb,
        object,
        EBUSY,
        "called inside its own handler, whose return it would have to wait for");
  }

  /**
   * The verb that failed.
   *
   * @return its name.
   */
  public String verb() {
    return verb;
  }

  /**
   * Why.
   *
   * @return the errno.
   */
  public int errno() {
    return errno;
  }

  private static String text(final int errno) {
    return switch (errno) {
      case EPERM -> "operation not permitted";
      case 2 -> "no such file or directory";
      case EIO -> "input/output error";
      case EAGAIN -> "resource temporarily unavailable";
      case ENOMEM -> "cannot allocate memory";
      case EACCES -> "permission denied";
      case 14 -> "bad address";
      case ENODEV -> "no such device";
      case EBUSY -> "device or resource busy";
      case EINVAL -> "invalid argument";
      case 24 -> "too many open files";
      case 34 -> "numerical result out of range";
      case 38 -> "function not implemented";
      case EOPNOTSUPP -> "operation not supported";
      case EADDRINUSE -> "address already in use";
      case 99 -> "cannot assign requested address";
      case 101 -> "network is unreachable";
      case 103 -> "connection aborted";
      case 104 -> "connection reset by peer";
      case ENOTCONN -> "transport endpoint is not connected";
      case ETIMEDOUT -> "connection timed out";
      case 111 -> "connection refused";
      case 113 -> "no route to host";
      default -> "error";
    };
  }
}
