package org.jdapl.examples.cmrate;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.Dat;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.examples.Opened;

/** One end of all connections. Its thread waits for each event. */
abstract class Side implements EventHandler, AutoCloseable {

  static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final EndpointAttributes ATTRIBUTES =
      EndpointAttributes.defaults().withMaxDtos(1, 1);
  private static final Duration CLOSE_BOUND = Duration.ofSeconds(10);

  final InterfaceAdapter adapter;
  final Evd evd;
  final List<Endpoint> endpoints = new ArrayList<>();
  private final Opened opened;

  /** How many connections were made, and how many of them ended. */
  int established;

  int ended;

  private String failure;

  /**
   * Opens an adapter, with an endpoint for each connection.
   *
   * @param connections how many.
   */
  Side(final String ia, final int connections) {
    adapter = Dat.open(ia);
    opened = new Opened(adapter, CLOSE_BOUND);
    try {
      evd =
          opened(
              adapter.createEvd(
                  2 * connections,
                  EventStream.DTO,
                  EventStream.CONNECTION,
                  EventStream.CONNECTION_REQUEST,
                  EventStream.ASYNC));
      adapter.asyncEvd(evd);
      final ProtectionZone pz = opened(adapter.createPz());
      for (int i = 0; i < connections; i++) {
        endpoints.add(opened(adapter.createEndpoint(pz, evd, ATTRIBUTES)));
      }
    } catch (final RuntimeException e) {
      throw Opened.closed(this, e);
    }
  }

  /** Has an object closed with this side, before those that were created earlier. */
  final <T extends DatObject> T opened(final T object) {
    return opened.add(object);
  }

  /** Takes one event. */
  final void await(final Duration patience) throws CmrateException, InterruptedException {
    final Outcome outcome = evd.await(this, 1, patience);
    if (outcome == Outcome.INTERRUPTED_CALL) {
      throw new InterruptedException();
    }
    if (outcome != Outcome.SUCCESS) {
      fail(
          outcome == Outcome.TIMEOUT_EXPIRED
              ? "nothing happened for " + patience.toSeconds() + " s"
              : "the wait ended: " + outcome);
    }
    if (failure != null) {
      throw new CmrateException(
          failure
              + ", after "
              + established
              + " of "
              + endpoints.size()
              + " connections were made and "
              + ended
              + " ended");
    }
  }

  /** Notes what went wrong first. */
  final void fail(final String what) {
    failure = failure == null ? what : failure;
  }

  @Override
  public final void onCompletion(final DtoCompletion event) {
    fail("a completion came though nothing was posted: " + event.operation());
  }

  @Override
  public final void onAsync(final AsyncEvent event) {
    fail("async error " + event.kind() + ": " + event.reason());
  }

  @Override
  public final void close() {
    opened.close();
  }
}
