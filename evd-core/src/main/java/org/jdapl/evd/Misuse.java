package org.jdapl.evd;

import java.time.Duration;
import java.util.Collection;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.verbs.VerbsException;

/** Makes the exceptions for misuse, so that the same misuse gives the same code everywhere. */
final class Misuse {

  private Misuse() {}

  static DatException handle(final ReturnSubtype subtype, final String message) {
    return new DatException(ReturnType.INVALID_HANDLE, subtype, message);
  }

  static DatException closed(final ReturnSubtype subtype, final Object object, final String call) {
    return handle(subtype, call + ": " + object + " is closed");
  }

  static DatException argument(final int number, final String message) {
    return new DatException(
        ReturnType.INVALID_PARAMETER, ReturnSubtype.valueOf("INVALID_ARG" + number), message);
  }

  /** Bounds of closes are checked before anything begins. */
  static void checkBound(final Duration bound, final String call) {
    if (bound == null || bound.isNegative()) {
      throw argument(1, call + ": the bound " + bound + " is not a time");
    }
  }

  static void checkFlags(
      final int flags,
      final int legal,
      final int argument,
      final DtoOperation operation,
      final String object) {
    if ((flags & ~legal) != 0) {
      throw argument(
          argument, object + ": completion flags " + flags + " are not legal for " + operation);
    }
  }

  /** Where events are handled nothing waits. */
  static void checkMayWait(final String object) {
    if (Dispatcher.isCurrent() || Reaper.isCurrent()) {
      throw state(
          ReturnSubtype.NO_SUBTYPE,
          object
              + ".await: this thread is inside a handler, where nothing waits; let it return, or"
              + " dequeue");
    }
  }

  /** A close is refused: others use the object, or their own closes are not complete. */
  static DatException inUse(
      final ReturnSubtype subtype, final String object, final Collection<?> users) {
    return state(
        subtype,
        object
            + ".close: in use by "
            + users
            + "; close them first. The close of one that is CLOSED is not complete: what it had"
            + " posted is still to be handed out or reported; wait for its closeAsync");
  }

  static DatException state(final ReturnSubtype subtype, final String message) {
    return new DatException(ReturnType.INVALID_STATE, subtype, message);
  }

  static DatException resources(final ReturnSubtype subtype, final String message) {
    return new DatException(ReturnType.INSUFFICIENT_RESOURCES, subtype, message);
  }

  static DatException failed(final String message, final Throwable cause) {
    return failed(message, cause, ReturnSubtype.NO_SUBTYPE);
  }

  /**
   * A failure of the provider, whatever it threw; the subtype is for the case that it has no room.
   */
  static DatException failed(
      final String message, final Throwable cause, final ReturnSubtype noRoom) {
    if (cause instanceof VirtualMachineError error) {
      throw error;
    }
    final boolean isOfVerb = cause instanceof VerbsException;
    final ReturnType type =
        switch (isOfVerb ? ((VerbsException) cause).errno() : VerbsException.EIO) {
          case VerbsException.ENOMEM -> ReturnType.INSUFFICIENT_RESOURCES;
          case VerbsException.EADDRINUSE -> ReturnType.CONN_QUAL_IN_USE;
          case VerbsException.EOPNOTSUPP -> ReturnType.MODEL_NOT_SUPPORTED;
          default -> ReturnType.INTERNAL_ERROR;
        };
    return new DatException(
        type,
        type == ReturnType.INSUFFICIENT_RESOURCES ? noRoom : ReturnSubtype.NO_SUBTYPE,
        message + ": " + (isOfVerb ? cause.getMessage() : cause),
        cause);
  }
}
