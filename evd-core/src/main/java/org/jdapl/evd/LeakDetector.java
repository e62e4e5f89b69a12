package org.jdapl.evd;

import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.jdapl.dat.Dat;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.OpenObject;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.slf4j.Logger;

/**
 * Remembers where an owner and what is on it were created, until they are closed: an adapter with
 * its objects, or a runtime. It knows names only and refers to no object, so it can tell of an
 * owner that was collected. From any thread.
 */
final class LeakDetector {

  /** What is remembered. */
  enum Level {
    OFF,
    /** Each owner, which is costly anyway, and a few of the objects on it. */
    SAMPLED,
    EVERY;

    /** The system property that chooses it. */
    static final String PROPERTY = "jdapl.leakDetection";

    /** What the system property says; sampled without one. */
    static Level configured() {
      final String value = System.getProperty(PROPERTY, "");
      if (value.isEmpty()) {
        return SAMPLED;
      }
      for (final Level level : values()) {
        if (level.toString().equals(value)) {
          return level;
        }
      }
      throw new DatException(
          ReturnType.INTERNAL_ERROR,
          ReturnSubtype.NO_SUBTYPE,
          "system property " + PROPERTY + " is '" + value + "'; it takes off, sampled or every");
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The stack of the call that created something; made into text only if it is asked for. */
  private static final class Place extends Exception {

    private static final long serialVersionUID = 1L;

    /** Classes that consumers call to create something, and those that it goes through. */
    private static final Set<String> OWN =
        Set.of(
            Dat.class.getName(),
            InterfaceAdapter.class.getName(),
            EvdRuntime.class.getName(),
            Registry.class.getName(),
            Jdapl.class.getName(),
            Jdapl.Builder.class.getName(),
            IaImpl.class.getName(),
            PzImpl.class.getName(),
            LeakDetector.class.getName());

    Place(final String name) {
      super(name + " was created here");
    }

    /** From the consumer's code on. */
    List<StackTraceElement> frames() {
      final StackTraceElement[] all = getStackTrace();
      int first = 0;
      while (first < all.length && OWN.contains(all[first].getClassName())) {
        first++;
      }
      return Arrays.asList(all).subList(first, all.length);
    }
  }

  private static final Logger LOGGER = Log.of(LeakDetector.class);

  /** One of so many objects is sampled, at random, so that no habit of the consumer hides one. */
  private static final int SAMPLE = 64;

  /** How many objects a message names. */
  private static final int NAMED = 32;

  /** Those that are open, in this JVM. */
  private static final Set<LeakDetector> OWNERS = ConcurrentHashMap.newKeySet();

  /** Its thread starts with the first owner that is remembered. */
  private static final class Collected {
    static final Cleaner CLEANER =
        Cleaner.create(
            loop -> {
              final Thread thread = new Thread(loop, "jdapl-leaks");
              thread.setDaemon(true);
              return thread;
            });
  }

  private final Level level;
  private final String owner;
  private final Place place;

  /** Under the monitor of this object, a leaf; null where no place is known. */
  private final Map<String, Place> objects = new LinkedHashMap<>();

  private volatile boolean closed;
  private Cleaner.Cleanable watch;

  /** An owner is created, by the call that is under way. */
  LeakDetector(final String owner, final Level level) {
    this.owner = owner;
    this.level = level;
    place = level == Level.OFF ? null : new Place(owner);
    if (level != Level.OFF) {
      OWNERS.add(this);
    }
  }

  Level level() {
    return level;
  }

  /** Has it told if an owner is collected before it is closed. */
  void watch(final Object reference) {
    if (level != Level.OFF) {
      watch = Collected.CLEANER.register(reference, this::onUnreachable);
    }
  }

  /** The owner is closed. */
  void closed() {
    closed = true;
    OWNERS.remove(this);
    if (watch != null) {
      watch.clean();
    }
  }

  private void onUnreachable() {
    if (!closed) { // and it stays among the owners: its device is still open
      LOGGER.warn("{} was not closed, and nothing refers to it any more{}", owner, left(), place);
    }
  }

  private synchronized String left() {
    return objects.isEmpty()
        ? ""
        : "; open on it: "
            + list(objects.entrySet().stream().map(e -> e.getKey() + at(e.getValue())).toList());
  }

  // What is on it.

  /** An object is created, by the call that is under way. */
  void opened(final String name) {
    if (level == Level.EVERY
        || (level == Level.SAMPLED && ThreadLocalRandom.current().nextInt(SAMPLE) == 0)) {
      final Place here = new Place(name);
      synchronized (this) {
        objects.put(name, here);
      }
    }
  }

  /** An object came to be without a call of the consumer. */
  synchronized void arrived(final String name) {
    if (level == Level.EVERY) {
      objects.put(name, null);
    }
  }

  void closed(final String name) {
    if (level != Level.OFF) {
      synchronized (this) {
        objects.remove(name);
      }
    }
  }

  /** The owner is closed with all that is on it. */
  void closedAbruptly(final Collection<DatObject> open) {
    if (level != Level.OFF && !open.isEmpty() && LOGGER.isWarnEnabled()) {
      LOGGER.warn("{}: closed abruptly, with these open: {}", this, describe(open));
    }
  }

  /** Objects, and where each was created if that is known. */
  String describe(final Collection<DatObject> open) {
    final Map<String, Place> places;
    synchronized (this) {
      places = new HashMap<>(objects);
    }
    final String all =
        list(open.stream().map(object -> object + at(places.get(object.name()))).toList());
    return open.stream().allMatch(object -> places.containsKey(object.name()))
        ? all
        : all + "; -D" + Level.PROPERTY + "=every tells where each was created";
  }

  private static String at(final Place place) {
    return place == null || place.frames().isEmpty() ? "" : " created at " + place.frames().get(0);
  }

  private static String list(final List<String> all) {
    return all.stream().limit(NAMED).collect(Collectors.joining(", ", "[", ""))
        + (all.size() > NAMED ? " and " + (all.size() - NAMED) + " more]" : "]");
  }

  /** All that is open in this JVM and remembered, each owner before what is on it. */
  static List<OpenObject> all() {
    final List<OpenObject> all = new ArrayList<>();
    for (final LeakDetector detector : OWNERS) {
      all.add(open(detector.owner, detector.place));
      synchronized (detector) {
        detector.objects.forEach((name, place) -> all.add(open(name, place)));
      }
    }
    return all;
  }

  private static OpenObject open(final String name, final Place place) {
    return new OpenObject(name, place == null ? List.of() : place.frames());
  }

  /** The owner, and where it was created if that is known. */
  @Override
  public String toString() {
    return owner + at(place);
  }
}
