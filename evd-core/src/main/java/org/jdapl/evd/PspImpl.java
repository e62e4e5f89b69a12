package org.jdapl.evd;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.verbs.CmListenHandler;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.VerbsException;

/** A public service point over a listener. */
final class PspImpl implements PublicServicePoint, CmListenHandler {

  private static final int REFUSED_FULL = 1;

  /**
   * Enough that the EVD, which reports it, is full before the device is. It counts requests that
   * were handed out and not answered, too.
   */
  private static final int BACKLOG = 1024;

  private final String name;
  private final IaImpl ia;
  private final EvdImpl evd;
  private final long connQual;
  private final AtomicBoolean closed = new AtomicBoolean();
  private CmListener listener;

  PspImpl(final String name, final IaImpl ia, final EvdImpl evd, final long connQual) {
    this.name = name;
    this.ia = ia;
    this.evd = evd;
    this.connQual = connQual;
  }

  void open() {
    evd.addUser(this, false);
    boolean opened = false;
    try {
      listener = ia.device().listen(connQual, BACKLOG, this);
      opened = true;
    } catch (final VerbsException e) {
      throw Misuse.failed(name + ": cannot listen at " + connQual, e);
    } finally {
      if (!opened) {
        evd.removeUser(this);
      }
    }
  }

  /** Called by the provider. A request that finds the EVD full is refused, and reported. */
  @Override
  public void onRequest(final CmRequest request) {
    final CrImpl cr = new CrImpl(ia.nameFor("cr"), this, request);
    if (!ia.addIfOpen(cr)) {
      ia.reaper().execute(() -> refuse(cr));
    } else if (!evd.offerRequest(new RequestEvent(this, cr))) {
      ia.reaper().execute(() -> refuse(cr));
      ia.report(
          evd.asyncSlot(),
          AsyncEvent.Kind.EVD_OVERFLOW,
          evd.name() + ": a connection request found it full and was refused");
    }
  }

  private void refuse(final CrImpl cr) {
    try {
      cr.refuse(REFUSED_FULL);
    } catch (final DatException e) { // for each request that was under way when a device is lost
      evd.onProviderFault(FaultLog.Call.CONNECTION, cr, "failed: " + e.getMessage(), e);
    }
  }

  @Override
  public long connQual() {
    return connQual;
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      if (Dispatcher.isCurrent()) {
        ia.reaper().execute(this::finishClose);
      } else {
        finishClose();
      }
    }
  }

  private void finishClose() {
    try {
      listener.close();
    } catch (final VerbsException e) {
      throw Misuse.failed(name + ".close", e);
    } finally {
      evd.removeUser(this);
      ia.remove(this);
    }
  }

  IaImpl ia() {
    return ia;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String toString() {
    return name + "(at " + connQual + ")";
  }
}
