package org.jdapl.examples.socket;

import java.io.IOException;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.VerbsProvider;

/**
 * The provider named {@code socket}: processes of one machine, which talk through loopback TCP. A
 * service is a TCP port. It is here to be read, see {@code providers/docs/writing-a-provider.md}.
 */
// tag::provider[]
public final class SocketProvider implements VerbsProvider {

  /** A provider; it does nothing before it is used. */
  public SocketProvider() {}

  @Override
  public String name() {
    return "socket";
  }

  @Override
  public Device open(final String parameters, final EventChannel channel) {
    if (!parameters.isBlank()) {
      throw new VerbsException(
          "open_device",
          name(),
          VerbsException.EINVAL,
          "parameters '" + parameters + "'; expected none");
    }
    try {
      return new SocketDevice();
    } catch (final IOException e) {
      throw new VerbsException("open_device", name(), VerbsException.EIO, e.toString());
    }
  }
}
// end::provider[]
