package org.jdapl.rdmacore;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The files by which the kernel shows its devices. It looks, and opens nothing.
 *
 * @param devices where the files are that a program opens.
 * @param kernel where the kernel lists what it has.
 */
record DeviceFiles(Path devices, Path kernel) {

  /** Those of this machine. */
  static final DeviceFiles HERE =
      new DeviceFiles(Path.of("/dev/infiniband"), Path.of("/sys/class/infiniband"));

  /** The devices that the kernel has, whether or not a program can open them. */
  List<String> ofKernel() {
    return names(kernel, "*");
  }

  /**
   * What is wrong with the files; a device may work all the same.
   *
   * @param known the devices that libibverbs knows.
   */
  Problem bad(final String known) {
    final List<String> verbs = names(devices, "uverbs*");
    if (verbs.isEmpty()) {
      return new Problem(
          Problem.Reason.NO_DEVICE_FILES,
          "There are devices (" + known + "), and no " + devices + "/uverbs* of them",
          "in a container: --device /dev/infiniband; elsewhere load the module: modprobe ib_uverbs");
    }
    final Path manager = devices.resolve("rdma_cm");
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
  Problem noneOpen() {
    final List<String> closed = closed();
    final long closedDevices = closed.stream().filter(name -> name.contains("uverbs")).count();
    final boolean managerClosed = closedDevices < closed.size();
    return managerClosed || (closedDevices > 0 && closedDevices == names(devices, "uverbs*").size())
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
  private List<String> closed() {
    final List<String> files = new ArrayList<>(names(devices, "rdma_cm"));
    files.addAll(names(devices, "uverbs*"));
    return files.stream()
        .map(devices::resolve)
        .filter(file -> !isOpen(file))
        .map(Path::toString)
        .toList();
  }

  private static boolean isOpen(final Path file) {
    return Files.isReadable(file) && Files.isWritable(file);
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
}
