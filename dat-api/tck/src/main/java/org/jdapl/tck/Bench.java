package org.jdapl.tck;

import java.util.function.BooleanSupplier;
import org.jdapl.dat.InterfaceAdapter;

/**
 * Where contract tests run: a fabric, its adapters, and its time. A test gets a bench of its own
 * and uses it from one thread.
 *
 * <p>What a handler throws never comes out of {@link #runUntil} or {@link #settle}: a bench that
 * drives dispatchers by hand takes it and goes on.
 */
public interface Bench extends AutoCloseable {

  /**
   * Opens a new adapter. All adapters of a bench can reach each other.
   *
   * @return the adapter; the bench closes it if the test does not.
   */
  InterfaceAdapter open();

  /**
   * Lets time pass until a condition holds. On virtual time everything runs on the calling thread
   * meanwhile, and ends when nothing more will happen or after 60 virtual seconds; on real time it
   * ends after a minute, which only what hangs needs, however busy the machine is.
   *
   * @param condition looked at after every step. It may itself dequeue, or answer a request that it
   *     dequeued: more can happen then, so the bench gives up only if nothing happens after a look.
   * @return true if the condition holds, false if it did not within the bound.
   */
  boolean runUntil(BooleanSupplier condition);

  /**
   * Lets things happen until nothing more will happen without a new call; on virtual time that
   * includes whatever a timeout does. On real time this is a bounded wait for quiescence.
   */
  void settle();

  /**
   * Whether nothing runs but inside {@link #runUntil}, {@link #settle} and calls that wait.
   *
   * @return true on virtual time, with everything on the calling thread; false if framework threads
   *     run upcalls.
   */
  boolean isVirtual();

  /**
   * How to get this run again; it stands in every assertion message.
   *
   * @return the model, the seed, and what else there is to say.
   */
  String replay();

  /** Closes what is still open, at once. */
  @Override
  void close();
}
