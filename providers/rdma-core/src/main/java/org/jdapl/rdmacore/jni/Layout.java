package org.jdapl.rdmacore.jni;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Sizes and offsets of what Java and C both touch, asked from C once; in the order of verbs.c and
 * cm.c.
 */
public final class Layout {

  private static final int[] VERBS = Verbs.layout();
  private static final int[] CM = Cm.layout();

  private Layout() {}

  /** Memory that C may read and write. */
  public static ByteBuffer allocate(final int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  /** Of a completion, struct ibv_wc. */
  public static final class Wc {
    public static final int SIZE = VERBS[0];
    public static final int WR_ID = VERBS[1];
    public static final int STATUS = VERBS[2];
    public static final int OPCODE = VERBS[3];
    public static final int VENDOR_ERR = VERBS[4];
    public static final int BYTE_LEN = VERBS[5];
    public static final int IMM_DATA = VERBS[6];
    public static final int QP_NUM = VERBS[7];
    public static final int WC_FLAGS = VERBS[8];

    private Wc() {}
  }

  /** Of a scatter-gather element, struct ibv_sge. */
  public static final class Sge {
    public static final int SIZE = VERBS[9];
    public static final int ADDR = VERBS[10];
    public static final int LENGTH = VERBS[11];
    public static final int LKEY = VERBS[12];

    private Sge() {}
  }

  /** Of a send request, struct ibv_send_wr. */
  public static final class SendWr {
    public static final int SIZE = VERBS[13];
    public static final int WR_ID = VERBS[14];
    public static final int NEXT = VERBS[15];
    public static final int SG_LIST = VERBS[16];
    public static final int NUM_SGE = VERBS[17];
    public static final int OPCODE = VERBS[18];
    public static final int SEND_FLAGS = VERBS[19];
    public static final int IMM_DATA = VERBS[20];
    public static final int RDMA_REMOTE_ADDR = VERBS[21];
    public static final int RDMA_RKEY = VERBS[22];
    public static final int ATOMIC_REMOTE_ADDR = VERBS[23];
    public static final int ATOMIC_COMPARE_ADD = VERBS[24];
    public static final int ATOMIC_SWAP = VERBS[25];
    public static final int ATOMIC_RKEY = VERBS[26];

    private SendWr() {}
  }

  /** Of a receive request, struct ibv_recv_wr. */
  public static final class RecvWr {
    public static final int SIZE = VERBS[27];
    public static final int WR_ID = VERBS[28];
    public static final int NEXT = VERBS[29];
    public static final int SG_LIST = VERBS[30];
    public static final int NUM_SGE = VERBS[31];

    private RecvWr() {}
  }

  /** Of the limits of a device, struct ibv_device_attr. */
  public static final class DeviceAttr {
    public static final int SIZE = VERBS[32];
    public static final int MAX_QP = VERBS[33];
    public static final int MAX_QP_WR = VERBS[34];
    public static final int MAX_SGE = VERBS[35];
    public static final int MAX_CQ = VERBS[36];
    public static final int MAX_CQE = VERBS[37];
    public static final int MAX_MR = VERBS[38];
    public static final int MAX_PD = VERBS[39];
    public static final int MAX_QP_RD_ATOM = VERBS[40];
    public static final int MAX_QP_INIT_RD_ATOM = VERBS[41];
    public static final int MAX_SRQ = VERBS[42];
    public static final int MAX_SRQ_WR = VERBS[43];
    public static final int MAX_SRQ_SGE = VERBS[44];
    public static final int MAX_MW = VERBS[45];
    public static final int ATOMIC_CAP = VERBS[46];
    public static final int DEVICE_CAP_FLAGS = VERBS[53];

    private DeviceAttr() {}
  }

  /** Of a port, struct ibv_port_attr. */
  public static final class PortAttr {
    public static final int SIZE = VERBS[47];
    public static final int MAX_MSG_SZ = VERBS[48];

    private PortAttr() {}
  }

  /** Of an asynchronous event, struct async_record. */
  public static final class Async {
    public static final int SIZE = VERBS[49];
    public static final int TOKEN = VERBS[50];
    public static final int TYPE = VERBS[51];
    public static final int PORT = VERBS[52];

    private Async() {}
  }

  /** Of an event of the connection manager, struct cm_record. */
  public static final class CmEvent {
    public static final int SIZE = CM[0];
    public static final int TOKEN = CM[1];
    public static final int NEW_ID = CM[2];
    public static final int TYPE = CM[3];
    public static final int STATUS = CM[4];
    public static final int READS_IN = CM[5];
    public static final int READS_OUT = CM[6];
    public static final int SCOPE = CM[7];
    public static final int ADDRESS_LENGTH = CM[8];
    public static final int ADDRESS = CM[9];
    public static final int PRIVATE_LENGTH = CM[10];
    public static final int PRIVATE_DATA = CM[11];

    private CmEvent() {}
  }
}
