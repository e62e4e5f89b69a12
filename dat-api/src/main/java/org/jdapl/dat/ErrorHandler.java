package org.jdapl.dat;

/**
 * Told of what consumer code throws in an upcall, where there is no caller to throw it at: not by
 * hand, where it is thrown at who drives. Where none is set, the first failure of an EVD is logged,
 * then its second, fourth, eighth and so on.
 */
@FunctionalInterface
public interface ErrorHandler {

  /**
   * A method of an {@link EventHandler} or {@link NotifyHandler} threw. Called on the upcall's
   * thread and in its place: all that is allowed in a handler is allowed here, {@link Evd#disable}
   * and closing too, and an EVD of SINGLE_INSTANCE has its next upcall after this returned. With
   * several dispatchers, or MANY, it is called by several threads at once.
   *
   * <p>What this throws is logged, seldom if it is often, and the next events are delivered all the
   * same. A VirtualMachineError is not told here: it ends the dispatcher's thread, and is logged.
   *
   * @param evd whose upcall it was.
   * @param event the event that was handed out, which counts as consumed; valid until this method
   *     returns. Null if {@link EventHandler#onTurnEnd} or {@link NotifyHandler#onReady} threw.
   * @param error what was thrown.
   */
  void onError(Evd evd, Event event, Throwable error);
}
