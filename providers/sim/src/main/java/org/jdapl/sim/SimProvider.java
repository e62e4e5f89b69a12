package org.jdapl.sim;

import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.VerbsProvider;

/**
 * The provider named {@code sim}. Devices it opens are on one fabric and can talk to each other;
 * those of an instance made by {@link java.util.ServiceLoader} are on {@link SimFabric#shared}.
 *
 * <p>The parameters of {@link #open} are settings of a {@link SimModel}, such as {@code arm=weak
 * hint=exact}. The delivery is a property of the provider and cannot be chosen there.
 */
public final class SimProvider implements VerbsProvider {

  private final SimFabric fabric; // null for the shared one, not made for a mere listing
  private final SimModel model;

  /** The provider of the fabric that all of this JVM share. */
  public SimProvider() {
    this(null, SimModel.DEFAULT);
  }

  SimProvider(final SimFabric fabric, final SimModel model) {
    this.fabric = fabric;
    this.model = model;
  }

  @Override
  public String name() {
    return "sim";
  }

  @Override
  public Delivery delivery() {
    return model.delivery();
  }

  @Override
  public EventChannel createEventChannel() {
    if (model.delivery() != Delivery.CHANNEL) {
      throw VerbsException.unsupported("create_comp_channel", name());
    }
    return new SimChannel(!fabric().isVirtual());
  }

  @Override
  public Device open(final String parameters, final EventChannel channel) {
    final SimModel chosen = model.with(parameters);
    if (chosen.delivery() != model.delivery()) {
      throw invalid("delivery cannot be chosen here, it is a property of the provider: " + this);
    }
    if (model.delivery() == Delivery.PUSH) {
      if (channel != null) {
        throw invalid("a channel was given, but this provider pushes; expected null");
      }
      return fabric().open(chosen, null);
    }
    if (channel instanceof SimChannel simulated) {
      return fabric().open(chosen, simulated);
    }
    throw invalid("channel " + channel + ": expected one of this provider's createEventChannel()");
  }

  private VerbsException invalid(final String detail) {
    return VerbsException.invalid("open_device", name(), detail);
  }

  private SimFabric fabric() {
    return fabric != null ? fabric : SimFabric.shared();
  }

  @Override
  public String toString() {
    return "sim[" + model + "]";
  }
}
