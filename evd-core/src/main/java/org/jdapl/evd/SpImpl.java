package org.jdapl.evd;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.Evd;
import org.jdapl.dat.HandleType;
import org.jdapl.dat.ServicePoint;
import org.jdapl.evd.StateTable.Machine;
import org.jdapl.verbs.CmListenHandler;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.VerbsException;

/** A service point over a listener: it puts each request into its EVD. */
abstract class SpImpl extends ObjectBase implements ServicePoint, CmListenHandler {

  /** The states of a service point. */
  enum State {
    /** Requests come. */
    LISTENING,
    /** It was for one request, which came. */
    TAKEN,
    /** It is closed. */
    CLOSED
  }

  /** What moves a service point. */
  enum Trigger {
    /** The one request it was for came. */
    TAKE,
    /** That request found no room in the EVD. */
    UNTAKE,
    /** It is closed, by the consumer or with what it belongs to. */
    CLOSE
  }

  static final StateTable<State, Trigger> TABLE =
      new StateTable<>(State.class, Trigger.class)
          .on(State.LISTENING, Trigger.TAKE, State.TAKEN)
          .on(State.LISTENING, Trigger.CLOSE, State.CLOSED)
          .on(State.TAKEN, Trigger.UNTAKE, State.LISTENING)
          .on(State.TAKEN, Trigger.CLOSE, State.CLOSED);

  private static final int REFUSED = 1;

  /**
   * Enough that the EVD, which reports it, is full before the device is. It counts requests that
   * were handed out and not answered, too.
   */
  private static final int BACKLOG = 1024;

  private final IaImpl ia;
  private final EvdImpl evd;
  private volatile long connQual;
  private final Machine<State, Trigger> machine = TABLE.startIn(State.LISTENING);
  private final AtomicBoolean destroyed = new AtomicBoolean();
  private volatile CmListener listener;

  /**
   * A service point.
   *
   * @param type which kind.
   * @param connQual where it is to listen; 0 for anywhere.
   */
  SpImpl(
      final HandleType type,
      final String name,
      final IaImpl ia,
      final EvdImpl evd,
      final long connQual) {
    super(type, name);
    this.ia = ia;
    this.evd = evd;
    this.connQual = connQual;
  }

  void open() {
    evd.room().addUser(this, false);
    boolean opened = false;
    try {
      final CmListener opening = ia.device().listen(connQual, BACKLOG, this);
      connQual = opening.service(); // once: the provider is not asked where a lock is held
      listener = opening;
      opened = true;
    } catch (final VerbsException e) {
      throw Misuse.failed(name + ": cannot listen at " + connQual, e);
    } finally {
      if (!opened) {
        evd.room().removeUser(this);
      }
    }
    if (state() == State.CLOSED) { // meanwhile, when there was no listener to be closed
      destroy();
    }
  }

  /** Called by the provider. A request that finds the EVD full is refused, and reported. */
  @Override
  public void onRequest(final CmRequest request) {
    final CrImpl cr = new CrImpl(ia.nameFor("cr"), ia, request);
    if (!ia.addIfOpen(cr)) {
      ia.reaper().execute(() -> refuse(cr));
    } else {
      take(cr);
    }
  }

  /** A request came, or was handed here. */
  void take(final CrImpl request) {
    if (state() == State.CLOSED) { // it was under way
      ia.reaper().execute(() -> refuse(request));
    } else {
      offer(request);
    }
  }

  /**
   * Puts a request into the EVD. One that finds it full is refused, and reported.
   *
   * @return whether it is there.
   */
  final boolean offer(final CrImpl request) {
    boolean offered = false;
    try {
      offered = evd.offerRequest(new ConnectionRequestEventImpl(this, request));
    } finally {
      if (!offered) { // nor is there one without memory for it
        lose(request);
      }
    }
    if (!offered) {
      ia.asyncErrors()
          .report(
              evd.asyncSlot(),
              AsyncEvent.Kind.EVD_OVERFLOW,
              evd.name() + ": a connection request found it full and was refused");
    }
    return offered;
  }

  /** A request could not be put into the EVD, so nobody else answers it. */
  void lose(final CrImpl request) {
    ia.reaper().execute(() -> refuse(request));
  }

  /** By the reaper: it calls the provider. */
  final void refuse(final CrImpl cr) {
    try {
      cr.refuse(REFUSED);
    } catch (final DatException e) { // for each request that was under way when a device is lost
      evd.onProviderFault(FaultLog.Call.CONNECTION, cr, "failed: " + e.getMessage(), e);
    }
  }

  @Override
  public final long connQual() {
    return connQual;
  }

  final State state() {
    return machine.state();
  }

  final boolean move(final Trigger trigger) {
    return machine.move(trigger) != null;
  }

  @Override
  public void close() {
    if (move(Trigger.CLOSE)) {
      if (Dispatcher.isCurrent()) {
        ia.reaper().execute(this::destroy);
      } else {
        destroy();
      }
    }
  }

  /** Ends the listening; not inside its own handler. */
  final void destroy() {
    final CmListener opened = listener;
    if (opened == null || !destroyed.compareAndSet(false, true)) {
      return;
    }
    try {
      ia.destroy(name, opened::close);
    } finally {
      evd.room().removeUser(this);
      ia.remove(this);
    }
  }

  /** Whether it was closed, and so is not to be found any more. */
  final boolean isDestroyed() {
    return destroyed.get();
  }

  @Override
  public final Evd evd() {
    return evd;
  }

  @Override
  final IaImpl ia() {
    return ia;
  }

  @Override
  public String toString() {
    return name + "(at " + connQual() + ")";
  }
}
