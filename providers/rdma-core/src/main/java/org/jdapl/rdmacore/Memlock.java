package org.jdapl.rdmacore;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jdapl.verbs.VerbsException;

/** How much memory this process may pin. */
final class Memlock {

  /** Below this, a few endpoints with their buffers do not fit. */
  static final long ENOUGH = 64 << 20;

  /** How to raise the limit. */
  static final String HOW =
      "which ulimit -l shows: memlock in /etc/security/limits.conf, or LimitMEMLOCK of the service";

  private static final String LINE = "Max locked memory";

  private Memlock() {}

  /** The limit in bytes; {@link Long#MAX_VALUE} if there is none, or it is not known. */
  static long limit() {
    try {
      for (final String line : Files.readAllLines(Path.of("/proc/self/limits"))) {
        if (line.startsWith(LINE)) {
          final String soft = line.substring(LINE.length()).strip().split("\\s+", -1)[0];
          return soft.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(soft);
        }
      }
    } catch (final IOException | NumberFormatException e) {
      return Long.MAX_VALUE; // a hint only
    }
    return Long.MAX_VALUE;
  }

  /** What to add to a failure that may come from the limit. */
  static String hint(final long result, final long wanted) {
    if (result != -VerbsException.ENOMEM && result != -VerbsException.EAGAIN) {
      return "";
    }
    final long limit = limit();
    return limit == Long.MAX_VALUE
        ? ""
        : "; this process may pin "
            + limit
            + " bytes, wanted "
            + wanted
            + " more: raise the limit, "
            + HOW;
  }
}
