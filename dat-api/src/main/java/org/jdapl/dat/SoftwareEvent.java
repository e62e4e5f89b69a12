package org.jdapl.dat;

/** An event that software posted itself (DAT_SOFTWARE_EVENT_DATA). Its source is the EVD. */
public interface SoftwareEvent extends Event {

  /**
   * The object that was posted.
   *
   * @return the object itself; null if null was posted.
   */
  Object payload();

  @Override
  SoftwareEvent copy();
}
