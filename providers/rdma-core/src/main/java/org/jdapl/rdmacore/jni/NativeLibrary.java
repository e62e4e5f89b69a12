package org.jdapl.rdmacore.jni;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import org.jdapl.rdmacore.Problem;
import org.jdapl.rdmacore.Problem.Reason;

/**
 * The native library: loaded at the first use, once, and for good. What kept it from loading is
 * kept, so that every later use says the same.
 */
public final class NativeLibrary {

  /** A file to load instead of the library in the jar; there is no other attempt then. */
  public static final String PATH = "jdapl.native.path";

  /** Where the library in the jar is unpacked; the default is java.io.tmpdir. */
  public static final String WORK_DIRECTORY = "jdapl.native.workdir";

  private static final String FILE = "libjdapl-rdma-core.so";

  private static final class Loaded {
    private static final Problem PROBLEM = load();
  }

  private NativeLibrary() {}

  /** What keeps the library from being used; null if nothing does. */
  public static Problem problem() {
    return Loaded.PROBLEM;
  }

  private static native String abi();

  private static native int registerAll();

  private static native String openLibraries();

  /** The name of this platform, as in the jar. */
  public static String platform() {
    final String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    final String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
    return os + "-" + (arch.equals("amd64") ? "x86_64" : arch);
  }

  private static Problem load() {
    final String path = System.getProperty(PATH);
    final Problem problem = path != null ? loadFile(Path.of(path)) : loadFromJar();
    return problem != null ? problem : check(path != null ? path : "the library in the jar");
  }

  private static Problem loadFromJar() {
    final String platforms = text("native/platforms");
    if (platforms == null || platforms.isEmpty()) {
      return new Problem(
          Reason.NOT_BUILT,
          "This build of provider-rdma-core has no native library, because there was no C compiler"
              + " or no header file of libibverbs and librdmacm",
          "run providers/rdma-core/provision, then build again");
    }
    try (InputStream library = resource("native/" + platform() + "/" + FILE)) {
      if (library == null) {
        return new Problem(
            Reason.PLATFORM,
            "There is no native library for " + platform() + "; there are " + platforms,
            "build provider-rdma-core on such a machine, or use provider sim");
      }
      return unpack(library);
    } catch (final IOException e) {
      return notUnpacked(workDirectory(), e.toString());
    }
  }

  private static Path workDirectory() {
    return Path.of(System.getProperty(WORK_DIRECTORY, System.getProperty("java.io.tmpdir")));
  }

  private static Problem unpack(final InputStream library) {
    final Path work = workDirectory();
    Path directory = null;
    Path file = null;
    try {
      directory =
          Files.createTempDirectory(
              work,
              "jdapl-",
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      file = directory.resolve(FILE);
      Files.copy(library, file);
      final Problem problem = loadFile(file);
      return problem != null && isNotExecutable(problem.cause())
          ? new Problem(
              Reason.WORK_DIRECTORY,
              "The native library was unpacked into "
                  + work
                  + ", and nothing there may be run (is it mounted noexec?)",
              "name a directory that allows it by -D" + WORK_DIRECTORY + "=DIRECTORY")
          : problem;
    } catch (final IOException e) {
      return notUnpacked(work, e.toString());
    } finally {
      delete(file);
      delete(directory);
    }
  }

  private static Problem notUnpacked(final Path work, final String why) {
    return new Problem(
        Reason.WORK_DIRECTORY,
        "The native library cannot be unpacked into " + work + ": " + why,
        "name a directory with room by -D" + WORK_DIRECTORY + "=DIRECTORY");
  }

  /** What the dynamic linker says of a file on a file system mounted noexec. */
  private static boolean isNotExecutable(final String message) {
    return message.contains("failed to map segment")
        || message.contains("Operation not permitted")
        || message.contains("Permission denied");
  }

  private static void delete(final Path path) {
    if (path != null) {
      try {
        Files.deleteIfExists(path); // it stays mapped
      } catch (final IOException e) {
        path.toFile().deleteOnExit();
      }
    }
  }

  private static Problem loadFile(final Path file) {
    try {
      System.load(file.toAbsolutePath().toString());
      return null;
    } catch (final LinkageError e) {
      return new Problem(
          Reason.UNLOADABLE,
          "The native library " + file + " cannot be loaded: " + e.getMessage(),
          "check that it is the one for " + platform() + " and that its C library is there");
    }
  }

  private static Problem check(final String library) {
    try {
      final String mine = text("native/abi");
      final String its = abi(); // a link error if it is quite another library
      if (!its.equals(mine)) {
        return new Problem(
            Reason.ABI_MISMATCH,
            "The Java classes are of build " + mine + ", and " + library + " is of build " + its,
            "use the two of one build of provider-rdma-core");
      }
      if (registerAll() < 0) {
        return mismatch(library, "a class is missing");
      }
    } catch (final LinkageError e) {
      return mismatch(library, e.toString());
    }
    final String failure = openLibraries();
    return failure == null
        ? null
        : new Problem(
            Reason.NO_RDMA_CORE,
            "libibverbs and librdmacm cannot be used: " + failure,
            "install them; on Debian and Ubuntu: apt-get install ibverbs-providers librdmacm1;"
                + " on Fedora and RHEL: dnf install libibverbs librdmacm");
  }

  private static Problem mismatch(final String library, final String detail) {
    return new Problem(
        Reason.ABI_MISMATCH,
        "The Java classes do not fit to " + library + ": " + detail,
        "use the two of one build of provider-rdma-core");
  }

  private static InputStream resource(final String name) {
    return NativeLibrary.class.getResourceAsStream("/" + name);
  }

  private static String text(final String name) {
    try (InputStream in = resource(name)) {
      return in == null ? null : new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (final IOException e) {
      return null;
    }
  }
}
