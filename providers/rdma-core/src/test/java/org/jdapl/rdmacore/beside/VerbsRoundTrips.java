package org.jdapl.rdmacore.beside;

import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jdapl.rdmacore.RdmaCoreProvider;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;

/** Round trips over the provider alone, without a dispatcher: a thread polls. */
final class VerbsRoundTrips implements Contest, AutoCloseable {

  private static final int DEPTH = 16;
  private static final CmParameters PARAMETERS = new CmParameters(null, 1, 1, 7, 7);

  private final int count;
  private final boolean drives;
  private final EventChannel channel = new RdmaCoreProvider().createEventChannel();
  private final Device device = new RdmaCoreProvider().open("", channel);
  private final ProtectionDomain pd = device.allocPd();
  private final MemoryRegion mr;
  private final CompletionQueue cq = device.createCq(4 * DEPTH, of -> {});
  private final QueuePair qp =
      device.createQp(new QpAttributes(pd, cq, cq, null, DEPTH, DEPTH, 1, 1, 0));
  private final RecvRequest receive = new RecvRequest(1);
  private final SendRequest send = new SendRequest(1);
  private final WorkCompletions batch = new WorkCompletions(DEPTH);
  private CmId id;
  private boolean established;

  VerbsRoundTrips(final Partner partner, final int size, final int count) {
    this.count = count;
    drives = partner.serves();
    mr = device.regMr(pd, ByteBuffer.allocateDirect(2 * size), EnumSet.allOf(Access.class));
    receive.addSge(mr.address() + size, size, mr.lkey());
    send.opcode = WrOpcode.SEND;
    send.signaled = true;
    send.addSge(mr.address(), size, mr.lkey());
    for (int i = 0; i < DEPTH; i++) {
      qp.postRecv(receive);
    }
    connect(partner);
  }

  private void connect(final Partner partner) {
    final CmHandler handler =
        (of, type, status, data) -> established |= type == CmEventType.ESTABLISHED;
    if (drives) {
      id = device.connect(qp, device.address(), partner.hear(), PARAMETERS, handler);
      await(() -> established);
    } else {
      try (CmListener listener =
          device.listen(0, 1, request -> id = request.accept(qp, PARAMETERS, handler))) {
        partner.tell(listener.service());
        await(() -> established);
      }
    }
  }

  private void await(final BooleanSupplier condition) {
    final long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new IllegalStateException("no connection within a minute");
      }
      channel.await(TimeUnit.MILLISECONDS.toNanos(10));
    }
  }

  /** The microseconds of one. */
  @Override
  public double drive() {
    final long start = System.nanoTime();
    qp.postSend(send);
    play();
    return (System.nanoTime() - start) / 1e3 / count;
  }

  @Override
  public void serve(final Runnable ready) {
    ready.run();
    play();
  }

  private void play() {
    for (int left = count; left > 0; ) {
      batch.clear();
      final int found = cq.poll(batch, DEPTH);
      for (int i = 0; i < found; i++) {
        if (batch.status(i) != WcStatus.SUCCESS) {
          throw new IllegalStateException(batch.opcode(i) + " ended with " + batch.status(i));
        }
        if (batch.opcode(i) == WcOpcode.RECV) {
          qp.postRecv(receive);
          left--;
          if (!drives || left > 0) {
            qp.postSend(send);
          }
        }
      }
    }
  }

  @Override
  public void close() {
    qp.close();
    id.close();
    cq.close();
    mr.close();
    pd.close();
    device.close();
    channel.close();
  }
}
