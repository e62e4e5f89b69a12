package org.jdapl.verbs;

/** The events of a connection (rdma_cm_event_type). */
public enum CmEventType {
  /** The connection stands; on the active side with the private data of the accept. */
  ESTABLISHED,
  /** The peer said no; with its private data. */
  REJECTED,
  /** The peer did not answer, or is not there. */
  UNREACHABLE,
  /** The connection could not be made. */
  CONNECT_ERROR,
  /** The address could not be resolved. */
  ADDR_ERROR,
  /** There is no route. */
  ROUTE_ERROR,
  /** The connection is over; the queue pair is, or is being moved, in the error state. */
  DISCONNECTED,
  /** The device is gone. */
  DEVICE_REMOVAL,
  /** The queue pair may be used again. Not every transport says so. */
  TIMEWAIT_EXIT
}
