package org.jdapl.rdmacore;

import java.nio.file.Path;

/** A program that looks at device files in a directory, and says what is wrong with them. */
final class DeviceFilesProbe {

  private DeviceFilesProbe() {}

  public static void main(final String... arguments) {
    final Path directory = Path.of(arguments[0]);
    final DeviceFiles files = new DeviceFiles(directory, directory);
    System.out.println("bad: " + reason(files.bad("known0")));
    System.out.println("none: " + reason(files.noneOpen()));
  }

  private static String reason(final Problem problem) {
    return problem == null ? "nothing" : problem.reason() + ", " + problem;
  }
}
