package org.jdapl.evd;

import java.util.List;
import org.jdapl.dat.DatRuntime;
import org.jdapl.dat.HaRelationship;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.OpenObject;
import org.jdapl.dat.ProviderInfo;

/** What stands behind {@link org.jdapl.dat.Dat}. */
public final class EvdRuntime implements DatRuntime {

  private Registry registry;

  /** Called by {@link java.util.ServiceLoader}. */
  public EvdRuntime() {}

  /** Read at its first use; if its file cannot be read, at the next one again. */
  private synchronized Registry registry() {
    if (registry == null) {
      registry = Registry.configured();
    }
    return registry;
  }

  @Override
  public List<ProviderInfo> providers() {
    return registry().providers();
  }

  @Override
  public List<String> registryProblems() {
    return registry().problems();
  }

  @Override
  public HaRelationship related(final String name, final String other) {
    return registry().related(name, other);
  }

  @Override
  public List<OpenObject> openObjects() {
    return LeakDetector.all();
  }

  @Override
  public InterfaceAdapter open(final String name) {
    return registry().open(name);
  }

  @Override
  public InterfaceAdapter open(
      final String name, final int major, final int minor, final boolean threadSafe) {
    return registry().open(name, major, minor, threadSafe);
  }
}
