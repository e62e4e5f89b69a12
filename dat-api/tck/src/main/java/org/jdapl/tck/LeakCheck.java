package org.jdapl.tck;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jdapl.dat.Dat;
import org.jdapl.dat.OpenObject;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test class that leaves interface adapters, runtimes or objects on them open, with their
 * names and where they were created. It knows what {@link Dat#openObjects} tells; {@code
 * -Djdapl.leakDetection=every} is all.
 *
 * <p>JUnit registers it for every test class if {@code
 * junit.jupiter.extensions.autodetection.enabled} is true; {@code @ExtendWith(LeakCheck.class)}
 * does for one. Where classes run side by side, an object belongs to the class that stands in the
 * stack of its creation; what belongs to none, the last class that runs is to blame for.
 */
public final class LeakCheck implements BeforeAllCallback, AfterAllCallback {

  /** What was closed a moment ago may take until then. */
  private static final long BOUND = TimeUnit.SECONDS.toNanos(10);

  private static final long NAP = TimeUnit.MILLISECONDS.toNanos(1);
  private static final int FRAMES = 16;

  // Of all classes of this JVM; under the monitor of this class.
  private static final List<Class<?>> RUNNING = new ArrayList<>();
  private static final Set<OpenObject> REPORTED = new HashSet<>();

  /** Called by JUnit. */
  public LeakCheck() {}

  @Override
  public void beforeAll(final ExtensionContext context) {
    synchronized (LeakCheck.class) {
      RUNNING.add(context.getRequiredTestClass());
    }
  }

  @Override
  public void afterAll(final ExtensionContext context) {
    final Class<?> test = context.getRequiredTestClass();
    synchronized (LeakCheck.class) {
      RUNNING.remove(test);
    }
    final List<OpenObject> left = await(test);
    if (!left.isEmpty()) {
      final StringBuilder message = new StringBuilder(test.getName()).append(" leaves open:");
      for (final OpenObject object : left) {
        message.append("\n  ").append(object.name());
        frames(test, object).forEach(frame -> message.append("\n      at ").append(frame));
      }
      throw new AssertionError(message.toString());
    }
  }

  private static List<OpenObject> await(final Class<?> test) {
    final long deadline = System.nanoTime() + BOUND;
    while (true) {
      final List<OpenObject> left = leftBy(test);
      if (left.isEmpty() || System.nanoTime() - deadline > 0) {
        synchronized (LeakCheck.class) {
          REPORTED.addAll(left);
        }
        return left;
      }
      LockSupport.parkNanos(NAP);
    }
  }

  private static List<OpenObject> leftBy(final Class<?> test) {
    final List<OpenObject> open = new ArrayList<>(Dat.openObjects());
    synchronized (LeakCheck.class) {
      open.removeIf(object -> REPORTED.contains(object) || !isLeftBy(test, object));
    }
    return open;
  }

  /** Whether no other class that runs may have left it. */
  private static boolean isLeftBy(final Class<?> test, final OpenObject object) {
    if (RUNNING.isEmpty()) {
      return true;
    }
    List<Class<?>> owners = new ArrayList<>(RUNNING);
    owners.add(test);
    boolean found = false;
    final List<StackTraceElement> frames = object.createdAt();
    for (int i = frames.size() - 1; i >= 0; i--) { // a base class may be that of several
      final String frame = frames.get(i).getClassName();
      final List<Class<?>> matching = owners.stream().filter(owner -> isOf(owner, frame)).toList();
      if (!matching.isEmpty()) {
        owners = matching;
        found = true;
      }
    }
    return found && owners.equals(List.of(test));
  }

  private static boolean isOf(final Class<?> test, final String name) {
    for (Class<?> type = test; type != null; type = type.getSuperclass()) {
      if (type.getName().equals(name)) {
        return true;
      }
    }
    return false;
  }

  /** Down to the test. */
  private static List<StackTraceElement> frames(final Class<?> test, final OpenObject object) {
    final List<StackTraceElement> all = object.createdAt();
    int last = Math.min(FRAMES, all.size());
    for (int i = all.size() - 1; i >= 0; i--) {
      if (all.get(i).getClassName().equals(test.getName())) {
        last = i + 1;
        break;
      }
    }
    return all.subList(0, last);
  }
}
