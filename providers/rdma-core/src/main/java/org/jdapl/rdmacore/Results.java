package org.jdapl.rdmacore;

import org.jdapl.verbs.VerbsException;

/** What C returns, as exceptions. */
final class Results {

  private Results() {}

  /** A result that is 0 or more if the verb was done. */
  static int check(final int result, final String verb, final Object object, final String detail) {
    if (result < 0) {
      throw new VerbsException(verb, object.toString(), -result, detail);
    }
    return result;
  }

  /** A pointer, or an errno, negated. */
  static long check(
      final long result, final String verb, final Object object, final String detail) {
    if (result < 0) {
      throw new VerbsException(verb, object.toString(), (int) -result, detail);
    }
    return result;
  }

  /** Whether a destroy failed because the device is gone: then there is nothing left to destroy. */
  static boolean isGone(final int result) {
    return result == -VerbsException.EIO || result == -VerbsException.ENODEV;
  }

  /** Keeps the first failure, and the others with it. */
  static Throwable first(final Throwable failure, final Throwable next) {
    if (failure == null) {
      return next;
    }
    if (failure != next) { // the virtual machine has one OutOfMemoryError for several
      failure.addSuppressed(next);
    }
    return failure;
  }

  /** Throws a failure that a handler threw, if there is one. */
  static void rethrow(final Throwable failure) {
    if (failure instanceof Error error) {
      throw error;
    }
    if (failure instanceof RuntimeException exception) {
      throw exception;
    }
  }
}
