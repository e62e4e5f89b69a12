package org.jdapl.verbs;

import java.nio.ByteBuffer;

/**
 * What a device promises room for (ibv_device_attr and the connection manager's limits). It is the
 * device that refuses an object too many, with ENOMEM, and not a count of what it promised: memory
 * may run out before, and some devices have more. A {@link Builder} makes one, number by name.
 *
 * @param maxQp queue pairs.
 * @param maxQpWr work requests of one work queue.
 * @param maxSge scatter-gather elements of one work request.
 * @param maxCq completion queues.
 * @param maxCqe entries of one completion queue.
 * @param maxMr memory regions.
 * @param maxPd protection domains.
 * @param maxSrq shared receive queues; 0 where there are none.
 * @param maxSrqWr receives of one shared receive queue.
 * @param maxSrqSge scatter-gather elements of a receive of a shared receive queue.
 * @param maxMw memory windows; 0 where there are none.
 * @param maxMessageBytes bytes of one message or RDMA transfer; a longer one is refused with EINVAL
 *     as it is posted, or completes with {@link WcStatus#LOC_LEN_ERR} and reaches nobody.
 * @param maxReadsIn RDMA reads a queue pair answers at once.
 * @param maxReadsOut RDMA reads a queue pair has in flight.
 * @param connectPrivateData bytes of private data a connect carries.
 * @param acceptPrivateData bytes of private data an accept carries.
 * @param rejectPrivateData bytes of private data a reject carries.
 */
public record DeviceLimits(
    int maxQp,
    int maxQpWr,
    int maxSge,
    int maxCq,
    int maxCqe,
    int maxMr,
    int maxPd,
    int maxSrq,
    int maxSrqWr,
    int maxSrqSge,
    int maxMw,
    long maxMessageBytes,
    int maxReadsIn,
    int maxReadsOut,
    int connectPrivateData,
    int acceptPrivateData,
    int rejectPrivateData) {

  /**
   * What {@link Device#createCq} and {@link CompletionQueue#resize} check first.
   *
   * @param verb the verb, for the message.
   * @param object what it is called on, for the message.
   * @param entries what is asked for.
   * @throws VerbsException with EINVAL unless they are 1 to {@link #maxCqe}.
   */
  public void checkCq(final String verb, final String object, final int entries) {
    check(verb, object, "entries", entries, 1, maxCqe);
  }

  /**
   * What {@link Device#createSrq} checks first.
   *
   * @param device its name.
   * @param wr the receives asked for.
   * @param sge the elements of one.
   * @throws VerbsException with EOPNOTSUPP if there are none; with EINVAL unless it is within
   *     {@link #maxSrqWr} and {@link #maxSrqSge}.
   */
  public void checkSrq(final String device, final int wr, final int sge) {
    if (maxSrq == 0) {
      throw VerbsException.unsupported("create_srq", device);
    }
    check("create_srq", device, "maxWr", wr, 1, maxSrqWr);
    check("create_srq", device, "maxSge", sge, 0, maxSrqSge);
  }

  /**
   * What {@link Device#createQp} checks first, but for whose the objects are.
   *
   * @param device its name.
   * @param wanted what is asked for.
   * @throws VerbsException with EINVAL if a number is negative, or above {@link #maxQpWr} or {@link
   *     #maxSge}, or if there is a shared receive queue and {@link #maxSrq} is 0.
   */
  public void checkQp(final String device, final QpAttributes wanted) {
    check("create_qp", device, "maxSendWr", wanted.maxSendWr(), 0, maxQpWr);
    check("create_qp", device, "maxRecvWr", wanted.maxRecvWr(), 0, maxQpWr);
    check("create_qp", device, "maxSendSge", wanted.maxSendSge(), 0, maxSge);
    check("create_qp", device, "maxRecvSge", wanted.maxRecvSge(), 0, maxSge);
    check("create_qp", device, "maxInline", wanted.maxInline(), 0, Integer.MAX_VALUE);
    if (wanted.srq() != null && maxSrq == 0) {
      throw VerbsException.invalid("create_qp", device, wanted.srq() + "; expected no srq");
    }
  }

  private static void check(
      final String verb,
      final String device,
      final String what,
      final int value,
      final int min,
      final int max) {
    if (value < min || value > max) {
      throw VerbsException.invalid(
          verb, device, what + " " + value + "; expected " + min + " to " + max);
    }
  }

  /**
   * The private data of a connect, copied once it is known to fit.
   *
   * @param device its name.
   * @param data from its position to its limit, which stay; null for none.
   * @return the copy.
   * @throws VerbsException with EINVAL if it is longer than {@link #connectPrivateData}.
   */
  public byte[] copyForConnect(final String device, final ByteBuffer data) {
    return copy("connect", device, data, connectPrivateData);
  }

  /**
   * The private data of an accept, copied once it is known to fit.
   *
   * @param device its name.
   * @param data from its position to its limit, which stay; null for none.
   * @return the copy.
   * @throws VerbsException with EINVAL if it is longer than {@link #acceptPrivateData}.
   */
  public byte[] copyForAccept(final String device, final ByteBuffer data) {
    return copy("accept", device, data, acceptPrivateData);
  }

  /**
   * The private data of a reject, copied once it is known to fit.
   *
   * @param device its name.
   * @param data from its position to its limit, which stay; null for none.
   * @return the copy.
   * @throws VerbsException with EINVAL if it is longer than {@link #rejectPrivateData}.
   */
  public byte[] copyForReject(final String device, final ByteBuffer data) {
    return copy("reject", device, data, rejectPrivateData);
  }

  private static byte[] copy(
      final String verb, final String device, final ByteBuffer data, final int limit) {
    final int length = data == null ? 0 : data.remaining();
    if (length > limit) {
      throw VerbsException.invalid(
          verb, device, length + " bytes of private data; expected <= " + limit);
    }
    final byte[] copy = new byte[length];
    if (data != null) {
      data.duplicate().get(copy);
    }
    return copy;
  }

  /** Collects the limits; what was not said is 0. */
  public static final class Builder {
    private int maxQp;
    private int maxQpWr;
    private int maxSge;
    private int maxCq;
    private int maxCqe;
    private int maxMr;
    private int maxPd;
    private int maxSrq;
    private int maxSrqWr;
    private int maxSrqSge;
    private int maxMw;
    private long maxMessageBytes;
    private int maxReadsIn;
    private int maxReadsOut;
    private int connectPrivateData;
    private int acceptPrivateData;
    private int rejectPrivateData;

    /** A device that has room for nothing. */
    public Builder() {}

    /**
     * Says {@link DeviceLimits#maxQp}.
     *
     * @param value queue pairs.
     * @return this.
     */
    public Builder maxQp(final int value) {
      maxQp = value;
      return this;
    }

    /**
     * Says {@link DeviceLimits#maxQpWr}.
     *
     * @param value work requests of one work queue.
     * @return this.
     */
    public Builder maxQpWr(final int value) {
      maxQpWr = value;
      return this;
    }

    /**
     * Says {@link DeviceLimits#maxSge}.
     *
     * @param value scatter-gather elements of one work request.
     * @return this.
     */
    public Builder maxSge(final int value) {
      maxSge = value;
      return this;
    }

    /**
     * Says {@link DeviceLimits#maxCq}.
     *
     * @param value completion queues.
     * @return this.
     */
    public Builder maxCq(final int value) {
      maxCq = value;
      return this;
    }

    /**
     * Says {@link DeviceLimits#maxCqe}.
     *
     * @param value entries of one completion queue.
     * @return this.
     */
    public Builder maxCqe(final int value) {
      maxCqe = value;
      return this;
    }

    /**
     * Says {@link DeviceLimits#maxMr}.
     *
     * @param value memory regions.
     * @return this.
     */
    public Builder maxMr(final int value) {
      maxMr = value;
      return this;
    }

    /**
     * Says {@link DeviceLimits#maxPd}.
     *
     * @param value protection domains.
     * @return this.
     */
    public Builder maxPd(final int value) {
      maxPd = value;
      return this;
    }

    /**
     * Says {@link DeviceLimits#maxSrq}.
     *
     * @param value shared receive queues.
     * @return this.
     */
    public Builder maxSrq(final int value) {
      maxSrq = value;
      return this;
    }

    /**
     * Says {@link DeviceLimits#maxSrqWr}.
     *
     * @param value receives of one shared receive queue.
     * @return this.
     */
    public Builder maxSrqWr(final int value) {
      maxSrqWr = value;
      return this;
    }

    /**
     * Says {@link DeviceLimits#maxSrqSge}.
     *
     * @param value scatter-gather elements of a receive of a shared receive queue.
     * @return this.
     */
    public Builder maxSrqSge(final int value) {
      maxSrqSge = value;
      return this;
    }

    /**
     * Says {@link DeviceLimits#maxMw}.
     *
     * @param value memory windows.
     * @return this.
     */
    public Builder maxMw(final int value) {
      maxMw = value;
      return this;
    }

    /**
     * Says {@link DeviceLimits#maxMessageBytes}.
     *
     * @param value bytes of one message or RDMA transfer.
     * @return this.
     */
    public Builder maxMessageBytes(final long value) {
      maxMessageBytes = value;
      return this;
    }

    /**
     * Says {@link DeviceLimits#maxReadsIn}.
     *
     * @param value RDMA reads a queue pair answers at once.
     * @return this.
     */
    public Builder maxReadsIn(final int value) {
      maxReadsIn = value;
      return this;
    }

    /**
     * Says {@link DeviceLimits#maxReadsOut}.
     *
     * @param value RDMA reads a queue pair has in flight.
     * @return this.
     */
    public Builder maxReadsOut(final int value) {
      maxReadsOut = value;
      return this;
    }

    /**
     * Says {@link DeviceLimits#connectPrivateData}.
     *
     * @param value bytes of private data a connect carries.
     * @return this.
     */
    public Builder connectPrivateData(final int value) {
      connectPrivateData = value;
      return this;
    }

    /**
     * Says {@link DeviceLimits#acceptPrivateData}.
     *
     * @param value bytes of private data an accept carries.
     * @return this.
     */
    public Builder acceptPrivateData(final int value) {
      acceptPrivateData = value;
      return this;
    }

    /**
     * Says {@link DeviceLimits#rejectPrivateData}.
     *
     * @param value bytes of private data a reject carries.
     * @return this.
     */
    public Builder rejectPrivateData(final int value) {
      rejectPrivateData = value;
      return this;
    }

    /**
     * Says {@link DeviceLimits#connectPrivateData}, {@link DeviceLimits#acceptPrivateData} and
     * {@link DeviceLimits#rejectPrivateData}, if they are the same.
     *
     * @param value bytes of private data each of the three carries.
     * @return this.
     */
    public Builder privateData(final int value) {
      return connectPrivateData(value).acceptPrivateData(value).rejectPrivateData(value);
    }

    /**
     * The limits.
     *
     * @return what was said so far.
     */
    public DeviceLimits build() {
      return new DeviceLimits(
          maxQp,
          maxQpWr,
          maxSge,
          maxCq,
          maxCqe,
          maxMr,
          maxPd,
          maxSrq,
          maxSrqWr,
          maxSrqSge,
          maxMw,
          maxMessageBytes,
          maxReadsIn,
          maxReadsOut,
          connectPrivateData,
          acceptPrivateData,
          rejectPrivateData);
    }
  }
}
