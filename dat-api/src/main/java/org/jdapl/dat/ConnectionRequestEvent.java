package org.jdapl.dat;

/** A peer asks for a connection (DAT_CR_ARRIVAL_EVENT_DATA). */
public interface ConnectionRequestEvent extends Event {

  /**
   * The service point it came to.
   *
   * @return the service point; a reserved one is closed.
   */
  ServicePoint servicePoint();

  /**
   * The request. It outlives the event and must be answered by accept or reject.
   *
   * @return the request.
   */
  ConnectionRequest request();

  @Override
  ConnectionRequestEvent copy();
}
