package org.jdapl.evd;

import java.util.List;
import java.util.ServiceLoader;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DatRuntime;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.verbs.VerbsProvider;

/** What stands behind {@link org.jdapl.dat.Dat}: every provider is an adapter of its name. */
public final class EvdRuntime implements DatRuntime {

  /** Called by {@link ServiceLoader}. */
  public EvdRuntime() {}

  @Override
  public List<String> providers() {
    return ServiceLoader.load(VerbsProvider.class).stream()
        .map(provider -> provider.get().name())
        .sorted()
        .toList();
  }

  @Override
  public InterfaceAdapter open(final String name) {
    for (final VerbsProvider provider : ServiceLoader.load(VerbsProvider.class)) {
      if (provider.name().equals(name)) {
        return open(provider);
      }
    }
    throw new DatException(
        ReturnType.PROVIDER_NOT_FOUND,
        ReturnSubtype.NAME_NOT_REGISTERED,
        "no interface adapter is named '" + name + "'; there are " + providers());
  }

  /** Each adapter has a dispatcher of its own, which ends with it. */
  private static InterfaceAdapter open(final VerbsProvider provider) {
    final Jdapl runtime = Jdapl.with(provider).start();
    try {
      return runtime.open(runtime::stop);
    } catch (final RuntimeException e) {
      runtime.stop();
      throw e;
    }
  }
}
