package org.jdapl.rdmacore.jni;

import java.util.concurrent.atomic.AtomicLong;

/** Counts calls into the native library, with assertions on; without, it costs nothing. */
public final class Crossings {

  private static final AtomicLong COUNT = new AtomicLong();

  private Crossings() {}

  /** Called as {@code assert Crossings.crossed()} before a crossing of the data path. */
  static boolean crossed() {
    COUNT.incrementAndGet();
    return true;
  }

  /** How many crossings of the data path there were so far. */
  public static long count() {
    return COUNT.get();
  }
}
