package org.jdapl.examples.cmrate;

/** The connections cannot all be made. */
final class CmrateException extends Exception {

  private static final long serialVersionUID = 1;

  CmrateException(final String message) {
    super(message);
  }
}
