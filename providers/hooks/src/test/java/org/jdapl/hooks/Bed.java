package org.jdapl.hooks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.SteppedClock;
import org.jdapl.verbs.VerbsProvider;
import org.jdapl.verbs.WorkCompletions;

/** A device with two queue pairs over a simulated one, and a record of all that was told. */
final class Bed {

  static final CmParameters PARAMETERS = new CmParameters(ByteBuffer.allocate(0), 4, 4, 7, 7);
  private static final int WR = 32;

  final SimFabric fabric = SimFabric.virtual(42).keepTrace();
  final Trace.Tail trace = new Trace.Tail(100);
  final Faults faults;
  final Device device;
  final ProtectionDomain pd;
  final MemoryRegion mr;
  final CompletionQueue cq;
  final QueuePair active;
  final QueuePair passive;
  final CmListener listener;
  final AtomicReference<CmId> accepted = new AtomicReference<>();
  CmId connecting;

  /** What was told, in order: notifications, CM events, asynchronous events. */
  final List<String> told = new CopyOnWriteArrayList<>();

  private final SteppedClock clock;
  private final EventChannel channel;

  Bed(final String plan) {
    this(plan, SimModel.DEFAULT.withLatency(1000, 1000).withCmLatency(1000, 1000));
  }

  Bed(final String plan, final SimModel model) {
    faults = Faults.over(fabric.provider(model), FaultPlan.parse(plan), fabric.clock());
    clock = (SteppedClock) faults.clock();
    final VerbsProvider provider = Trace.over(faults, trace);
    channel = provider.delivery() == Delivery.CHANNEL ? provider.createEventChannel() : null;
    device = provider.open("", channel);
    device.onAsync((type, element) -> told.add(type + " " + name(element)));
    pd = device.allocPd();
    mr = device.regMr(pd, ByteBuffer.allocateDirect(64), EnumSet.allOf(Access.class));
    cq = device.createCq(2 * WR, told -> onNotification(told));
    active = createQp();
    passive = createQp();
    listener =
        device.listen(
            7,
            4,
            request -> {
              told.add("request");
              accepted.set(request.accept(passive, PARAMETERS, this::onPassive));
            });
  }

  private void onNotification(final CompletionQueue of) {
    assertThat(of).isSameAs(cq);
    told.add("notification");
  }

  private String name(final Object element) {
    return element == device ? "device" : element == cq ? "cq" : element == active ? "active" : "?";
  }

  private void onPassive(
      final CmId id,
      final org.jdapl.verbs.CmEventType type,
      final int status,
      final ByteBuffer data) {
    told.add("passive " + type);
  }

  private QueuePair createQp() {
    return device.createQp(new QpAttributes(pd, cq, cq, null, WR, WR, 1, 1, 0));
  }

  Bed connect() {
    connecting =
        device.connect(
            active,
            device.address(),
            listener.service(),
            PARAMETERS,
            (id, type, status, data) -> told.add("active " + type));
    return this;
  }

  long now() {
    return clock.nanoTime();
  }

  void settle() {
    until(() -> false);
  }

  /** As much as happens in so many steps. */
  void settle(final int steps) {
    final int[] left = {steps};
    until(() -> left[0]-- <= 0);
  }

  /** Lets time pass, in which everything happens that is due. */
  void pass(final long nanos) {
    final long end = now() + nanos;
    boolean more = true;
    while (more) {
      more = clock.step(end);
    }
  }

  boolean until(final BooleanSupplier condition) {
    boolean is = condition.getAsBoolean();
    boolean more = true;
    while (!is && more) {
      more = clock.step(Long.MAX_VALUE);
      more |= channel != null && channel.await(0) > 0;
      is = condition.getAsBoolean();
    }
    return is;
  }

  int postSend(final long wrId) {
    final SendRequest request = new SendRequest(1);
    request.wrId = wrId;
    request.addSge(mr.address(), 8, mr.lkey());
    return active.postSend(request);
  }

  int postRecv(final long wrId) {
    final RecvRequest request = new RecvRequest(1);
    request.wrId = wrId;
    request.addSge(mr.address(), 8, mr.lkey());
    return passive.postRecv(request);
  }

  int arm() {
    return cq.arm(ArmKind.NEXT);
  }

  /** Polls all there is, in one poll. */
  List<Long> poll() {
    return poll(2 * WR);
  }

  List<Long> poll(final int max) {
    final WorkCompletions batch = new WorkCompletions(4 * WR);
    assertThat(cq.poll(batch, max)).isEqualTo(batch.size());
    final List<Long> ids = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      ids.add(batch.wrId(i));
    }
    return ids;
  }

  /** Ends everything; nothing may be told after that. */
  void close() {
    if (connecting != null) {
      connecting.close();
    }
    if (accepted.get() != null) {
      accepted.get().close();
    }
    listener.close();
    active.close();
    passive.close();
    cq.close();
    mr.close();
    pd.close();
    device.close();
  }

  @Override
  public String toString() {
    return faults + "\n" + trace;
  }
}
