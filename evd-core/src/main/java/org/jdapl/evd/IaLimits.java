package org.jdapl.evd;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Stream;
import org.jdapl.dat.AdapterAttributes;
import org.jdapl.dat.Bounds;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.DatException;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.ExtensionOp;
import org.jdapl.dat.ProviderAttributes;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.UpcallPolicy;
import org.jdapl.verbs.Capability;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.DeviceLimits;
import org.jdapl.verbs.PrivateDataLength;
import org.jdapl.verbs.Timers;

/** What the device of an adapter can do: told as attributes, and checked when it is asked for. */
final class IaLimits {

  private final IaImpl ia;
  private final Device device;
  private final Set<Capability> capabilities;

  IaLimits(final IaImpl ia, final Device device) {
    this.ia = ia;
    this.device = device;
    capabilities = device.capabilities();
  }

  AdapterAttributes attributes() {
    final DeviceLimits limits = device.limits();
    return new AdapterAttributes(
        ia.name(),
        device.address(),
        limits.maxQp(),
        maxDtos(),
        limits.maxSge(),
        limits.maxReadsIn(),
        limits.maxReadsOut(),
        ia.runtime().capacity(),
        maxEvdLength(),
        limits.maxMr(),
        limits.maxMw(),
        limits.maxPd(),
        limits.maxMessageBytes(),
        limits.maxSrq(),
        maxSrqReceives(),
        limits.maxSrq() == 0 ? 0 : limits.maxSrqSge(),
        limits.connectPrivateData(),
        limits.acceptPrivateData(),
        limits.rejectPrivateData());
  }

  ProviderAttributes providerAttributes() {
    return new ProviderAttributes(
        ia.runtime().providerName(),
        true,
        ProviderAttributes.EpCreator.NEVER,
        CompletionFlags.SUPPRESS
            | CompletionFlags.SOLICITED_WAIT
            | CompletionFlags.UNSIGNALLED
            | CompletionFlags.BARRIER_FENCE,
        UpcallPolicy.MANY,
        true,
        device.limits().maxSrq() > 0,
        true,
        false,
        showsExactPrivateData(),
        extensions());
  }

  private Set<ExtensionOp> extensions() {
    final Set<ExtensionOp> extensions = EnumSet.noneOf(ExtensionOp.class);
    for (final ExtensionOp operation : ExtensionOp.values()) {
      if (capabilities.contains(needed(operation))) {
        extensions.add(operation);
      }
    }
    return Collections.unmodifiableSet(extensions);
  }

  private static Capability needed(final ExtensionOp operation) {
    return switch (operation) {
      case FETCH_AND_ADD, COMPARE_AND_SWAP -> Capability.ATOMICS;
      case RDMA_WRITE_IMMED -> Capability.RDMA_WRITE_WITH_IMM;
    };
  }

  private int maxDtos() {
    return device.limits().maxQpWr() - WorkQueue.MARKERS;
  }

  private int maxEvdLength() {
    return Math.min(device.limits().maxCqe(), Lane.MAX_LENGTH);
  }

  private int maxSrqReceives() {
    final DeviceLimits limits = device.limits();
    return limits.maxSrq() == 0 ? 0 : Math.min(limits.maxSrqWr(), SrqImpl.MOST);
  }

  /** Checks the length of an EVD. */
  void checkLength(final int length, final String call) {
    if (length < 1) {
      throw Misuse.argument(1, call + ": length " + length + " is below 1");
    }
    final int most = maxEvdLength();
    if (length > most) {
      throw Misuse.resources(
          ReturnSubtype.RESOURCE_TEVD,
          call + ": length " + length + " is more than the " + most + " that may be");
    }
  }

  /** Checks what a shared receive queue is to be made of. */
  void checkSrq(final int maxReceives, final int maxIov, final String call) {
    if (maxReceives < 1) {
      throw Misuse.argument(2, call + ": " + maxReceives + " receives; at least 1");
    }
    if (maxIov < 1) {
      throw Misuse.argument(3, call + ": " + maxIov + " segments; at least 1");
    }
    final DeviceLimits limits = device.limits();
    final int most = maxSrqReceives();
    if (limits.maxSrq() > 0 && (maxReceives > most || maxIov > limits.maxSrqSge())) {
      throw Misuse.resources(
          ReturnSubtype.RESOURCE_SRQ,
          call
              + ": "
              + maxReceives
              + " receives of "
              + maxIov
              + " segments are more than the "
              + most
              + " of "
              + limits.maxSrqSge()
              + " that may be");
    }
  }

  /** Checks the number of receives of a shared receive queue that is to be resized. */
  void checkSrqReceives(final int receives, final int argument, final String call) {
    if (receives < 1) {
      throw Misuse.argument(argument, call + ": " + receives + " receives; at least 1");
    }
    if (receives > maxSrqReceives()) {
      throw Misuse.resources(
          ReturnSubtype.RESOURCE_SRQ,
          call + ": " + receives + " receives are more than " + maxSrqReceives());
    }
  }

  /**
   * Checks the attributes of an endpoint.
   *
   * @param argument their number among the arguments.
   */
  void check(final EndpointAttributes attributes, final int argument, final String call) {
    if (attributes == null
        || attributes.maxReceiveDtos() < 0
        || attributes.maxRequestDtos() < 0
        || attributes.maxReceiveIov() < 1
        || attributes.maxRequestIov() < 1
        || attributes.rdmaReadsIn() < 0
        || attributes.rdmaReadsOut() < 0
        || isNoRetryCount(attributes.retryCount())
        || isNoRetryCount(attributes.rnrRetryCount())
        || (attributes.receiveFlags() & ~CompletionFlags.SOLICITED_WAIT) != 0
        || !arePositive(attributes.bounds())) {
      throw Misuse.argument(
          argument,
          call
              + ": "
              + attributes
              + "; it takes at least 0 receives, requests and reads, of at least 1 segment, 0..7"
              + " retries, DEFAULT or SOLICITED_WAIT as flags of receives, and bounds above 0");
    }
    checkTimer("ackTimeout", attributes.ackTimeout(), Timers.MAX_ACK_NANOS, argument, call);
    checkTimer("rnrTimer", attributes.rnrTimer(), Timers.MAX_RNR_NANOS, argument, call);
    final int most = maxDtos();
    final int sge = device.limits().maxSge();
    if (attributes.maxReceiveDtos() > most
        || attributes.maxRequestDtos() > most
        || attributes.maxReceiveIov() > sge
        || attributes.maxRequestIov() > sge) {
      throw Misuse.resources(
          ReturnSubtype.RESOURCE_TEP,
          call
              + ": "
              + attributes
              + "; the provider has room for "
              + most
              + " receives and requests of "
              + sge
              + " segments");
    }
  }

  private static void checkTimer(
      final String what,
      final Duration timer,
      final long max,
      final int argument,
      final String call) {
    if (timer == null || timer.isNegative() || timer.compareTo(Duration.ofNanos(max)) > 0) {
      throw Misuse.argument(
          argument,
          call
              + ": "
              + what
              + " "
              + timer
              + "; it takes up to "
              + Duration.ofNanos(max)
              + ", or Duration.ZERO for the provider's own; see EndpointAttributes.withTimers");
    }
  }

  private static boolean arePositive(final Bounds bounds) {
    return bounds != null
        && Stream.of(bounds.accept(), bounds.disconnect(), bounds.order(), bounds.lastReceive())
            .allMatch(bound -> bound != null && !bound.isZero() && !bound.isNegative());
  }

  private static boolean isNoRetryCount(final int count) {
    return count < 0 || count > 7;
  }

  private boolean showsExactPrivateData() {
    return device.declaration().privateData() == PrivateDataLength.EXACT;
  }

  /** Refuses an extension that the device does not have. */
  void checkExtension(final ExtensionOp operation, final String object) {
    checkCapability(needed(operation), object, operation);
  }

  /** Refuses what the device cannot do. */
  void checkCapability(final Capability needed, final String object, final Object what) {
    if (!capabilities.contains(needed)) {
      throw new DatException(
          ReturnType.MODEL_NOT_SUPPORTED,
          ReturnSubtype.NO_SUBTYPE,
          object + ": " + what + ": " + device.name() + " has no " + needed);
    }
  }

  /** Whether private data that the device shows is as long as what the peer gave. */
  boolean isExact(final ByteBuffer privateData) {
    return !privateData.hasRemaining() || showsExactPrivateData();
  }
}
