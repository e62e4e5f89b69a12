package org.jdapl.dat;

import java.nio.ByteBuffer;

/** A protection zone: endpoints use only memory of their own zone. */
public interface ProtectionZone extends DatObject {

  /**
   * Registers memory (dat_lmr_create). The region is the whole buffer, whatever its position and
   * limit.
   *
   * @param buffer a direct buffer; it is kept alive by the region.
   * @param privileges what may be done to it.
   * @return the region.
   * @throws DatException INVALID_PARAMETER (INVALID_ARG1) if the buffer is not direct or is empty;
   *     INSUFFICIENT_RESOURCES (MEMORY_REGION) if the provider has no room; INVALID_HANDLE if
   *     closed.
   */
  Lmr createLmr(ByteBuffer buffer, Privilege... privileges);

  /**
   * Closes the zone (dat_pz_free).
   *
   * @throws DatException INVALID_STATE (PZ_IN_USE) while endpoints, shared receive queues or
   *     regions belong to it.
   */
  @Override
  void close();
}
