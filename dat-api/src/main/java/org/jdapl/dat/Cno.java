package org.jdapl.dat;

import java.time.Duration;
import java.util.List;

/**
 * A consumer notification object: threads wait here for many EVDs at once.
 *
 * <p>An EVD that uses it ({@link Evd#cno(Cno)}) triggers it at each event, as long as no upcall is
 * enabled or running and no thread waits for that EVD itself; and at once when that state begins
 * with events in the queue. A trigger releases one thread. If none waits, it is kept for the next
 * one that will; triggers that nobody waited for do not add up.
 */
public interface Cno extends DatObject {

  /**
   * Waits until an EVD triggers this, and tells which one, on the calling thread (dat_cno_wait). If
   * one did before and nobody was told, it does not wait. Any number of threads may wait.
   *
   * <p>The EVD is a hint: it may be empty, and others may hold events of which no other trigger
   * tells. So: drain all EVDs, each until it is empty, before waiting again. By hand it is as with
   * {@link Evd#await}.
   *
   * @param to told which EVD, after the wait is over; null is not allowed. What it throws is thrown
   *     on.
   * @param timeout how long to wait at most; zero to look only.
   * @return SUCCESS if it was triggered. TIMEOUT_EXPIRED if not (DAT's QUEUE_EMPTY): a trigger that
   *     comes now is kept. INTERRUPTED_CALL if the thread was interrupted; its interrupt status is
   *     set, no trigger was used up. ABORT if it was closed meanwhile, or the adapter's device is
   *     lost and there is no trigger.
   * @throws DatException INVALID_PARAMETER (INVALID_ARG1, INVALID_ARG2); INVALID_STATE inside a
   *     handler of an event, where nothing waits; INVALID_HANDLE (INVALID_HANDLE_CNO) if closed.
   */
  Outcome await(NotifyHandler to, Duration timeout);

  /**
   * The EVDs that use it; dat_cno_query does not tell them. Legal in every state.
   *
   * @return a snapshot, in the order in which they came.
   */
  List<Evd> evds();

  /**
   * Closes it (dat_cno_free); threads that wait get ABORT.
   *
   * @throws DatException INVALID_STATE (INVALID_STATE_CNO_IN_USE) while EVDs use it.
   */
  @Override
  void close();
}
