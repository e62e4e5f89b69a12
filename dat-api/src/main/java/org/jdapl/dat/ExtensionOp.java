package org.jdapl.dat;

/**
 * An operation beyond those of DAT, for {@link Endpoint#extensionOp} (DAT_EXTENDED_OP, DAT_IB_OP).
 * {@link ProviderAttributes#extensions} tells which there are.
 */
public enum ExtensionOp {
  /**
   * Adds to 8 bytes of the peer's memory (DAT_IB_FETCH_AND_ADD_OP; the attribute
   * DAT_IB_FETCH_AND_ADD). Its operand is what to add.
   */
  FETCH_AND_ADD(0, DtoOperation.FETCH_AND_ADD),
  /**
   * Replaces 8 bytes of the peer's memory if they are as expected (DAT_IB_CMP_AND_SWAP_OP; the
   * attribute DAT_IB_CMP_AND_SWAP). Its operand is what is expected, its swap what to put there.
   */
  COMPARE_AND_SWAP(1, DtoOperation.COMPARE_AND_SWAP),
  /**
   * Writes into the peer's memory, and completes a receive of the peer (DAT_IB_RDMA_WRITE_IMMED_OP;
   * the attribute DAT_IB_IMMED_DATA). Its operand is the immediate data.
   */
  RDMA_WRITE_IMMED(2, DtoOperation.RDMA_WRITE_IMMED);

  private final int number;
  private final DtoOperation operation;

  ExtensionOp(final int number, final DtoOperation operation) {
    this.number = number;
    this.operation = operation;
  }

  /**
   * DAT's number of this operation.
   *
   * @return the number, of DAT_IB_OP.
   */
  public int number() {
    return number;
  }

  /**
   * What its completion says.
   *
   * @return the operation of {@link DtoCompletion#operation}.
   */
  public DtoOperation operation() {
    return operation;
  }
}
