package org.jdapl.rdmacore;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.jdapl.verbs.VerbsException;

/**
 * Which device to open: {@code device=NAME}, {@code port=NUMBER}, {@code address=IP}, any of them,
 * with spaces between; or, as in files of C, {@code NAME} or {@code NAME NUMBER}.
 *
 * @param device its name; null for any.
 * @param port its port; 0 for any.
 * @param address its address; null for any.
 */
record Parameters(String device, int port, InetAddress address) {

  static Parameters of(final String text) {
    String device = null;
    int port = 0;
    InetAddress address = null;
    for (final String word : text.isBlank() ? new String[0] : text.strip().split("\\s+", -1)) {
      final int equals = word.indexOf('=');
      final String value = word.substring(equals + 1);
      final String implied = device == null ? "device" : port == 0 ? "port" : "";
      switch (equals < 0 ? implied : word.substring(0, equals)) {
        case "device" -> device = value;
        case "port" -> port = port(value);
        case "address" -> address = address(value);
        default ->
            throw invalid(
                "'" + word + "'; expected device=NAME, port=NUMBER or address=IP, or NAME NUMBER");
      }
    }
    return new Parameters(device, port, address);
  }

  private static int port(final String value) {
    try {
      final int port = Integer.parseInt(value);
      if (port > 0) {
        return port;
      }
    } catch (final NumberFormatException e) {
      // said below
    }
    throw invalid("port=" + value + "; expected the number of a port of the device, from 1");
  }

  private static InetAddress address(final String value) {
    try {
      return InetAddress.getByName(value);
    } catch (final UnknownHostException e) {
      throw invalid("address=" + value + "; expected an IP address of this machine");
    }
  }

  private static VerbsException invalid(final String detail) {
    return new VerbsException(
        "open_device", RdmaCoreProvider.NAME, VerbsException.EINVAL, "parameter " + detail);
  }

  /** Whether a device's port is meant. */
  boolean match(final String name, final int number) {
    return (device == null || device.equals(name)) && (port == 0 || port == number);
  }

  @Override
  public String toString() {
    return (device == null ? "any device" : "device " + device)
        + (port == 0 ? "" : ", port " + port)
        + (address == null ? "" : ", address " + address.getHostAddress());
  }
}
