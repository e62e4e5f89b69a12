package org.jdapl.dat;

import java.nio.ByteBuffer;
import java.util.Set;

/** A local memory region: registered memory. */
public interface Lmr extends DatObject {

  /**
   * The zone it belongs to (dat_lmr_query). Legal in every state.
   *
   * @return the zone.
   */
  ProtectionZone pz();

  /**
   * What may be done to it (dat_lmr_query). Legal in every state.
   *
   * @return the privileges it was created with.
   */
  Set<Privilege> privileges();

  /**
   * The memory (dat_lmr_query).
   *
   * @return the buffer that was registered, with a position and limit of its own.
   * @throws DatException INVALID_HANDLE (INVALID_HANDLE_LMR) if closed.
   */
  ByteBuffer buffer();

  /**
   * How long it is (dat_lmr_query). Legal in every state.
   *
   * @return bytes.
   */
  long length();

  /**
   * Where it starts, as a peer names it in RDMA (dat_lmr_query).
   *
   * @return the address.
   * @throws DatException INVALID_HANDLE (INVALID_HANDLE_LMR) if closed.
   */
  long address();

  /**
   * What a peer needs beside the address in order to reach it (DAT_RMR_CONTEXT of dat_lmr_query).
   * Tell it in private data or in a message.
   *
   * @return the context.
   * @throws DatException INVALID_HANDLE (INVALID_HANDLE_LMR) if closed.
   */
  int rmrContext();

  /**
   * Ends the registration (dat_lmr_free).
   *
   * @throws DatException INVALID_STATE (INVALID_STATE_LMR_IN_USE) while a posted request of an
   *     endpoint or a shared receive queue uses it, or may, because a post there does not return;
   *     or a remote memory region is bound to it, or may be, because its bind failed or was
   *     flushed; close that, or unbind it, or wait for the completion, then close again.
   */
  @Override
  void close();
}
