package org.jdapl.examples;

import java.time.Duration;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.InterfaceAdapter;

/** An adapter and what was created on it, which is closed before it, the last first. */
public final class Opened implements AutoCloseable {

  private final InterfaceAdapter adapter;
  private final Duration bound;
  private final Deque<DatObject> objects = new ConcurrentLinkedDeque<>();

  /**
   * With nothing on it yet.
   *
   * @param bound how long the adapter may take to close what could not be closed in order.
   */
  public Opened(final InterfaceAdapter adapter, final Duration bound) {
    this.adapter = adapter;
    this.bound = bound;
  }

  /** Has an object closed, before those that were created earlier. */
  public <T extends DatObject> T add(final T object) {
    objects.add(object);
    return object;
  }

  /**
   * Closes what a constructor opened before it failed.
   *
   * @return the failure, with what went wrong in the close as suppressed.
   */
  public static RuntimeException closed(final AutoCloseable half, final RuntimeException failure) {
    try {
      half.close();
    } catch (final Exception e) {
      failure.addSuppressed(e);
    }
    return failure;
  }

  @Override
  public void close() {
    try {
      objects.descendingIterator().forEachRemaining(DatObject::close);
    } finally {
      adapter.closeAbruptly(bound);
    }
  }
}
