package org.jdapl.examples.copy;

/** The copy failed; the message is for people, one line. */
final class CopyException extends Exception {

  private static final long serialVersionUID = 1L;

  CopyException(final String message) {
    super(message);
  }

  CopyException(final String message, final Throwable cause) {
    super(message, cause);
  }
}
