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
      throw VerbsException.invalid("open_device", name(), parameters + "; expected nothing");
    }
    return new SocketDevice();
  }
}
// end::provider[]
