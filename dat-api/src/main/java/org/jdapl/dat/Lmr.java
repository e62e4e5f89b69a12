package org.jdapl.dat;

import java.nio.ByteBuffer;

/** A local memory region: registered memory. */
public interface Lmr extends DatObject {

  /**
   * The memory.
   *
   * @return the buffer that was registered, with a position and limit of its own.
   */
  ByteBuffer buffer();

  /**
   * How long it is.
   *
   * @return bytes.
   */
  long length();

  /**
   * Where it starts, as a peer names it in RDMA.
   *
   * @return the address.
   */
  long address();

  /**
   * What a peer needs beside the address in order to reach it (DAT_RMR_CONTEXT). Tell it in private
   * data or in a message.
   *
   * @return the context.
   */
  int rmrContext();

  /**
   * Ends the registration (dat_lmr_free).
   *
   * @throws DatException INVALID_STATE (LMR_IN_USE) while a posted request of an endpoint or a
   *     shared receive queue uses it; close that or wait for the completion, then close again.
   */
  @Override
  void close();
}
