package org.jdapl.dat;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * An event dispatcher: it serializes the events of all its streams into upcalls of one handler, or
 * keeps them until they are dequeued.
 *
 * <p>It is created with its upcall disabled. While an upcall may start or is running, the EVD
 * belongs to the framework; otherwise it belongs to the consumer, who may dequeue from any number
 * of threads, or have one of them wait.
 *
 * <p>Order: first in, first out for each work queue of an endpoint, for each poster of software
 * events, and for each connection. Where an endpoint's completions and connection events share an
 * EVD, ESTABLISHED precedes its first successful completion and every successful completion
 * precedes the event that ends the connection. Nothing else is ordered.
 */
public interface Evd extends DatObject {

  /** What keeps upcalls from running into each other, and signals from being lost. */
  enum Guard {
    /**
     * One word that is changed atomically. It is right whoever signals: posters on any threads, a
     * provider that notifies from several threads at once or inside a verb, any number of
     * dispatchers.
     */
    ATOMIC
  }

  /**
   * Which guard it uses (nothing that DAT can query). It follows from all who may signal. Any
   * thread may post, so it is ATOMIC for every EVD of this version.
   *
   * @return the guard; it stays the same.
   */
  Guard guard();

  /**
   * Which events it takes (dat_evd_query, evd_flags). Legal in every state.
   *
   * @return the streams it was created for.
   */
  Set<EventStream> streams();

  /**
   * How many completions, connection requests and software events it holds, each on its own
   * (dat_evd_query, evd_qlen). Legal in every state.
   *
   * @return the length.
   */
  int length();

  /**
   * Changes its length (dat_evd_resize). No event is lost and the order stays, also while events
   * come and go. May be called from any thread, also inside an upcall.
   *
   * @param length as for {@link InterfaceAdapter#createEvd}; the present one changes nothing.
   * @throws DatException INVALID_PARAMETER (INVALID_ARG1) if the length is below 1;
   *     INSUFFICIENT_RESOURCES (RESOURCE_TEVD) if it is more than the provider allows;
   *     INVALID_STATE if more events wait, or more completions are reserved for endpoints,
   *     (INVALID_STATE_EVD_WAITER) while a thread waits in {@link #await}; INVALID_HANDLE if
   *     closed. Nothing was changed then.
   */
  void resize(int length);

  /**
   * How it tells its consumer of events (dat_evd_query, upcall_policy). Legal in every state.
   *
   * @return the policy; after a NOTIFY upcall, DISABLED until enabled again.
   */
  UpcallPolicy policy();

  /**
   * Hands out at most one event on the calling thread (dat_evd_dequeue). Several threads may do so
   * at once; each event goes to exactly one. It does not wait. Without an upcall and a CNO, where
   * nobody is told of events, it asks the device if it finds none in memory, and asks for no
   * notification.
   *
   * @param to gets the event; null is not allowed. What it throws is thrown on, the event is
   *     consumed.
   * @return SUCCESS, or QUEUE_EMPTY if there was none.
   * @throws DatException INVALID_STATE (INVALID_STATE_EVD_ENABLED) while an upcall may start or is
   *     running, except inside that upcall, (INVALID_STATE_EVD_WAITER) while a thread waits;
   *     INVALID_HANDLE if closed.
   */
  Outcome dequeue(EventHandler to);

  /**
   * Hands out events until there is none or the limit is reached; else as {@link #dequeue}.
   *
   * @param to gets the events.
   * @param limit how many at most, at least 1.
   * @return how many were handed out.
   * @throws DatException as {@link #dequeue}; INVALID_PARAMETER (INVALID_ARG2) if the limit is
   *     below 1.
   */
  int drain(EventHandler to, int limit);

  /**
   * Waits until the EVD holds so many events, and hands out one of them on the calling thread
   * (dat_evd_wait). An event that was there before counts, and so does one that may only be handed
   * out behind another; a request posted with {@link CompletionFlags#SUPPRESS} that succeeds does
   * not. If there are enough, it does not wait. One thread may wait at a time, and while it does,
   * nobody may dequeue or enable upcalls.
   *
   * <p>By hand, the calling thread drives the dispatchers, and a provider in virtual time, while it
   * waits; what another EVD's handler throws is thrown on then, and nothing was taken here.
   *
   * @param to gets the event, after the wait is over; null is not allowed. What it throws is thrown
   *     on, the event is consumed.
   * @param threshold how many events there must be, 1 to {@link #length}.
   * @param timeout how long to wait at most, from the call on, whatever happens meanwhile; zero to
   *     look only.
   * @return SUCCESS if one event was handed out: {@link #remaining} says how many are left, at
   *     least threshold - 1. Else nothing was taken, and {@link #remaining} says how many are
   *     there: TIMEOUT_EXPIRED if there were too few all the time: dequeue them, or wait again.
   *     INTERRUPTED_CALL if the thread was interrupted; its interrupt status is set, and the EVD
   *     may be used on. ABORT if the EVD was closed meanwhile: what it held is in the report of the
   *     close; or if the adapter's device is lost: dequeue what is there, nothing more comes.
   * @throws DatException INVALID_PARAMETER (INVALID_ARG1, INVALID_ARG2, INVALID_ARG3);
   *     INVALID_STATE (INVALID_STATE_EVD_WAITER) while another thread waits,
   *     (INVALID_STATE_EVD_ENABLED) while an upcall may start or is running,
   *     (INVALID_STATE_EVD_CONFIG_SOLICITED) if the threshold is above 1 and its receives were
   *     asked to tell only if solicited (see {@link EndpointAttributes#withReceiveFlags}),
   *     (INVALID_STATE_EVD_UNWAITABLE) after {@link #setUnwaitable}, also if it is called
   *     meanwhile, (NO_SUBTYPE) inside a handler, where nothing waits: use {@link #dequeue} there;
   *     INVALID_HANDLE if closed.
   */
  Outcome await(EventHandler to, int threshold, Duration timeout);

  /**
   * How many events were left when the last {@link #await} ended (the nmore of dat_evd_wait). More
   * may have arrived since.
   *
   * @return the number; 0 before the first one. Legal in every state.
   */
  int remaining();

  /**
   * Allows no thread to wait from now on; one that waits gets INVALID_STATE
   * (INVALID_STATE_EVD_UNWAITABLE) (dat_evd_set_unwaitable). Nothing is lost, and all else works
   * on: a way to have a thread come out of {@link #await}.
   *
   * @throws DatException INVALID_HANDLE if closed.
   */
  void setUnwaitable();

  /**
   * Allows threads to wait again (dat_evd_clear_unwaitable).
   *
   * @throws DatException INVALID_HANDLE if closed.
   */
  void clearUnwaitable();

  /**
   * Whether threads may wait (dat_evd_query, evd_state). Legal in every state.
   *
   * @return false after {@link #setUnwaitable}.
   */
  boolean isWaitable();

  /**
   * Where threads wait for this EVD among others (dat_evd_query, cno_handle). Legal in every state.
   *
   * @return the CNO; null if there is none, as at first, and after a close.
   */
  Cno cno();

  /**
   * Has events trigger a CNO (dat_evd_modify_cno). If events are queued, and neither an upcall nor
   * a waiter is to get them, they trigger it at once. An event that comes at the same time may
   * trigger the old one.
   *
   * @param cno of the same adapter; null for none.
   * @throws DatException INVALID_HANDLE (INVALID_HANDLE_CNO) if the CNO is closed or of another
   *     adapter; INVALID_HANDLE if the EVD is closed.
   */
  void cno(Cno cno);

  /**
   * Posts a software event (dat_evd_post_se). Never runs an upcall on the calling thread, never
   * waits.
   *
   * @param payload the consumer's own object, passed on by reference.
   * @return SUCCESS, or QUEUE_FULL if as many software events wait as the EVD is long; nothing was
   *     queued then, and the EVD is unharmed.
   * @throws DatException INVALID_PARAMETER (INVALID_ARG1) if the EVD was not created for {@link
   *     EventStream#SOFTWARE}; INVALID_HANDLE if closed.
   */
  Outcome postSoftwareEvent(Object payload);

  /**
   * Enables upcalls, one at a time, that get events, those that are there included
   * (dat_evd_modify_upcall). Short for {@code upcall(handler, SINGLE_INSTANCE, ON_ANY)}.
   *
   * @param handler gets every event from now on.
   * @throws DatException as {@link #upcall(EventHandler, Concurrency, Invoke)}.
   */
  default void upcall(final EventHandler handler) {
    upcall(handler, Concurrency.SINGLE_INSTANCE, Invoke.ON_ANY);
  }

  /**
   * Enables upcalls that get events, or changes their handler (dat_evd_modify_upcall). Runs no
   * upcall on the calling thread and waits for none; a running upcall ends with the handler it has.
   *
   * @param handler gets the events.
   * @param concurrency how many upcalls may run at once.
   * @param when what to do about events that are there already.
   * @throws DatException INVALID_STATE while a {@link #teardown} waits, except inside the upcall it
   *     waits for, where the call has no effect; INVALID_STATE (INVALID_STATE_EVD_WAITER) while a
   *     thread waits in {@link #await}; INVALID_HANDLE if closed.
   */
  void upcall(EventHandler handler, Concurrency concurrency, Invoke when);

  /**
   * Enables one upcall that gets no event (dat_evd_modify_upcall with DAT_UPCALL_NOTIFY). Called
   * again inside that upcall, it takes effect when the upcall returns. Runs no upcall on the
   * calling thread.
   *
   * @param handler told once.
   * @param when what to do about events that are there already.
   * @throws DatException as {@link #upcall(EventHandler, Concurrency, Invoke)}.
   */
  void notifyOnce(NotifyHandler handler, Invoke when);

  /**
   * Disables upcalls before the next event (dat_evd_modify_upcall with DAT_UPCALL_DISABLE). Does
   * not wait: an upcall may still be running, and the EVD is the consumer's when it returned.
   * Inside an upcall, that upcall is the last.
   *
   * @throws DatException INVALID_HANDLE if closed.
   */
  void disable();

  /**
   * Disables upcalls and waits until none is running (dat_evd_modify_upcall with
   * DAT_UPCALL_TEARDOWN). Until then nobody can enable them, so that it ends as soon as the running
   * upcall returned. Inside any upcall it does not wait; see {@link #teardownAsync}. Inside an
   * upcall of this EVD it is a {@link #disable}, which that upcall may take back.
   *
   * @throws DatException INVALID_HANDLE if closed; ABORT (SUB_INTERRUPTED) if interrupted while
   *     waiting, ABORT if the EVD was closed meanwhile and the running upcall is stuck (upcalls are
   *     disabled all the same).
   */
  void teardown();

  /**
   * Disables upcalls; never waits.
   *
   * @return completes when no upcall is running and none will start.
   * @throws DatException INVALID_HANDLE if closed.
   */
  CompletionStage<Void> teardownAsync();

  /**
   * Says from when on a turn is slow: one second at first. A handler that takes long keeps all EVDs
   * of its dispatcher waiting. The first slow turn of an EVD is logged, while it lasts if the
   * dispatcher has a thread; every slow turn is counted when it ends. May be called in every state.
   *
   * @param time how long a turn may take; zero for as long as it likes: turns are not timed then.
   * @throws DatException INVALID_PARAMETER (INVALID_ARG1) if the time is null or negative.
   */
  void slowAfter(Duration time);

  /**
   * What was counted so far (dat_ib_query_counters, dat_ib_print_counters). May be called at any
   * time, in every state, and stops nothing.
   *
   * @return a snapshot; counters may be apart by events in progress.
   */
  @Experimental
  EvdStatistics statistics();

  /**
   * Closes the EVD (dat_evd_free): ends a wait with ABORT, disables upcalls, waits up to five
   * seconds until none is running, drops what is queued. An upcall that is stuck is logged and left
   * behind. Inside an upcall it does not wait; see {@link #closeAsync}.
   *
   * @throws DatException INVALID_STATE (INVALID_STATE_EVD_IN_USE) while endpoints or service points
   *     use it, (INVALID_STATE_EVD_ASYNC) if it is the adapter's own async EVD; ABORT if
   *     interrupted while waiting.
   */
  @Override
  void close();

  /**
   * Closes the EVD; never waits. From now on it answers INVALID_HANDLE. A connection request among
   * the dropped events still wants an answer, and keeps its adapter open until it has one.
   *
   * @param bound how long a running upcall may still take; then the close completes without it and
   *     the upcall is reported as stuck. When it is closed twice, also with its adapter, the bound
   *     that is over first counts.
   * @return completes when no upcall is running and none will start, with the events that were
   *     dropped; also its own async errors (an overflow, a provider's internal error), which waited
   *     in the async EVD.
   * @throws DatException INVALID_PARAMETER (INVALID_ARG1) if the bound is null or negative;
   *     INVALID_STATE (INVALID_STATE_EVD_IN_USE) while endpoints or service points use it,
   *     (INVALID_STATE_EVD_ASYNC) if it is the adapter's own async EVD.
   */
  CompletionStage<DrainReport> closeAsync(Duration bound);
}
