package org.jdapl.examples.socket;

import org.jdapl.verbs.*;

/** Connects processes of one machine through TCP; here to be read, with the guide for providers. */
// tag::provider[]
public final class SocketProvider implements VerbsProvider {

  @Override
  public String name() {
    return "socket";
  }

  @Override
  public Device open(String parameters, EventChannel channel) {
    if (!parameters.isBlank()) {
      String detail = "parameters '" + parameters + "'; expected none";
      throw new VerbsException("open_device", name(), VerbsException.EINVAL, detail);
    }
    return new SocketDevice();
  }
}
// end::provider[]
