package org.jdapl.dat;

import java.nio.ByteBuffer;

/** A protection zone: endpoints use only memory of their own zone. */
public interface ProtectionZone extends DatObject {

  /**
   * Registers memory (dat_lmr_create). The region is the whole buffer, whatever its position and
   * limit.
   *
   * @param buffer a direct buffer; the region keeps it from being collected. Memory that ends by
   *     itself, as that of an arena does, must outlive the region.
   * @param privileges what may be done to it.
   * @return the region.
   * @throws DatException INVALID_PARAMETER (INVALID_ARG1) if the buffer is not direct, is empty, or
   *     is read-only and would be written, (INVALID_ARG2) if the privileges are null;
   *     INSUFFICIENT_RESOURCES (RESOURCE_MEMORY_REGION) if the provider has no room; INVALID_HANDLE
   *     if closed.
   */
  Lmr createLmr(ByteBuffer buffer, Privilege... privileges);

  /**
   * Creates a remote memory region for the peers of all endpoints of the zone (dat_rmr_create). It
   * is not bound.
   *
   * @return the remote memory region, of scope PZ.
   * @throws DatException MODEL_NOT_SUPPORTED if the device has none; INSUFFICIENT_RESOURCES if it
   *     has no room; INVALID_HANDLE if closed.
   */
  Rmr createRmr();

  /**
   * Creates a remote memory region for the peer of one endpoint at a time (dat_rmr_create_for_ep),
   * which may end it. It is not bound.
   *
   * @return the remote memory region, of scope EP.
   * @throws DatException as {@link #createRmr}.
   */
  Rmr createRmrForEndpoint();

  /**
   * Closes the zone (dat_pz_free).
   *
   * @throws DatException INVALID_STATE (INVALID_STATE_PZ_IN_USE) while endpoints, shared receive
   *     queues or regions, local or remote, belong to it.
   */
  @Override
  void close();
}
