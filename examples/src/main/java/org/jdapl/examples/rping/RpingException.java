package org.jdapl.examples.rping;

/** The ping-pong cannot go on. */
final class RpingException extends Exception {

  private static final long serialVersionUID = 1;

  RpingException(final String message) {
    super(message);
  }
}
