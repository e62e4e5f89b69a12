package org.jdapl.dat;

/**
 * What an endpoint is made of (DAT_EP_PARAM); null stands for nothing.
 *
 * @param pz the zone whose memory it may use.
 * @param receiveEvd gets completions of receives; null if it takes no receives.
 * @param requestEvd gets completions of all else; null if it sends no requests.
 * @param connectEvd gets what happens to the connection.
 * @param srq where its receives are posted; null if they are posted to the endpoint.
 * @param attributes its sizes.
 */
public record EndpointParameters(
    ProtectionZone pz,
    Evd receiveEvd,
    Evd requestEvd,
    Evd connectEvd,
    SharedReceiveQueue srq,
    EndpointAttributes attributes) {

  /**
   * The same with other sizes.
   *
   * @param other its sizes.
   * @return the changed parameters.
   */
  public EndpointParameters withAttributes(final EndpointAttributes other) {
    return new EndpointParameters(pz, receiveEvd, requestEvd, connectEvd, srq, other);
  }

  /**
   * The same with other EVDs.
   *
   * @param receives gets completions of receives.
   * @param requests gets completions of all else.
   * @param connection gets what happens to the connection.
   * @return the changed parameters.
   */
  public EndpointParameters withEvds(final Evd receives, final Evd requests, final Evd connection) {
    return new EndpointParameters(pz, receives, requests, connection, srq, attributes);
  }
}
