package org.jdapl.rdmacore;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jdapl.rdmacore.jni.Cm;
import org.jdapl.rdmacore.jni.NativeLibrary;
import org.jdapl.rdmacore.jni.Verbs;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.VerbsProvider;

/**
 * The provider named {@code rdma-core}: any device that libibverbs and librdmacm know.
 *
 * <p>A device is found by an IP address of this machine. The parameters of {@link #open} say which:
 * {@code device=NAME}, {@code port=NUMBER} and {@code address=IP}, any of them, with spaces
 * between; {@code NAME NUMBER}, as C's files have it, is a device and its port. Without parameters
 * it is the first address that belongs to a device, IPv4 before IPv6.
 */
public final class RdmaCoreProvider implements VerbsProvider {

  static final String NAME = "rdma-core";

  /** A provider; nothing is loaded before it is used. */
  public RdmaCoreProvider() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Delivery delivery() {
    return Delivery.CHANNEL;
  }

  /**
   * What keeps this process from using any device. What concerns the native library is found once,
   * and the same later; the rest is looked at each time.
   *
   * @return the first problem; empty if a device could be opened, by these signs.
   */
  public Optional<Problem> problem() {
    return Diagnosis.problem();
  }

  @Override
  public EventChannel createEventChannel() {
    ensureLoaded("create_comp_channel");
    return new RdmaChannel();
  }

  private static void ensureLoaded(final String verb) {
    final Problem problem = NativeLibrary.problem();
    if (problem != null) {
      throw new VerbsException(verb, NAME, VerbsException.ENODEV, problem.toString());
    }
  }

  @Override
  public Device open(final String parameters, final EventChannel channel) {
    ensureLoaded("open_device");
    if (!(channel instanceof RdmaChannel own)) {
      throw new VerbsException(
          "open_device",
          NAME,
          VerbsException.EINVAL,
          "channel " + channel + "; expected one of this provider's createEventChannel()");
    }
    final Parameters wanted = Parameters.of(parameters);
    final long eventChannel = Cm.createEventChannel();
    if (eventChannel < 0) {
      throw failure("create_event_channel", wanted, (int) -eventChannel);
    }
    final Anchor anchor;
    final RdmaDevice device;
    try {
      anchor = findAnchor(wanted, eventChannel);
      device = create(own, anchor, eventChannel);
    } catch (final Throwable e) {
      Cm.destroyEventChannel(eventChannel);
      throw e;
    }
    device.open(); // the event channel and the id are its own from here on
    return device;
  }

  /** An id that is bound to an address of a device. */
  private record Anchor(long id, InetAddress address) {}

  private static Anchor findAnchor(final Parameters wanted, final long eventChannel) {
    int errno = VerbsException.ENODEV;
    for (final InetAddress address : addresses(wanted)) {
      final long id = Results.check(Cm.createId(eventChannel, 0), "create_id", NAME, "to bind it");
      Anchor anchor = null;
      try {
        final int result = Cm.bindAddr(id, address.getAddress(), RdmaDevice.scope(address), 0);
        final long context = result < 0 ? 0 : Cm.context(id);
        if (context != 0 && wanted.match(Verbs.deviceName(context), Cm.port(id))) {
          anchor = new Anchor(id, address);
          return anchor;
        }
        if (result < 0 && (errno == VerbsException.ENODEV || !Diagnosis.isOfNoDevice(-result))) {
          errno = -result; // what says more than that the address is of no device
        }
      } finally {
        if (anchor == null) {
          destroy(id);
        }
      }
    }
    throw failure("bind_addr", wanted, errno);
  }

  /** The addresses to try, the most likely first. */
  private static List<InetAddress> addresses(final Parameters wanted) {
    if (wanted.address() != null) {
      return List.of(wanted.address());
    }
    final List<InetAddress> addresses = new ArrayList<>();
    try {
      NetworkInterface.networkInterfaces()
          .flatMap(NetworkInterface::inetAddresses)
          .filter(address -> !address.isLoopbackAddress())
          .forEach(addresses::add);
    } catch (final SocketException e) {
      throw new VerbsException("open_device", NAME, VerbsException.EIO, e.toString());
    }
    addresses.sort(
        Comparator.comparing((InetAddress address) -> !(address instanceof Inet4Address))
            .thenComparing(InetAddress::isLinkLocalAddress));
    return addresses;
  }

  private static RdmaDevice create(
      final RdmaChannel channel, final Anchor anchor, final long eventChannel) {
    RdmaContext context = null;
    try {
      context = RdmaContext.acquire(Cm.context(anchor.id));
      return new RdmaDevice(channel, context, anchor.address, eventChannel, anchor.id);
    } catch (final Throwable e) {
      if (context != null) {
        context.release();
      }
      destroy(anchor.id);
      throw e;
    }
  }

  private static void destroy(final long id) {
    if (Cm.destroyId(id) < 0) {
      Cm.destroyId(id); // its channel cannot be destroyed before it
    }
  }

  private static VerbsException failure(
      final String verb, final Parameters wanted, final int errno) {
    return new VerbsException(
        verb, NAME, errno, Diagnosis.notOpened(verb, wanted, errno).toString());
  }
}
