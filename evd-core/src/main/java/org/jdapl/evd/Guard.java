package org.jdapl.evd;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The leaf lock of a work queue, held for the time of a post. Nothing is called under it but the
 * verb; an upcall of the provider inside that verb only sets a state word.
 */
abstract class Guard {

  private static final int SPINS = 100;
  private static final VarHandle HELD;

  static {
    try {
      HELD = MethodHandles.lookup().findVarHandle(Guard.class, "held", boolean.class);
    } catch (final ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("unused") // through HELD
  private boolean held;

  final void lock() {
    int spins = 0;
    while (!HELD.compareAndSet(this, false, true)) {
      if (++spins > SPINS) {
        Thread.yield();
      } else {
        Thread.onSpinWait();
      }
    }
  }

  final void unlock() {
    HELD.setRelease(this, false);
  }
}
