package org.jdapl.dat;

import java.util.List;
import java.util.ServiceLoader;

/**
 * The registry: opens interface adapters by name.
 *
 * <p>Each provider on the class or module path is there under its own name, with its default
 * device: {@code sim} is the simulator. More names are in a file with DAT's format, {@code
 * dat.conf}, where a line names the provider and what it is to open. A name in the file replaces a
 * provider's own. The file is the one that the environment variable {@code DAT_OVERRIDE} names;
 * without it {@code /etc/dat.conf}, if it exists. It is read at the first use of the registry, and
 * not again; what is wrong in a line is logged as a warning then, and spoils no other line.
 *
 * <p>All methods may be called from any thread. Those of the registry fail with INTERNAL_ERROR if
 * {@code DAT_OVERRIDE} names a file that cannot be read.
 */
public final class Dat {

  /** The major version of DAT that this is (DAT_VERSION_MAJOR). */
  public static final int VERSION_MAJOR = 2;

  /** The minor version of DAT that this is (DAT_VERSION_MINOR). */
  public static final int VERSION_MINOR = 0;

  private Dat() {}

  /**
   * Opens an interface adapter (dat_ia_open), as {@link #open(String, int, int, boolean)} with the
   * version of this API and thread safety, and only as a line says that is a default.
   *
   * @param name the name of the adapter; {@code sim} is the simulator, if provider-sim is on the
   *     class or module path.
   * @return a new adapter with an async EVD of its own; to be closed by the caller.
   * @throws DatException PROVIDER_NOT_FOUND if there is none, or its provider is missing;
   *     INSUFFICIENT_RESOURCES or INTERNAL_ERROR if its device could not be opened, with the cause;
   *     INTERNAL_ERROR if the system property {@code jdapl.leakDetection} has a value that {@link
   *     #openObjects} does not name.
   */
  public static InterfaceAdapter open(final String name) {
    return Holder.RUNTIME.open(name);
  }

  /**
   * Opens an interface adapter that is registered for a version and thread safety (dat_ia_openv).
   * If several lines fit they are tried in the order of the file, and the first that opens is
   * taken. What is opened is always this API, and thread-safe.
   *
   * @param name the name of the adapter.
   * @param major its major version.
   * @param minor its minor version, or a lower one.
   * @param threadSafe its thread safety.
   * @return a new adapter with an async EVD of its own; to be closed by the caller.
   * @throws DatException PROVIDER_NOT_FOUND if there is none of that name (NAME_NOT_REGISTERED),
   *     not for that version (MAJOR_NOT_FOUND, MINOR_NOT_FOUND) or thread safety
   *     (THREAD_SAFETY_NOT_FOUND), the message lists those there are; or if its provider is not on
   *     the class or module path (NAME_NOT_REGISTERED). INSUFFICIENT_RESOURCES or INTERNAL_ERROR if
   *     its device could not be opened, with the cause. If several lines were tried, what each met
   *     with is among the suppressed.
   */
  public static InterfaceAdapter open(
      final String name, final int major, final int minor, final boolean threadSafe) {
    return Holder.RUNTIME.open(name, major, minor, threadSafe);
  }

  /**
   * What is registered (dat_registry_list_providers). Whether it can be opened is not tried.
   *
   * @return sorted by name; those of one name in the order they are tried.
   */
  public static List<ProviderInfo> providers() {
    return Holder.RUNTIME.providers();
  }

  /**
   * Whether two names stand for the same device (dat_registry_providers_related): provider and
   * parameters of what {@link #open(String)} would open are compared. No provider is asked; what
   * the simulator opens counts as one device, although each adapter has its own.
   *
   * @param name the name of an adapter.
   * @param other the name of another one.
   * @return the relation.
   * @throws DatException PROVIDER_NOT_FOUND as {@link #open(String)}.
   */
  public static HaRelationship related(final String name, final String other) {
    return Holder.RUNTIME.related(name, other);
  }

  /**
   * What in the file of the registry registers nothing, and why: lines that are wrong, lines that
   * are for C libraries, and a file that could not be read.
   *
   * @return a message for each, with file, line, field and what was expected, in the order of the
   *     file.
   */
  public static List<String> registryProblems() {
    return Holder.RUNTIME.registryProblems();
  }

  /**
   * What is open in this JVM, however it was opened, and where it was created. How much of that is
   * known, the system property {@code jdapl.leakDetection} says: {@code off} is nothing; {@code
   * sampled}, the default, all adapters and one of 64 objects on them; {@code every} all. May be
   * called from any thread, at any time.
   *
   * @return an adapter before its objects, these in the order of their creation; a snapshot.
   */
  @Experimental
  public static List<OpenObject> openObjects() {
    return Holder.RUNTIME.openObjects();
  }

  private static final class Holder {
    static final DatRuntime RUNTIME =
        ServiceLoader.load(DatRuntime.class).findFirst().orElseGet(Missing::new);
  }

  private static final class Missing implements DatRuntime {
    @Override
    public List<ProviderInfo> providers() {
      return List.of();
    }

    @Override
    public List<String> registryProblems() {
      return List.of();
    }

    @Override
    public List<OpenObject> openObjects() {
      return List.of();
    }

    @Override
    public InterfaceAdapter open(final String name) {
      throw missing(name);
    }

    @Override
    public InterfaceAdapter open(
        final String name, final int major, final int minor, final boolean threadSafe) {
      throw missing(name);
    }

    @Override
    public HaRelationship related(final String name, final String other) {
      throw missing(name);
    }

    private static DatException missing(final String name) {
      return new DatException(
          ReturnType.PROVIDER_NOT_FOUND,
          ReturnSubtype.NAME_NOT_REGISTERED,
          "cannot find interface adapter '"
              + name
              + "': no DAT runtime found; put org.jdapl:evd-core on the class or module path");
    }
  }
}
