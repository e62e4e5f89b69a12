package org.jdapl.evd;

import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jdapl.evd.Mistake.Edit;

/**
 * The code that runs under a scheduler: the real one, but for waits. They spin twice only, and
 * sleep without limit, so that a wake-up that was lost is a deadlock and not a delay; and a
 * consumer that waits sleeps also where dispatchers are driven by hand, because other threads drive
 * them. Mistakes may be planted in it besides.
 */
final class Schedules implements AutoCloseable {

  private static final List<Edit> WAITS =
      List.of(
          new Edit("IdleWait.java", "SPINS = 200;", "SPINS = 2;"),
          new Edit(
              "IdleWait.java",
              "LockSupport.parkNanos(this, LONGEST_SLEEP);",
              "LockSupport.park(this);"),
          new Edit(
              "Reaper.java",
              "LockSupport.parkNanos(this, Math.min(LONGEST_SLEEP, nextTimerNanos()));",
              "LockSupport.park(this);"),
          new Edit(
              "Reaper.java",
              "LockSupport.parkNanos(this, LONGEST_SLEEP);",
              "LockSupport.park(this);"),
          new Edit("EvdImpl.java", "SPINS = 100;", "SPINS = 2;"),
          new Edit(
              "Jdapl.java", "    if (byHand) {\n      drive(", "    if (false) {\n      drive("),
          new Edit(
              "Jdapl.java",
              "LockSupport.parkNanos(this, deadline - clock.nanoTime());",
              "LockSupport.park(this);"));

  /** How many schedules each race gets. */
  static final int COUNT = Integer.getInteger("jdapl.schedules", 2000);

  private final URLClassLoader loader;

  /**
   * Compiles it.
   *
   * @param mistakes to be planted.
   * @param classes an empty folder.
   */
  Schedules(final String name, final List<Edit> mistakes, final Path classes) throws IOException {
    final List<Edit> edits = new ArrayList<>(mistakes);
    edits.addAll(WAITS);
    BrokenCode.compile(name, edits, Path.of("../.."), classes);
    loader = new URLClassLoader(classPath(classes), ClassLoader.getPlatformClassLoader());
    loader.setDefaultAssertionStatus(true);
  }

  private static URL[] classPath(final Path first) throws MalformedURLException {
    final List<URL> urls = new ArrayList<>();
    urls.add(first.toUri().toURL());
    for (final String entry : System.getProperty("java.class.path").split(":", -1)) {
      urls.add(Path.of(entry).toUri().toURL());
    }
    return urls.toArray(URL[]::new);
  }

  /** A race of this code. */
  Runnable race(final String name) throws ReflectiveOperationException {
    return (Runnable)
        loader.loadClass(Race.class.getName()).getConstructor(String.class).newInstance(name);
  }

  @Override
  public void close() throws IOException {
    loader.close();
  }
}
