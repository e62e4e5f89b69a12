package org.jdapl.rdmacore;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import org.jdapl.rdmacore.jni.Layout;
import org.jdapl.rdmacore.jni.NativeLibrary;
import org.jdapl.rdmacore.jni.Verbs;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.DeviceLimits;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.VerbsException;

/**
 * What is there for this provider, step by step, and what is missing.
 *
 * @param findings what was looked at, in order; after a problem that keeps all else from working
 *     nothing more was.
 * @param isUsable whether a device was opened and used.
 */
public record Diagnosis(List<Finding> findings, boolean isUsable) {

  private static final Path DEVICE_FILES = Path.of("/dev/infiniband");
  private static final int EADDRNOTAVAIL = 99;
  private static final String SEE_DRIVER = "see the driver's messages: dmesg, rdma dev show";
  private static final Path KERNEL_DEVICES = Path.of("/sys/class/infiniband");

  /**
   * One thing that was looked at.
   *
   * @param what what it is.
   * @param found what was found; null where that is a problem.
   * @param problem what is wrong with it; null if nothing is.
   */
  public record Finding(String what, String found, Problem problem) {}

  /**
   * Looks at everything, and uses the device.
   *
   * @param parameters which device, as {@link RdmaCoreProvider#open} has them.
   * @return what was found.
   * @throws VerbsException if the parameters are not valid.
   */
  public static Diagnosis run(final String parameters) {
    final Parameters wanted = Parameters.of(parameters);
    final List<Finding> findings = new ArrayList<>();
    final boolean ready =
        add(findings, "native library", NativeLibrary.platform(), NativeLibrary.problem())
            && add(findings, "devices", deviceNames(), noDevice());
    boolean usable = false;
    if (ready) {
      add(findings, "device files", DEVICE_FILES + " can be opened", badFiles());
      usable = use(parameters, wanted, findings);
      final long limit = Memlock.limit();
      final String amount = limit == Long.MAX_VALUE ? "no limit" : limit + " bytes";
      add(findings, "memory to pin", amount, littleMemory(limit));
    }
    return new Diagnosis(List.copyOf(findings), usable);
  }

  private static boolean add(
      final List<Finding> findings, final String what, final String found, final Problem problem) {
    findings.add(new Finding(what, problem == null ? found : null, problem));
    return problem == null;
  }

  /** What keeps all devices from being used; looks, and opens nothing. */
  static Optional<Problem> problem() {
    if (NativeLibrary.problem() != null) {
      return Optional.of(NativeLibrary.problem());
    }
    final Problem absent = noDevice();
    return Optional.ofNullable(absent != null ? absent : noneOpen());
  }

  /** Whether an errno of rdma_bind_addr says that no device has the address. */
  static boolean isOfNoDevice(final int errno) {
    return errno == VerbsException.ENODEV || errno == EADDRNOTAVAIL;
  }

  /** Why no device was opened, after a verb of the connection manager failed. */
  static Problem notOpened(final String verb, final Parameters wanted, final int errno) {
    final Problem any = problem().orElse(null);
    if (any != null) {
      return any;
    }
    final Problem files = badFiles();
    if (files != null && files.reason() != Problem.Reason.PERMISSION) { // that is of other devices
      return new Problem(
          files.reason(), "Nothing was found for " + wanted + ": " + files.cause(), files.remedy());
    }
    return verb.equals("bind_addr") && isOfNoDevice(errno)
        ? new Problem(
            Problem.Reason.NO_ADDRESS,
            "No IP address of this machine belongs to "
                + wanted
                + "; the devices are: "
                + deviceNames(),
            "see rdma link show for their interfaces, and ip address show; give an address"
                + " to an interface, and have it up")
        : new Problem(
            Problem.Reason.DEVICE,
            verb + " for " + wanted + " failed with errno " + errno,
            (files == null ? "" : files + "; ") + SEE_DRIVER);
  }

  private static String deviceNames() {
    if (NativeLibrary.problem() != null) {
      return "";
    }
    final String names = Verbs.deviceNames();
    return names == null ? "" : names.strip().replace("\n", ", ");
  }

  private static Problem noDevice() {
    if (!deviceNames().isEmpty()) {
      return null;
    }
    final List<String> kernel = names(KERNEL_DEVICES, "*");
    return kernel.isEmpty()
        ? new Problem(
            Problem.Reason.NO_DEVICE,
            "There is no RDMA device on this machine (nothing in " + KERNEL_DEVICES + ")",
            "load its driver; or make a device in software:"
                + " rdma link add rxe0 type rxe netdev eth0")
        : new Problem(
            Problem.Reason.NO_DEVICE,
            "The kernel has devices (" + String.join(", ", kernel) + "), libibverbs has none",
            "load the module ib_uverbs, and install the user-space drivers:"
                + " apt-get install ibverbs-providers, or dnf install libibverbs");
  }

  /** What is wrong with the device files; a device may work all the same. */
  private static Problem badFiles() {
    final List<String> verbs = names(DEVICE_FILES, "uverbs*");
    if (verbs.isEmpty()) {
      return new Problem(
          Problem.Reason.NO_DEVICE_FILES,
          "There are devices (" + deviceNames() + "), and no " + DEVICE_FILES + "/uverbs* of them",
          "in a container: --device /dev/infiniband; elsewhere load the module: modprobe ib_uverbs");
    }
    final Path manager = DEVICE_FILES.resolve("rdma_cm");
    if (!Files.exists(manager)) {
      return new Problem(
          Problem.Reason.NO_CONNECTION_MANAGER,
          "There is no " + manager,
          "load the module: modprobe rdma_ucm; in a container: --device /dev/infiniband");
    }
    final List<String> closed = closed();
    return closed.isEmpty() ? null : noPermission(closed);
  }

  /** What keeps all devices from being opened, of those whose files are there. */
  private static Problem noneOpen() {
    final List<String> closed = closed();
    final long closedDevices = closed.stream().filter(name -> name.contains("uverbs")).count();
    final boolean managerClosed = closedDevices < closed.size();
    return managerClosed
            || (closedDevices > 0 && closedDevices == names(DEVICE_FILES, "uverbs*").size())
        ? noPermission(closed)
        : null;
  }

  private static Problem noPermission(final List<String> closed) {
    return new Problem(
        Problem.Reason.PERMISSION,
        "This user may not read and write " + String.join(", ", closed),
        "add the user to the group that owns it (often rdma), or see the udev rules of"
            + " rdma-core; in a container: --device /dev/infiniband");
  }

  /** The device files that are there and that this user cannot open. */
  private static List<String> closed() {
    final List<String> files = new ArrayList<>(names(DEVICE_FILES, "rdma_cm"));
    files.addAll(names(DEVICE_FILES, "uverbs*"));
    return files.stream()
        .map(DEVICE_FILES::resolve)
        .filter(file -> !isOpen(file))
        .map(Path::toString)
        .toList();
  }

  private static boolean isOpen(final Path file) {
    return Files.isReadable(file) && Files.isWritable(file);
  }

  private static Problem littleMemory(final long limit) {
    return limit >= Memlock.ENOUGH
        ? null
        : new Problem(
            Problem.Reason.MEMLOCK,
            "This process may pin " + limit + " bytes only",
            "raise the limit, " + Memlock.HOW);
  }

  private static List<String> names(final Path directory, final String glob) {
    final List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, glob)) {
      files.forEach(file -> names.add(file.getFileName().toString()));
    } catch (final IOException e) {
      return List.of(); // it is not there
    }
    names.sort(null);
    return names;
  }

  /** Opens the device, and makes and ends one object of each kind. */
  private static boolean use(
      final String parameters, final Parameters wanted, final List<Finding> findings) {
    final RdmaCoreProvider provider = new RdmaCoreProvider();
    try (EventChannel channel = provider.createEventChannel();
        Device device = provider.open(parameters, channel)) {
      findings.add(new Finding("address", describe(device), null));
      try (ProtectionDomain pd = device.allocPd();
          MemoryRegion mr =
              device.regMr(pd, Layout.allocate(1 << 16), EnumSet.of(Access.LOCAL_WRITE));
          CompletionQueue cq = device.createCq(16, queue -> {});
          QueuePair qp = device.createQp(new QpAttributes(pd, cq, cq, null, 4, 4, 1, 1, 0))) {
        qp.modifyToError();
        channel.await(0);
        findings.add(
            new Finding(
                "objects",
                mr.length() + " bytes registered, queue pair " + qp.number() + " made",
                null));
      }
      return true;
    } catch (final VerbsException e) {
      findings.add(new Finding("use of " + wanted, null, of(e, wanted)));
      return false;
    }
  }

  private static String describe(final Device device) {
    final DeviceLimits limits = device.limits();
    return device
        + ", "
        + limits.maxQp()
        + " queue pairs of "
        + limits.maxQpWr()
        + " requests, messages of up to "
        + limits.maxMessageBytes()
        + " bytes";
  }

  private static Problem of(final VerbsException e, final Parameters wanted) {
    if (e.verb().equals("bind_addr") || e.verb().equals("create_event_channel")) {
      return notOpened(e.verb(), wanted, e.errno());
    }
    return e.errno() == VerbsException.ENOMEM
        ? new Problem(
            Problem.Reason.MEMLOCK,
            e.getMessage(),
            "raise the limit of memory to pin, " + Memlock.HOW)
        : new Problem(Problem.Reason.DEVICE, e.getMessage(), SEE_DRIVER);
  }
}
