package org.jdapl.evd;

import java.util.List;
import org.jdapl.dat.DatRuntime;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.OpenObject;

/** What stands behind {@link org.jdapl.dat.Dat}: every provider is an adapter of its name. */
public final class EvdRuntime implements DatRuntime {

  /** Called by {@link java.util.ServiceLoader}. */
  public EvdRuntime() {}

  @Override
  public List<String> providers() {
    return Jdapl.providers();
  }

  @Override
  public List<OpenObject> openObjects() {
    return LeakDetector.all();
  }

  /** Each adapter has a dispatcher of its own, which ends with it. */
  @Override
  public InterfaceAdapter open(final String name) {
    final Jdapl runtime = Jdapl.with(name).start();
    try {
      return runtime.open(runtime::stop);
    } catch (final RuntimeException e) {
      runtime.stop();
      throw e;
    }
  }
}
