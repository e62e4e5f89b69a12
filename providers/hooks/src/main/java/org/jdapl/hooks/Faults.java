package org.jdapl.hooks;

import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jdapl.verbs.ArmHint;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.CqHandler;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.NanoClock;
import org.jdapl.verbs.NotificationConcurrency;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.SteppedClock;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.VerbsProvider;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;

/**
 * A provider before any other one, over which things go wrong as a {@link FaultPlan} says.
 *
 * <p>Verbs and events are counted on the provider as a whole, from when it was made. On virtual
 * time the same calls meet the same faults. With threads, which of two calls counts first is
 * theirs.
 *
 * <p>So that each is counted, requests posted as a list are posted one by one; and where a plan has
 * faults for polls, arms or completions, poll_and_rearm_cq is made of poll_cq and req_notify_cq.
 *
 * <p>What is delayed comes later on the devices' time: on virtual time in the steps of {@link
 * #clock}, in real time from a daemon thread, and with a channel inside its {@link
 * EventChannel#await}. What a destroy promises holds: after it, nothing that was delayed comes;
 * only the faults that say so break it.
 */
public final class Faults extends Interposer {

  private final FaultPlan plan;
  private final Timeline timeline;
  private final boolean concernsQueues;
  private final int[] seen;
  private final int[] done;
  private final CountDownLatch released = new CountDownLatch(1);
  private final AtomicInteger hanging = new AtomicInteger();
  private volatile Consumer<String> fabric;

  private Faults(final VerbsProvider provider, final FaultPlan plan, final NanoClock clock) {
    super(provider);
    this.plan = plan;
    timeline = Timeline.of(clock);
    concernsQueues = plan.faults().stream().anyMatch(Faults::concernsQueues);
    seen = new int[plan.size()];
    done = new int[plan.size()];
    fabric =
        what -> {
          throw new IllegalStateException(
              "no fabric to do '" + what + "'; give one by Faults.fabric");
        };
  }

  /**
   * Things go wrong over a provider in real time.
   *
   * @param provider any provider.
   * @param plan what goes wrong.
   * @return the provider to use.
   */
  public static Faults over(final VerbsProvider provider, final FaultPlan plan) {
    return over(provider, plan, NanoClock.SYSTEM);
  }

  /**
   * Things go wrong over a provider in virtual time, or on any other clock.
   *
   * @param provider any provider.
   * @param plan what goes wrong.
   * @param clock the clock of the provider's devices.
   * @return the provider to use; its devices' clock is {@link #clock}, not the one given.
   * @throws IllegalArgumentException if a verb is to hang on virtual time.
   */
  public static Faults over(
      final VerbsProvider provider, final FaultPlan plan, final NanoClock clock) {
    if (clock instanceof SteppedClock) {
      for (final Fault fault : plan.faults()) {
        if (fault.action() == Fault.Action.HANG) {
          throw new IllegalArgumentException(
              "'" + fault + "': on virtual time there is one thread, and nobody to release it");
        }
      }
    }
    return new Faults(provider, plan, clock);
  }

  /**
   * Who does what only the provider's fabric can do.
   *
   * @param value given the argument of each {@code fabric} fault, on the thread that calls the
   *     verb, before the verb.
   * @return this.
   */
  public Faults fabric(final Consumer<String> value) {
    fabric = Objects.requireNonNull(value, "fabric");
    return this;
  }

  /**
   * The clock of this provider's devices.
   *
   * @return in virtual time a {@link SteppedClock}, whose steps include what is delayed here.
   */
  public NanoClock clock() {
    return timeline.clock();
  }

  /**
   * The plan.
   *
   * @return what goes wrong.
   */
  public FaultPlan plan() {
    return plan;
  }

  /** Lets the verbs go on that hang, now and later. */
  public void release() {
    released.countDown();
  }

  /**
   * How many verbs hang.
   *
   * @return the number of threads in them.
   */
  public int hanging() {
    return hanging.get();
  }

  /**
   * Which faults happened.
   *
   * @return those of the plan that happened at least once.
   */
  public synchronized List<Fault> done() {
    return chosen(true);
  }

  /**
   * Which faults did not happen, because there was no {@code NTH} of their target.
   *
   * @return the others of the plan.
   */
  public synchronized List<Fault> notReached() {
    return chosen(false);
  }

  private List<Fault> chosen(final boolean happened) {
    final List<Fault> chosen = new ArrayList<>();
    for (int i = 0; i < done.length; i++) {
      if (done[i] > 0 == happened) {
        chosen.add(plan.faults().get(i));
      }
    }
    return chosen;
  }

  /** The plan, and for each fault how often it happened and of how many. */
  @Override
  public synchronized String toString() {
    final List<String> lines = new ArrayList<>();
    for (int i = 0; i < done.length; i++) {
      lines.add(plan.faults().get(i) + " (done " + done[i] + ", seen " + seen[i] + ")");
    }
    return "faults over " + name() + lines.stream().collect(Collectors.joining("; ", "[", "]"));
  }

  private static boolean concernsQueues(final Fault fault) {
    return switch (fault.target()) {
      case Fault.COMPLETION, Fault.FAILED_COMPLETION, "poll_cq", "req_notify_cq" -> true;
      default -> fault.action() == Fault.Action.SILENCE;
    };
  }

  /** The faults that happen now that one more of a target came. */
  synchronized List<Fault> next(final String target, final String wider) {
    List<Fault> now = List.of();
    for (int i = 0; i < seen.length; i++) {
      final Fault fault = plan.faults().get(i);
      if (fault.target().equals(target) || fault.target().equals(wider)) {
        seen[i]++;
        if (seen[i] == fault.nth() || (fault.onwards() && seen[i] > fault.nth())) {
          done[i]++;
          now = now.isEmpty() ? new ArrayList<>() : now;
          now.add(fault);
        }
      }
    }
    return now;
  }

  @Override
  public EventChannel createEventChannel() {
    return new FaultChannel(super.createEventChannel());
  }

  @Override
  EventChannel behind(final EventChannel channel) {
    return channel instanceof FaultChannel own ? own.behind : channel;
  }

  @Override
  void opened(final Hooked device, final EventChannel channel) {
    ((FaultyObject) device).channel = channel instanceof FaultChannel own ? own : null;
  }

  @Override
  NanoClock clock(final NanoClock clockBehind) {
    if (clockBehind instanceof SteppedClock && !(timeline instanceof SteppedClock)) {
      throw new IllegalStateException(
          "the devices of " + name() + " live in virtual time: use Faults.over(.., .., clock)");
    }
    return clockBehind instanceof SteppedClock ? timeline.clock() : clockBehind;
  }

  @Override
  boolean isMadeOfOthers(final Method method) {
    return switch (method.getName()) {
      case "postSends", "postRecvs" -> true;
      case "pollAndRearm" -> concernsQueues;
      default -> false;
    };
  }

  @Override
  Hooked create(final Class<?> type, final Hooked device) {
    if (type == CompletionQueue.class) {
      return new FaultyQueue((FaultyObject) device);
    }
    return new FaultyObject(type, device);
  }

  /** An object, and who may call its handler. */
  private class FaultyObject extends Hooked {

    private final Gate gate = new Gate();

    // Of a device.
    private volatile FaultChannel channel;
    private volatile boolean lost;
    private final Map<Integer, FaultyObject> queuePairs =
        type == Device.class ? new ConcurrentHashMap<>() : null;

    // Of a queue pair.
    private volatile AtomicInteger eventsLeft; // null if it is not to fall silent
    private FaultyQueue sendQueue;
    private FaultyQueue recvQueue;

    // Of a connection.
    private volatile FaultyObject queuePair;

    private FaultyObject(final Class<?> type, final Hooked device) {
      super(type, device);
    }

    final FaultyObject of() {
      return (FaultyObject) device;
    }

    /** An event of it comes; whether nobody may hear of it. */
    final boolean swallows() {
      final FaultyObject speaker = queuePair != null ? queuePair : this;
      final AtomicInteger left = speaker.eventsLeft;
      return left != null && left.getAndDecrement() <= 0;
    }

    private boolean isSerial() {
      return type != CompletionQueue.class
          || ((CompletionQueue) behind()).device().declaration().concurrency()
              == NotificationConcurrency.SERIAL;
    }

    final void deliver(final Event event, final int times) {
      gate.pass(
          isSerial(),
          () -> {
            for (int i = 0; i < times; i++) {
              event.deliver();
            }
          });
    }
  }

  /** A completion queue, with the completions that were taken out of the one behind. */
  private final class FaultyQueue extends FaultyObject {

    private final HeldCompletions held = new HeldCompletions();
    private boolean armed; // guarded by this
    private volatile boolean overflowed;
    private volatile CqHandler handler;

    private FaultyQueue(final FaultyObject device) {
      super(CompletionQueue.class, device);
    }

    private synchronized void setArmed(final boolean value) {
      armed = value;
    }

    private synchronized boolean isArmed() {
      return armed;
    }

    private synchronized boolean takeArm() {
      final boolean was = armed;
      armed = false;
      return was;
    }

    /** What was held back is there now. */
    private void tell() {
      if (takeArm()) {
        onEvent(notification(this, handler));
      }
    }
  }

  /** Has something done after a time where the provider would call a handler. */
  private void later(final FaultyObject of, final long delayNanos, final Runnable call) {
    final FaultChannel channel = of.of().channel;
    timeline.schedule(delayNanos, delivery() == Delivery.PUSH ? call : () -> channel.submit(call));
  }

  @Override
  void onEvent(final Event event) {
    final FaultyObject source = (FaultyObject) event.source;
    if (source.swallows()) {
      return;
    }
    int times = 1;
    long delay = 0;
    for (final Fault fault : next(event.name, event.kind)) {
      switch (fault.action()) {
        case DROP -> times = 0;
        case DUPLICATE -> times++;
        default -> delay += fault.nanos();
      }
    }
    if (source instanceof FaultyQueue queue && event.kind.equals(Fault.NOTIFICATION)) {
      queue.setArmed(false);
    }
    if (times == 0) {
      return;
    }
    final int calls = times;
    final boolean ordered = event.kind.equals(Fault.CM);
    if (ordered) {
      source.gate.inOrder(
          timeline.clock().nanoTime(),
          delay,
          () -> source.deliver(event, calls),
          (wait, call) -> later(source, wait, call));
    } else if (delay == 0) {
      source.deliver(event, calls);
    } else {
      later(source, delay, () -> source.deliver(event, calls));
    }
  }

  @Override
  Object onVerb(final Call call) {
    final FaultyObject self = (FaultyObject) call.self;
    final List<Fault> now = next(call.verb.toString(), Fault.ANY);
    boolean lost = self.of() != null && self.of().lost;
    for (final Fault fault : now) {
      switch (fault.action()) {
        case HANG -> hang(fault);
        case FABRIC -> fabric.accept(fault.argument());
        case LOSE -> {
          lost = true;
          lose(self);
        }
        default -> {} // below
      }
    }
    if (lost && !call.verb.destroys()) {
      return fail(call, VerbsException.EIO, "the device is lost");
    }
    for (final Fault fault : now) {
      if (fault.action() == Fault.Action.REFUSE) {
        return fail(call, fault.errno(), "the plan says '" + fault + "'");
      }
      if (fault.action() == Fault.Action.ANSWER) {
        return answer(call, fault);
      }
    }
    final Object result =
        switch (call.verb) {
          case POLL_CQ -> poll(call, (FaultyQueue) self, now);
          case REQ_NOTIFY_CQ -> arm(call, (FaultyQueue) self);
          default -> call.verb.destroys() ? destroy(call, self) : create(call);
        };
    for (final Fault fault : now) {
      switch (fault.action()) {
        case NOTIFY -> notifyLater((FaultyQueue) self, fault);
        case SILENCE -> object(result).eventsLeft = new AtomicInteger(fault.count());
        case MISREPORT -> {
          return fail(call, fault.errno(), "the plan says '" + fault + "'");
        }
        default -> {} // above
      }
    }
    return result;
  }

  private static FaultyObject object(final Object proxy) {
    return (FaultyObject) hooked(proxy);
  }

  private static Object fail(final Call call, final int errno, final String why) {
    if (call.verb.returnsErrno()) {
      return errno;
    }
    throw new VerbsException(call.verb.toString(), call.self.toString(), errno, why);
  }

  private void hang(final Fault fault) {
    hanging.incrementAndGet();
    final long end = System.nanoTime() + fault.nanos();
    boolean interrupted = false;
    while (released.getCount() > 0) { // as a call into a driver, it does not heed an interrupt
      try {
        if (fault.argument().isEmpty()) {
          released.await();
        } else if (!released.await(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
          break;
        }
      } catch (final InterruptedException e) {
        interrupted = true;
      }
    }
    hanging.decrementAndGet();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void lose(final FaultyObject self) {
    final FaultyObject device = self.of();
    if (device != null && !device.lost) {
      device.lost = true;
      later(device, 0, () -> onEvent(async(AsyncType.DEVICE_FATAL, device)));
    }
  }

  /** A connect that reaches nobody. */
  private Object answer(final Call call, final Fault fault) {
    final CmHandler handler = (CmHandler) call.arguments[call.arguments.length - 1];
    final FaultyObject id = (FaultyObject) hooked(CmId.class, new Nowhere(), call.self.device);
    final Event event =
        cmEvent(id, fault.outcome(), VerbsException.ETIMEDOUT, ByteBuffer.allocate(0), handler);
    later(id, 0, () -> onEvent(event));
    return id.proxy;
  }

  /** A connection that never was. */
  private static final class Nowhere implements CmId {
    @Override
    public void disconnect() {}

    @Override
    public void notifyEstablished() {}

    @Override
    public void close() {}

    @Override
    public String toString() {
      return "id of a connect that reached nobody";
    }
  }

  private Object create(final Call call) {
    final Object result = call.proceed();
    switch (call.verb) {
      case CREATE_QP -> {
        final FaultyObject qp = object(result);
        final QpAttributes attributes = (QpAttributes) call.arguments[0];
        qp.sendQueue = (FaultyQueue) object(attributes.sendCq());
        qp.recvQueue = (FaultyQueue) object(attributes.recvCq());
        qp.of().queuePairs.put(((QueuePair) result).number(), qp);
      }
      case CREATE_CQ -> ((FaultyQueue) object(result)).handler = (CqHandler) call.arguments[1];
      case CONNECT, ACCEPT -> object(result).queuePair = object(call.arguments[0]);
      default -> {} // nothing to keep
    }
    return result;
  }

  private Object destroy(final Call call, final FaultyObject self) {
    if (self.gate.isInside()) {
      throw VerbsException.insideHandler(call.verb.toString(), self.toString());
    }
    final Object result = call.proceed();
    self.gate.close();
    if (call.verb == Verb.DESTROY_QP) {
      self.of().queuePairs.values().remove(self);
    }
    return result;
  }

  private void notifyLater(final FaultyQueue queue, final Fault fault) {
    later( // past the gate, which may be closed
        queue, fault.nanos(), () -> queue.handler.onNotification((CompletionQueue) queue.proxy));
  }

  private Object arm(final Call call, final FaultyQueue queue) {
    checkNotOverflowed(call, queue);
    final int hint = (int) call.proceed();
    queue.setArmed(true);
    if (!queue.held.isVisible(timeline.clock().nanoTime())) {
      return hint;
    }
    later(queue, 0, queue::tell); // it came between poll and arm
    final boolean hints =
        ((CompletionQueue) queue.behind()).device().declaration().hint() != ArmHint.NONE;
    return hints ? Math.max(1, hint) : hint;
  }

  private static void checkNotOverflowed(final Call call, final FaultyQueue queue) {
    if (queue.overflowed) {
      fail(call, VerbsException.EINVAL, "the queue overflowed; see CQ_ERR");
    }
  }

  private Object poll(final Call call, final FaultyQueue queue, final List<Fault> now) {
    if (!concernsQueues) {
      checkNotOverflowed(call, queue);
      return call.proceed();
    }
    final WorkCompletions into = (WorkCompletions) call.arguments[0];
    long max = (int) call.arguments[1];
    for (final Fault fault : now) {
      switch (fault.action()) {
        case OVERFLOW -> overflow(queue);
        case BLIND -> {
          if (!queue.isArmed()) {
            return 0;
          }
        }
        case SURPLUS -> max += fault.count();
        default -> {} // done elsewhere
      }
    }
    checkNotOverflowed(call, queue);
    int taken = pollHeld(queue, into, (int) Math.min(max, into.capacity() - into.size()));
    for (final Fault fault : now) {
      if (fault.action() == Fault.Action.INVENT && into.size() < into.capacity()) {
        into.add(fault.wrId(), WcStatus.SUCCESS, WcOpcode.RECV, 1, 0, 0, false, 0);
        taken++;
      }
    }
    return taken;
  }

  /** Takes what is behind, in order, through what is held. */
  private int pollHeld(final FaultyQueue queue, final WorkCompletions into, final int max) {
    final WorkCompletions batch = queue.held.batch(max);
    ((CompletionQueue) queue.behind()).poll(batch, max);
    final long now = timeline.clock().nanoTime();
    for (int i = 0; i < batch.size(); i++) {
      hold(queue, batch, i, now);
    }
    return queue.held.take(into, max, now);
  }

  private void hold(
      final FaultyQueue queue, final WorkCompletions batch, final int index, final long now) {
    final FaultyObject qp = queue.of().queuePairs.get(batch.qpNumber(index));
    if (qp != null && qp.swallows()) {
      return;
    }
    int times = 1;
    long delay = 0;
    boolean garbled = false;
    final boolean failed = batch.status(index) != WcStatus.SUCCESS;
    for (final Fault fault :
        next(failed ? Fault.FAILED_COMPLETION : Fault.COMPLETION, Fault.COMPLETION)) {
      switch (fault.action()) {
        case DROP -> times = 0;
        case DUPLICATE -> times++;
        case GARBLE -> garbled = true;
        default -> delay += fault.nanos();
      }
    }
    for (int i = 0; i < times; i++) {
      queue.held.add(index, now + delay, garbled);
      if (delay > 0) {
        later(queue, delay, queue::tell);
      }
    }
  }

  private void overflow(final FaultyQueue queue) {
    if (!queue.overflowed) {
      queue.overflowed = true;
      later(queue, 0, () -> onEvent(async(AsyncType.CQ_ERR, queue)));
      for (final FaultyObject qp : queue.of().queuePairs.values()) {
        if (qp.sendQueue == queue || qp.recvQueue == queue) {
          ((QueuePair) qp.behind()).modifyToError();
        }
      }
    }
  }
}
