package org.jdapl.evd;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;

/** A runtime over an {@link ArrayDevice}, with one EVD and a connected endpoint. */
final class Bed implements AutoCloseable {

  /** Requests an endpoint may have open. */
  static final int DEPTH = 4096;

  private static final Duration SOON = Duration.ofSeconds(5);

  final ArrayDevice device;
  final Jdapl jdapl;
  final InterfaceAdapter ia;
  final Evd evd;
  final Endpoint endpoint;
  final Lmr memory;

  private Bed(final ArrayDevice device, final Jdapl.Builder builder) {
    this.device = device;
    jdapl = builder.start();
    ia = jdapl.open();
    evd =
        ia.createEvd(
            2 * DEPTH,
            EventStream.DTO,
            EventStream.CONNECTION,
            EventStream.CONNECTION_REQUEST,
            EventStream.SOFTWARE);
    final ProtectionZone pz = ia.createPz();
    memory = pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
    endpoint = ia.createEndpoint(pz, evd, EndpointAttributes.defaults().withMaxDtos(16, DEPTH));
    endpoint.connect(ia.address(), 1, SOON, null);
  }

  /** Driven by hand. Time stands still: a dispatcher's thread does not look at timers, either. */
  static Bed byHand() {
    final ArrayDevice device = new ArrayDevice();
    return new Bed(device, Jdapl.with(device).byHand().clock(() -> 0));
  }

  /** One dispatcher on a thread of its own. */
  static Bed withThread(final WaitStrategy strategy, final ThreadFactory threads) {
    final ArrayDevice device = new ArrayDevice();
    return new Bed(device, Jdapl.with(device).waitStrategy(strategy).threads(threads));
  }

  /** Posts a send that must be taken. */
  void post(final long cookie) {
    if (endpoint.postSend(memory, 0, 1, cookie) != Outcome.SUCCESS) {
      throw new IllegalStateException("the queue is full at request " + cookie);
    }
  }

  @Override
  public void close() {
    ia.closeAbruptly(SOON);
    jdapl.close();
  }
}
