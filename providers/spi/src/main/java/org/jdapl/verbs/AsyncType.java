package org.jdapl.verbs;

/** The kinds of asynchronous events (ibv_event_type). */
public enum AsyncType {
  /** A completion queue overflowed or broke; the element is the queue. */
  CQ_ERR,
  /** A queue pair broke; the element is the queue pair. */
  QP_FATAL,
  /** A queue pair broke on an invalid request of the peer; the element is the queue pair. */
  QP_REQ_ERR,
  /** A queue pair broke on an access violation of the peer; the element is the queue pair. */
  QP_ACCESS_ERR,
  /** A message arrived before the connection was known to stand; the element is the queue pair. */
  COMM_EST,
  /** A queue pair in the error state has taken its last receive of a shared queue. */
  QP_LAST_WQE_REACHED,
  /** A shared receive queue fell below its limit; the element is the queue. */
  SRQ_LIMIT_REACHED,
  /** A shared receive queue broke; the element is the queue. */
  SRQ_ERR,
  /** A port went down; the element is the device. */
  PORT_ERR,
  /** A port came up; the element is the device. */
  PORT_ACTIVE,
  /**
   * The device failed or was removed; the element is the device. Its user destroys every object and
   * closes it, because the system may wait for that. Verbs may fail from now on, those that destroy
   * must not.
   */
  DEVICE_FATAL
}
