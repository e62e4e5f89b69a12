package org.jdapl.verbs;

/**
 * A provider of RDMA verbs, found by {@link java.util.ServiceLoader}.
 *
 * <p>An implementation has a public constructor without arguments that does nothing that can fail:
 * it is created for a mere listing. May be called from any thread.
 */
public interface VerbsProvider {

  /**
   * The name that {@code dat.conf} and {@code Dat.open} call this provider by.
   *
   * @return a short lower-case name such as {@code sim}.
   */
  String name();

  /**
   * Whether the devices of this provider push their notifications from threads of their own or
   * deliver them in an {@link EventChannel}.
   *
   * @return the delivery of each device this provider opens.
   */
  default Delivery delivery() {
    return Delivery.PUSH;
  }

  /**
   * Creates a channel in which one dispatcher sleeps. Called only where {@link #delivery()} is
   * {@link Delivery#CHANNEL}.
   *
   * @return a new channel.
   */
  default EventChannel createEventChannel() {
    throw VerbsException.unsupported("create_comp_channel", name());
  }

  /**
   * Opens a device (ibv_open_device).
   *
   * @param parameters what {@code dat.conf} says in the provider's own language; empty for the
   *     default.
   * @param channel the channel the device delivers in, or null where {@link #delivery()} is {@link
   *     Delivery#PUSH}.
   * @return the open device.
   * @throws VerbsException if there is no such device, or it cannot be opened, or a parameter is
   *     not known; the message says why, with the parameter, and what to do.
   */
  Device open(String parameters, EventChannel channel);
}
