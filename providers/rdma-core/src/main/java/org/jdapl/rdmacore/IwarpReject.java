package org.jdapl.rdmacore;

import java.util.Arrays;
import org.jdapl.verbs.CmHandler;

/**
 * A reject over iWARP. It carries no reason: what the peer's consumer says and what its connection
 * manager says for itself both arrive as ECONNREFUSED. So a consumer's is tagged, by what DAPL puts
 * in front of it: the version of DAT and of the provider. Nobody but a consumer sends data along.
 */
final class IwarpReject {

  /** DAT 2.0, and as much for the provider. */
  private static final byte[] TAG = {2, 0, 2, 0};

  /** How many bytes of private data the tag takes. */
  static final int TAG_BYTES = TAG.length;

  private static final int ECONNREFUSED = 111;

  private IwarpReject() {}

  /** What a consumer's reject carries. */
  static byte[] tag(final byte[] data) {
    final byte[] tagged = Arrays.copyOf(TAG, TAG.length + data.length);
    System.arraycopy(data, 0, tagged, TAG.length, data.length);
    return tagged;
  }

  /** The reason of a reject, as other transports tell it. */
  static int status(final int status, final byte[] data) {
    return status == ECONNREFUSED && data.length > 0 ? CmHandler.CONSUMER_REJECT : status;
  }

  /** What the consumer said: without the tag of any DAT 2.0 provider; other peers have none. */
  static byte[] untag(final byte[] data) {
    final boolean isTagged = data.length >= TAG.length && data[0] == TAG[0] && data[1] == TAG[1];
    return isTagged ? Arrays.copyOfRange(data, TAG.length, data.length) : data;
  }
}
