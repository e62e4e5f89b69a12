package org.jdapl.rdmacore;

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

  private static final int EADDRNOTAVAIL = 99;
  private static final String SEE_DRIVER = "see the driver's messages: dmesg, rdma dev show";

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
      add(findings, "device files", DeviceFiles.HERE.devices() + " can be opened", badFiles());
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
    return Optional.ofNullable(absent != null ? absent : DeviceFiles.HERE.noneOpen());
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
    final List<String> kernel = DeviceFiles.HERE.ofKernel();
    return kernel.isEmpty()
        ? new Problem(
            Problem.Reason.NO_DEVICE,
            "There is no RDMA device on this machine (nothing in "
                + DeviceFiles.HERE.kernel()
                + ")",
            "load its driver; or make a device in software:"
                + " rdma link add rxe0 type rxe netdev eth0")
        : new Problem(
            Problem.Reason.NO_DEVICE,
            "The kernel has devices (" + String.join(", ", kernel) + "), libibverbs has none",
            "load the module ib_uverbs, and install the user-space drivers:"
                + " apt-get install ibverbs-providers, or dnf install libibverbs");
  }

  private static Problem badFiles() {
    return DeviceFiles.HERE.bad(deviceNames());
  }

  private static Problem littleMemory(final long limit) {
    return limit >= Memlock.ENOUGH
        ? null
        : new Problem(
            Problem.Reason.MEMLOCK,
            "This process may pin " + limit + " bytes only",
            "raise the limit, " + Memlock.HOW);
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
