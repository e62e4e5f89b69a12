package org.jdapl.dat;

/**
 * A reserved service point: listens for one connection request, for one endpoint. While it listens
 * the endpoint is RESERVED. When its request arrives, the endpoint is PASSIVE_CONNECTION_PENDING,
 * and the service point is closed by itself. A request that finds the EVD full is refused, and it
 * goes on listening.
 */
public interface ReservedServicePoint extends ServicePoint {

  /**
   * Whom it listens for (dat_rsp_query).
   *
   * @return the endpoint.
   */
  Endpoint endpoint();

  /** As each service point; its endpoint, if it was RESERVED, is UNCONNECTED again. */
  @Override
  void close();
}
