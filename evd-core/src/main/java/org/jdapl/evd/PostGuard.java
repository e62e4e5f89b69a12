package org.jdapl.evd;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * The leaf lock of a work queue, held for the time of a post. Nothing is called under it but the
 * verb; an upcall of the provider inside that verb only sets a state word.
 */
class PostGuard {

  private static final int SPINS = 100;
  private static final int YIELDS = 1000;
  private static final long NAP = 50_000;
  private static final VarHandle HELD;

  static {
    try {
      HELD = MethodHandles.lookup().findVarHandle(PostGuard.class, "held", boolean.class);
    } catch (final ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("unused") // through HELD
  private boolean held;

  final void lock() {
    int spins = 0;
    while (!tryLock()) {
      if (++spins <= SPINS) {
        Thread.onSpinWait();
      } else if (spins <= YIELDS) {
        Thread.yield();
      } else {
        LockSupport.parkNanos(this, NAP); // its verb may not return for long
      }
    }
  }

  final boolean tryLock() {
    return HELD.compareAndSet(this, false, true);
  }

  final void unlock() {
    HELD.setRelease(this, false);
  }
}
