package org.jdapl.dat;

import java.util.List;
import java.util.ServiceLoader;

/** The registry: opens interface adapters by name. */
public final class Dat {

  private Dat() {}

  /**
   * Opens an interface adapter (dat_ia_open). May be called from any thread.
   *
   * @param name the name of the adapter; {@code sim} is the simulator, if provider-sim is on the
   *     class or module path.
   * @return a new adapter with an async EVD of its own; to be closed by the caller.
   * @throws DatException PROVIDER_NOT_FOUND (NAME_NOT_REGISTERED) if there is none of that name,
   *     the message lists those there are; INSUFFICIENT_RESOURCES or INTERNAL_ERROR if its device
   *     could not be opened, with the cause.
   */
  public static InterfaceAdapter open(final String name) {
    return Holder.RUNTIME.open(name);
  }

  /**
   * The names that {@link #open} knows (dat_registry_list_providers). May be called from any
   * thread.
   *
   * @return the names, sorted.
   */
  public static List<String> providers() {
    return Holder.RUNTIME.providers();
  }

  /**
   * What is open in this JVM, however it was opened, and where it was created. How much of that is
   * known, the system property {@code jdapl.leakDetection} says: {@code off} is nothing; {@code
   * sampled}, the default, all adapters and one of 64 objects on them; {@code every} all. May be
   * called from any thread, at any time.
   *
   * @return an adapter before its objects, these in the order of their creation; a snapshot.
   */
  public static List<OpenObject> openObjects() {
    return Holder.RUNTIME.openObjects();
  }

  private static final class Holder {
    static final DatRuntime RUNTIME =
        ServiceLoader.load(DatRuntime.class).findFirst().orElseGet(Missing::new);
  }

  private static final class Missing implements DatRuntime {
    @Override
    public List<String> providers() {
      return List.of();
    }

    @Override
    public List<OpenObject> openObjects() {
      return List.of();
    }

    @Override
    public InterfaceAdapter open(final String name) {
      throw new DatException(
          ReturnType.PROVIDER_NOT_FOUND,
          ReturnSubtype.NAME_NOT_REGISTERED,
          "cannot open interface adapter '"
              + name
              + "': no DAT runtime found; put org.jdapl:evd-core on the class or module path");
    }
  }
}
