package org.jdapl.evd;

import java.util.List;
import org.jdapl.evd.StateWalk.Violation;
import org.jdapl.verbs.ArmHint;
import org.jdapl.verbs.ArmModel;
import org.jdapl.verbs.ArmedAfterHint;
import org.jdapl.verbs.Declaration;
import org.jdapl.verbs.LastWqe;
import org.jdapl.verbs.NotificationConcurrency;
import org.jdapl.verbs.PrivateDataLength;
import org.jdapl.verbs.SecondArm;
import org.jdapl.verbs.SolicitedSupport;

/**
 * One EVD and all who may touch it at once: hardware that adds completions and notifies, a poster
 * of software events, dispatchers that pop the token from one ready ring, a consumer that dequeues,
 * a waiter, and somebody who changes the policy.
 *
 * <p>The state word moves by {@link EvdState#next}. The rest is the program of {@link EvdImpl} and
 * {@link Merger}, {@link CqFeed} and the default of {@code pollAndRearm}, one step for each access
 * to what others touch as well.
 */
final class EvdModel implements StateWalk.Model {

  /** What an arm of the completion queue returns, and whether it armed the queue then. */
  enum Hint {
    NONE(ArmHint.NONE, ArmedAfterHint.UNKNOWN),
    EXACT(ArmHint.EXACT, ArmedAfterHint.YES),
    FALSE(ArmHint.MAYBE, ArmedAfterHint.YES),
    WITHOUT_ARM(ArmHint.EXACT, ArmedAfterHint.NO),
    MAYBE_ARMED(ArmHint.EXACT, ArmedAfterHint.UNKNOWN),
    /** False now and then, and maybe armed: so that the queue is polled on a timer at times. */
    LYING(ArmHint.MAYBE, ArmedAfterHint.UNKNOWN);

    private final ArmHint declared;
    private final ArmedAfterHint armed;

    Hint(final ArmHint declared, final ArmedAfterHint armed) {
      this.declared = declared;
      this.armed = armed;
    }
  }

  /** What somebody does to the EVD, once, in this order, whenever he likes. */
  enum Op {
    DISABLE,
    ENABLE_ANY,
    ENABLE_NEW,
    DEQUEUE,
    CLOSE,
    SET_UNWAITABLE,
    CLEAR_UNWAITABLE,
    /** A thread waits on a CNO from here on, and drains the EVD each time. */
    SET_CNO,
    /** Somebody wants something done in a turn. */
    CONTROL,
    /** Has something done as soon as it is quiet. */
    WHEN_QUIET,
    CHECK_QUIET
  }

  /**
   * What is explored.
   *
   * @param completions the hardware adds at most.
   * @param posts software events that are posted at most.
   * @param dequeues calls the consumer makes at most.
   * @param dequeuesInside whether each upcall of MANY dequeues once more.
   * @param waits calls the waiter makes at most.
   * @param threshold for how many events it waits.
   * @param cno whether a thread waits on a CNO, and drains the EVD each time.
   */
  record Setup(
      ArmModel arm,
      Hint hint,
      long policy,
      int completions,
      int posts,
      int dispatchers,
      int dequeues,
      boolean dequeuesInside,
      int waits,
      int threshold,
      boolean cno,
      List<Op> script) {

    Setup(final ArmModel arm, final Hint hint) {
      this(arm, hint, EvdState.SINGLE, 3, 2, 2, 0, false, 0, 0, false, List.of());
    }

    Setup withScript(final Op... ops) {
      return new Setup(
          arm,
          hint,
          policy,
          completions,
          posts,
          dispatchers,
          dequeues,
          dequeuesInside,
          waits,
          threshold,
          cno,
          List.of(ops));
    }

    Setup withDequeues(final int calls) {
      return new Setup(
          arm,
          hint,
          policy,
          completions,
          posts,
          dispatchers,
          calls,
          dequeuesInside,
          waits,
          threshold,
          cno,
          script);
    }

    Setup withDequeuesInside() {
      return new Setup(
          arm,
          hint,
          policy,
          completions,
          posts,
          dispatchers,
          dequeues,
          true,
          waits,
          threshold,
          cno,
          script);
    }

    /** A thread waits that often for so many events; no upcall is enabled at first. */
    Setup withWaits(final int calls, final int events) {
      return new Setup(
          arm,
          hint,
          EvdState.DISABLED,
          completions,
          posts,
          1,
          dequeues,
          dequeuesInside,
          calls,
          events,
          cno,
          script);
    }

    Setup withCno() {
      return new Setup(
          arm,
          hint,
          policy,
          completions,
          posts,
          dispatchers,
          dequeues,
          dequeuesInside,
          waits,
          threshold,
          true,
          script);
    }

    private long enabling() {
      return policy == EvdState.DISABLED ? EvdState.SINGLE : policy;
    }

    Setup withEvents(final int fromHardware, final int fromPoster) {
      return new Setup(
          arm,
          hint,
          policy,
          fromHardware,
          fromPoster,
          dispatchers,
          dequeues,
          dequeuesInside,
          waits,
          threshold,
          cno,
          script);
    }

    Setup withPolicy(final long initial, final int threads) {
      return new Setup(
          arm,
          hint,
          initial,
          completions,
          posts,
          threads,
          dequeues,
          dequeuesInside,
          waits,
          threshold,
          cno,
          script);
    }

    @Override
    public String toString() {
      return arm + " " + hint + ", " + completions + "+" + posts + " events, " + script;
    }
  }

  /** What of the product is explored; a planted mistake overrides some of it. */
  interface Rules {

    default long next(final long s, final int operation, final long argument) {
      return EvdState.next(s, operation, argument);
    }

    /** Whether a POP that led from one state to another took the turn. */
    default boolean gotTurn(final long before, final long now) {
      return (before & EvdState.TURN) == 0 && (now & EvdState.TURN) != 0;
    }

    /** Whether an END released the turn. */
    default boolean hasEnded(final long before) {
      return (before & (EvdState.WORK | EvdState.CONTROL)) == 0;
    }

    /** Whether a turn finds another policy than the one it began with. */
    default boolean hasChanged(final long policy, final long expected) {
      return policy != expected;
    }

    /** Whether the CNO is told of a step. */
    default boolean tells(final long before, final long after, final int operation) {
      return EvdState.tells(before, after, operation);
    }

    default boolean isQuiet(final long s) {
      return EvdState.isQuiet(s);
    }

    /** Whether the end of a turn looks for somebody who waits for quiet. */
    default boolean checksQuiet() {
      return true;
    }

    default boolean mustLook(final Declaration declaration, final int hint) {
      return !declaration.maySleepAfter(hint);
    }

    /** The bits a turn leaves with when its budget is used up. */
    default long leftAtBudget(final long left) {
      return left;
    }

    /** Whether enabling ON_NEW empties the completion queue before it arms it. */
    default boolean collects() {
      return true;
    }

    /** Whether notifications count again from before the timer's poll on, or from a find on. */
    default boolean unmutesForThePoll() {
      return true;
    }
  }

  private enum Pc {
    IDLE,
    READ,
    RESUME,
    NEXT,
    POLL,
    ARM,
    LOOK,
    BEGIN,
    RETURN,
    END,
    LEFT,
    LEAVE,
    CHECK,
    NOTIFIED,
    ENABLE_AGAIN,
    PASS_LEFT,
    PASS,
    TAKE_INSIDE,
    DONE,
    SETTLE,
    SETTLED,
    COLLECT,
    COUNT,
    LOOK_AROUND,
    SLEEP,
    PARKED
  }

  private enum Kind {
    SINGLE,
    NOTIFY,
    IN_NOTIFY,
    MANY,
    IN_MANY,
    BRIEF,
    CONSUMER,
    WAITER,
    SETTLE
  }

  private enum Mode {
    REARM,
    PLAIN,
    ARMED,
    WAITING
  }

  /** A thread that takes the turn now and then. */
  private static final class Turner {
    private static final int SIZE = 9;

    private Pc pc = Pc.IDLE;
    private Kind kind = Kind.BRIEF;
    private int budget;
    private int misses;
    private int found;
    private int left;
    private boolean sure;
    private boolean asked;
    private boolean unarmed;
    private int attempts;

    @SuppressWarnings("EnumOrdinal") // a state is saved as bytes
    private void save(final byte[] to, final int at) {
      to[at] = (byte) pc.ordinal();
      to[at + 1] = (byte) kind.ordinal();
      to[at + 2] = (byte) budget;
      to[at + 3] = (byte) misses;
      to[at + 4] = (byte) found;
      to[at + 5] = (byte) left;
      to[at + 6] = (byte) (sure ? 1 : 0);
      to[at + 7] = (byte) (bit(asked, 0) | bit(unarmed, 1));
      to[at + 8] = (byte) attempts;
    }

    private void load(final byte[] from, final int at) {
      pc = PCS[from[at]];
      kind = KINDS[from[at + 1]];
      budget = from[at + 2];
      misses = from[at + 3];
      found = from[at + 4];
      left = from[at + 5];
      sure = from[at + 6] != 0;
      asked = (from[at + 7] & 1) != 0;
      unarmed = (from[at + 7] & 2) != 0;
      attempts = from[at + 8];
    }

    /** Everything but what matters is forgotten, so that equal situations are equal states. */
    private void idle() {
      pc = Pc.IDLE;
      kind = Kind.BRIEF;
      budget = 0;
      misses = 0;
      found = 0;
      left = 0;
      sure = false;
      asked = false;
      unarmed = false;
      attempts = 0;
    }
  }

  private static final Pc[] PCS = Pc.values();
  private static final Kind[] KINDS = Kind.values();
  private static final Mode[] MODES = Mode.values();

  private static final int BATCH = 2;
  private static final int BUDGET = 2;
  private static final int LIES = 2;
  private static final int ARM_ATTEMPTS = 2;
  private static final int EMPTY_LIMIT = 2;
  private static final int SHARED = 27;
  private static final long LEGAL =
      EvdState.TOKEN
          | EvdState.TURN
          | EvdState.UPCALL
          | EvdState.WORK
          | EvdState.CONTROL
          | EvdState.POLICY
          | EvdState.CLOSED
          | EvdState.WAITER
          | EvdState.ASLEEP
          | EvdState.UNWAITABLE
          | EvdState.CNO
          | EvdState.RUNNING
          | EvdState.LIMIT;

  private static final int ADD = 0;
  private static final int NOTIFY = 1;
  private static final int POST = 2;
  private static final int SIGNAL = 3;
  private static final int SCRIPT = 4;
  private static final int SCRIPT_GOES_ON = 5;
  private static final int DEQUEUE = 6;
  private static final int TIMER = 7;
  private static final int AWAIT = 8;
  private static final int TIMEOUT = 9;
  private static final int CNO = 10;
  private static final int TURNS = 11;
  private static final int CHOICES = 8;

  private final Setup setup;
  private final Rules rules;
  private final Declaration declaration;
  private final int limit;
  private final Turner[] turners;
  private final Turner consumer;
  private final Turner changer;
  private final Turner waiter;

  // The EVD.
  private long word;
  private int ring;
  private int holders;
  private int running;
  private int upcalls;
  private Mode mode = Mode.REARM;
  private boolean laneFirst = true;
  private int handedOut;
  private int dequeued;
  private int controls;

  // What the EVD knows of its completion queue, where that matters.
  private final boolean paces;
  private boolean notified;
  private boolean muted;
  private boolean timer;
  private boolean wakes;
  private boolean due;
  private int empties;

  // The completion queue and the lane.
  private int added;
  private int polled;
  private boolean armed;
  private int inFlight;
  private int lies;
  private int enqueued;
  private int signalled;

  // The consumer's side.
  private int calls;
  private int done;
  private boolean waiting;
  private boolean quiet;
  private boolean closed;
  private boolean onNew;
  private boolean arrived;
  private boolean begunDisabled;

  // The waiter's side.
  private int waits;
  private boolean unparked;
  private boolean timedOut;
  private boolean evicted;
  private boolean triggered;
  private boolean drains;

  EvdModel(final Setup setup, final Rules rules) {
    this.setup = setup;
    this.rules = rules;
    declaration =
        new Declaration(
            setup.arm(),
            setup.hint().declared,
            setup.hint().armed,
            SecondArm.IGNORED,
            NotificationConcurrency.CONCURRENT,
            false,
            SolicitedSupport.UNSUPPORTED,
            LastWqe.UNKNOWN,
            PrivateDataLength.UNKNOWN);
    paces = setup.hint() == Hint.LYING;
    final long many = setup.policy() & EvdState.LIMIT;
    limit = many == 0 ? 1 : (int) (many >>> EvdState.LIMIT_SHIFT);
    turners = new Turner[setup.dispatchers() + 3];
    for (int i = 0; i < turners.length; i++) {
      turners[i] = new Turner();
    }
    consumer = turners[setup.dispatchers()];
    changer = turners[setup.dispatchers() + 1];
    waiter = turners[setup.dispatchers() + 2];
    word = EvdState.CQ;
    if (setup.cno()) {
      apply(EvdState.SET_CNO, EvdState.CNO);
    }
    if (EvdState.isEnabled(setup.policy())) {
      apply(EvdState.SET_POLICY, setup.policy() | EvdState.WORK);
    }
  }

  // Steps.

  @Override
  public int steps() {
    return TURNS + turners.length * CHOICES;
  }

  @Override
  public boolean isSpontaneous(final int step) {
    return switch (step) {
      case ADD, POST, SCRIPT, DEQUEUE, AWAIT, TIMEOUT -> true;
      default -> false;
    };
  }

  @Override
  public boolean step(final int step) {
    return switch (step) {
      case ADD -> add();
      case NOTIFY -> notifyCq();
      case POST -> post();
      case SIGNAL -> signalLane();
      case SCRIPT -> done < setup.script().size() && !goesOn() && script();
      case SCRIPT_GOES_ON -> done < setup.script().size() && goesOn() && script();
      case DEQUEUE -> dequeue();
      case TIMER -> timer();
      case AWAIT -> await();
      case TIMEOUT -> timeout();
      case CNO -> drain();
      default -> {
        final Turner turner = turners[(step - TURNS) / CHOICES];
        final int choice = (step - TURNS) % CHOICES;
        if (choice != 0 && turner.pc != Pc.ARM) {
          yield false;
        }
        yield turn(turner, choice);
      }
    };
  }

  @Override
  public String nameOf(final int step) {
    return switch (step) {
      case ADD -> "the hardware adds a completion";
      case NOTIFY -> "the hardware notifies";
      case POST -> "the poster offers a software event";
      case SIGNAL -> "the poster signals";
      case SCRIPT, SCRIPT_GOES_ON -> "somebody does " + setup.script().get(done);
      case DEQUEUE -> "the consumer dequeues";
      case TIMER -> "the timer is due";
      case AWAIT -> "the waiter awaits";
      case TIMEOUT -> "the waiter's time is over";
      case CNO -> "the CNO's thread drains";
      default -> {
        final int index = (step - TURNS) / CHOICES;
        final Turner turner = turners[index];
        yield (turner == consumer
                ? "consumer"
                : turner == changer
                    ? "somebody"
                    : turner == waiter ? "waiter" : "dispatcher " + index)
            + " "
            + turner.pc
            + (turner.pc == Pc.ARM ? " choice " + (step - TURNS) % CHOICES : "");
      }
    };
  }

  private boolean add() {
    if (added == setup.completions()) {
      return false;
    }
    added++;
    arrived |= onNew;
    if (armed) {
      armed = false;
      inFlight++;
    }
    return true;
  }

  private boolean notifyCq() {
    if (inFlight == 0) {
      return false;
    }
    inFlight--;
    if (!muted) {
      notified = paces;
      apply(EvdState.SIGNAL, EvdState.CQ);
    }
    return true;
  }

  private boolean timer() {
    if (!timer) {
      return false;
    }
    timer = false;
    wakes = true;
    apply(EvdState.SIGNAL, EvdState.CONTROL);
    return true;
  }

  private void pause() {
    mode = Mode.WAITING;
    muted = true;
    timer = true;
  }

  private boolean post() {
    if (enqueued == setup.posts() || signalled < enqueued) {
      return false;
    }
    enqueued++;
    arrived |= onNew;
    return true;
  }

  private boolean signalLane() {
    if (signalled == enqueued) {
      return false;
    }
    signalled++;
    apply(EvdState.SIGNAL, EvdState.LANE);
    return true;
  }

  private boolean goesOn() {
    final Op op = setup.script().get(done);
    return op == Op.WHEN_QUIET || op == Op.CHECK_QUIET;
  }

  private boolean script() {
    if (changer.pc != Pc.IDLE) {
      return false;
    }
    switch (setup.script().get(done)) {
      case DISABLE -> apply(EvdState.SET_POLICY, setup.cno() ? EvdState.WORK : EvdState.DISABLED);
      case ENABLE_ANY -> {
        if (apply(EvdState.SET_POLICY, setup.enabling() | EvdState.WORK) >= 0) {
          enabled();
        }
      }
      case ENABLE_NEW -> {
        final long before = apply(EvdState.TAKE, 0);
        if (before == EvdState.BUSY) {
          return false;
        }
        if (before < 0) {
          if (apply(EvdState.SET_POLICY, setup.enabling()) >= 0) {
            enabled();
          }
        } else {
          holders++;
          serve(before & EvdState.CQ);
          changer.kind = Kind.SETTLE;
          changer.pc = Pc.SETTLE;
        }
      }
      case DEQUEUE -> {
        if (!dequeue(changer)) {
          return false;
        }
      }
      case CLOSE -> apply(EvdState.CLOSE, 0);
      case SET_UNWAITABLE -> {
        evicted |= (word & EvdState.WAITER) != 0;
        apply(EvdState.SET_UNWAITABLE, 0);
      }
      case CLEAR_UNWAITABLE -> apply(EvdState.CLEAR_UNWAITABLE, 0);
      case SET_CNO -> apply(EvdState.SET_CNO, EvdState.CNO);
      case CONTROL -> apply(EvdState.SIGNAL, EvdState.CONTROL);
      case WHEN_QUIET -> waiting = true;
      case CHECK_QUIET -> checkQuiet();
    }
    done++;
    return true;
  }

  private void enabled() {
    quiet = false;
    begunDisabled = false;
  }

  private void checkQuiet() {
    if (waiting && rules.isQuiet(word)) {
      waiting = false;
      quiet = true;
      if ((word & EvdState.CLOSED) != 0) {
        controls++;
        apply(EvdState.SIGNAL, EvdState.CONTROL);
      }
    }
  }

  private boolean dequeue() {
    if (calls == setup.dequeues() || consumer.pc != Pc.IDLE || !dequeue(consumer)) {
      return false;
    }
    calls++;
    return true;
  }

  /** A trigger is used up, then events are taken until there is none or it is refused. */
  private boolean drain() {
    if (consumer.pc != Pc.IDLE || (!triggered && !drains)) {
      return false;
    }
    if (!drains) {
      triggered = false;
      drains = true;
      return true;
    }
    if (!dequeue(consumer)) {
      return false;
    }
    drains = consumer.pc != Pc.IDLE;
    return true;
  }

  private boolean dequeue(final Turner t) {
    final long before = apply(EvdState.TAKE, 0);
    if (before == EvdState.BUSY) {
      return false;
    }
    if (before >= 0) {
      if (upcalls > 0 || EvdState.isEnabled(before)) {
        throw new Violation("a dequeue races an upcall");
      }
      holders++;
      serve(before & EvdState.CQ);
      t.kind = Kind.CONSUMER;
      t.unarmed = EvdState.tellsNobody(before);
      t.pc = Pc.NEXT;
    }
    return true;
  }

  private boolean await() {
    if (waits == setup.waits() || waiter.pc != Pc.IDLE) {
      return false;
    }
    final long before = apply(EvdState.AWAIT, 0);
    if (before == EvdState.BUSY) {
      return false;
    }
    waits++;
    if (before >= 0) {
      if (upcalls > 0 || EvdState.isEnabled(before)) {
        throw new Violation("a wait races an upcall");
      }
      holders++;
      serve(before & EvdState.CQ);
      waiter.kind = Kind.WAITER;
      waiter.pc = Pc.COLLECT;
    }
    return true;
  }

  private boolean timeout() {
    if (timedOut || waiter.pc == Pc.IDLE) {
      return false;
    }
    timedOut = true;
    return true;
  }

  private int held() {
    return polled - handedOut + enqueued - dequeued;
  }

  private void take() {
    if (polled > handedOut) {
      handedOut++;
    } else {
      dequeued++;
    }
  }

  /** Each look of the waiter that others can tell from the next one is a step. */
  private boolean await(final Turner t) {
    switch (t.pc) {
      case COLLECT -> {
        if ((word & EvdState.CLOSED) != 0) {
          t.pc = Pc.LEFT;
        } else {
          t.pc = hasMore() ? Pc.POLL : Pc.COUNT;
        }
      }
      case COUNT -> {
        if (held() >= setup.threshold()) {
          take();
          t.pc = Pc.LEFT;
        } else {
          t.pc = Pc.LOOK_AROUND;
        }
      }
      case LOOK_AROUND -> t.pc = (word & EvdState.WAITER) == 0 || timedOut ? Pc.LEFT : Pc.SLEEP;
      case SLEEP -> {
        apply(EvdState.SLEEP, 0);
        t.pc = (word & EvdState.ASLEEP) == 0 ? Pc.RESUME : Pc.PARKED;
      }
      default -> {
        if (!unparked && !timedOut) {
          return false;
        }
        unparked = false;
        t.pc = (word & EvdState.ASLEEP) == 0 || timedOut ? Pc.RESUME : Pc.PARKED;
      }
    }
    return true;
  }

  // The program of a turn.

  private boolean turn(final Turner t, final int choice) {
    switch (t.pc) {
      case IDLE -> {
        return t != consumer && t != changer && t != waiter && pop(t);
      }
      case READ -> read(t);
      case RESUME -> {
        serve(apply(EvdState.RESUME, 0));
        t.pc = t.kind == Kind.WAITER ? Pc.COLLECT : Pc.READ;
      }
      case NEXT -> next(t);
      case POLL -> poll(t);
      case ARM -> {
        return arm(t, choice);
      }
      case LOOK -> look(t);
      case BEGIN -> begin(t);
      case RETURN -> {
        upcalls--;
        t.budget--;
        t.left = 0;
        t.pc = t.kind == Kind.SINGLE ? Pc.READ : t.kind == Kind.MANY ? Pc.DONE : Pc.LEFT;
      }
      case END -> {
        if (rules.hasEnded(apply(EvdState.END, 0))) {
          holders--;
          t.pc = Pc.CHECK;
        } else {
          t.pc = Pc.RESUME;
        }
      }
      case LEFT -> {
        t.left = left();
        if (t.kind == Kind.SINGLE && t.budget == 0) {
          t.left = (int) rules.leftAtBudget(t.left);
        }
        t.pc = Pc.LEAVE;
      }
      case LEAVE -> {
        holders--;
        apply(t.kind == Kind.WAITER ? EvdState.RETURN : EvdState.LEAVE, t.left);
        t.pc = Pc.CHECK;
        if (t.kind == Kind.WAITER) {
          unparked = false;
          timedOut = false;
          evicted = false;
        }
        if (t.kind == Kind.IN_MANY) {
          t.kind = Kind.MANY;
          t.left = 0;
          t.pc = Pc.RETURN;
        }
      }
      case CHECK -> {
        if (rules.checksQuiet()) {
          checkQuiet();
        }
        t.idle();
      }
      case NOTIFIED -> {
        final long before = apply(EvdState.NOTIFIED, 0);
        t.pc = (before & EvdState.POLICY) == EvdState.NOTIFY ? Pc.BEGIN : Pc.READ;
      }
      case ENABLE_AGAIN -> {
        apply(EvdState.SET_POLICY, EvdState.NOTIFY | EvdState.WORK);
        t.pc = Pc.RETURN;
      }
      case PASS_LEFT -> {
        t.left = left();
        t.pc = Pc.PASS;
      }
      case PASS -> {
        holders--;
        running++;
        apply(EvdState.PASS, t.left);
        t.left = 0;
        t.pc = Pc.BEGIN;
      }
      case TAKE_INSIDE -> {
        final long before = apply(EvdState.TAKE_INSIDE, 0);
        if (before == EvdState.BUSY) {
          return false;
        }
        holders++;
        serve(before & EvdState.CQ);
        t.kind = Kind.IN_MANY;
        t.pc = Pc.NEXT;
      }
      case DONE -> {
        running--;
        apply(EvdState.DONE, 0);
        t.pc = Pc.CHECK;
      }
      case SETTLE -> {
        serve(apply(EvdState.RESUME, 0) | EvdState.CQ);
        if (rules.collects()) {
          t.pc = Pc.POLL;
        } else {
          mode = Mode.ARMED;
          armed = true;
          t.pc = Pc.SETTLED;
        }
      }
      case SETTLED -> {
        enabled();
        onNew = true;
        arrived = false;
        apply(EvdState.SET_POLICY, setup.enabling());
        t.pc = Pc.LEAVE;
      }
      case COLLECT, COUNT, LOOK_AROUND, SLEEP, PARKED -> {
        return await(t);
      }
    }
    return true;
  }

  private boolean pop(final Turner t) {
    if (ring == 0) {
      return false;
    }
    ring--;
    final long before = word;
    final long now = rules.next(before, EvdState.POP, 0);
    word = now;
    if (rules.gotTurn(before, now)) {
      holders++;
      serve(before & ~now);
      if ((now & EvdState.UPCALL) == 0) {
        t.kind = Kind.BRIEF;
        t.pc = Pc.LEFT;
      } else {
        final long policy = now & EvdState.POLICY;
        t.kind =
            policy == EvdState.SINGLE
                ? Kind.SINGLE
                : policy == EvdState.MANY ? Kind.MANY : Kind.NOTIFY;
        t.budget = t.kind == Kind.SINGLE ? BUDGET : 1;
        t.pc = Pc.READ;
      }
    }
    return true;
  }

  private void serve(final long bits) {
    if ((bits & EvdState.CQ) != 0 && (mode != Mode.WAITING || due)) {
      mode = Mode.REARM;
    }
    if ((bits & EvdState.CONTROL) != 0) {
      if (controls > 0) {
        controls--;
        closed = true;
      }
      if (wakes) {
        wakes = false;
        due = true;
        apply(EvdState.SIGNAL, EvdState.CQ);
      }
    }
  }

  private void read(final Turner t) {
    final long expected =
        t.kind == Kind.SINGLE
            ? EvdState.SINGLE
            : t.kind == Kind.MANY ? EvdState.MANY : EvdState.NOTIFY;
    if (rules.hasChanged(word & EvdState.POLICY, expected) || t.budget == 0) {
      t.pc = Pc.LEFT;
    } else if ((word & EvdState.CONTROL) != 0) {
      t.pc = Pc.RESUME;
    } else {
      t.misses = 0;
      t.pc = Pc.NEXT;
    }
  }

  private void next(final Turner t) {
    if (t.kind == Kind.NOTIFY) {
      if (hasInMemory()) {
        t.pc = Pc.NOTIFIED;
      } else {
        t.pc = hasMore() ? Pc.POLL : Pc.END;
      }
    } else if (laneFirst) {
      if (enqueued > dequeued) {
        dequeued++;
        took(t);
      } else {
        missed(t);
      }
    } else if (polled > handedOut) {
      handedOut++;
      took(t);
    } else if (t.unarmed ? mode != Mode.WAITING : hasMore()) {
      poll(t);
    } else {
      missed(t);
    }
  }

  private void took(final Turner t) {
    t.misses = 0;
    t.pc =
        switch (t.kind) {
          case SINGLE -> Pc.BEGIN;
          case MANY -> Pc.PASS_LEFT;
          case IN_NOTIFY -> Pc.ENABLE_AGAIN;
          default -> Pc.LEFT;
        };
  }

  private void missed(final Turner t) {
    laneFirst = !laneFirst;
    t.misses++;
    if (t.misses < 2) {
      t.pc = Pc.NEXT;
    } else {
      drains &= t != consumer;
      t.misses = 0;
      t.pc =
          switch (t.kind) {
            case SINGLE, MANY -> Pc.END;
            case IN_NOTIFY -> Pc.ENABLE_AGAIN;
            default -> Pc.LEFT;
          };
    }
  }

  private void poll(final Turner t) {
    t.asked = notified || due;
    notified = false;
    due = false;
    if (mode == Mode.REARM && !t.unarmed) {
      if (rules.unmutesForThePoll()) {
        muted = false;
      }
    }
    final int taken = Math.min(BATCH, added - polled);
    polled += taken;
    t.found = taken;
    if (t.unarmed || mode == Mode.PLAIN) {
      if (taken == 0 && mode == Mode.PLAIN) {
        mode = Mode.ARMED;
      }
      afterPoll(t);
    } else if (taken == BATCH) {
      succeeded(t);
    } else {
      t.attempts = 0;
      t.pc = Pc.ARM;
    }
  }

  /**
   * Bit 0 of the choice: the hint is the opposite of the truth. Bit 1: an unknown queue fires for a
   * completion that was there. Bit 2: it is not armed.
   */
  private boolean arm(final Turner t, final int choice) {
    final boolean full = added > polled;
    final boolean isFalse = (choice & 1) != 0;
    final boolean fires = (choice & 2) != 0;
    final boolean isNot = (choice & 4) != 0;
    final boolean mayLie = setup.hint() == Hint.FALSE || (paces && lies < LIES);
    if (isFalse && !mayLie) {
      return false;
    }
    final int hint = setup.hint() == Hint.NONE || full == isFalse ? 0 : 1;
    final boolean mayBeUnarmed = setup.hint().armed == ArmedAfterHint.UNKNOWN;
    if (isNot && (hint == 0 || !mayBeUnarmed)) {
      return false;
    }
    final boolean unarmed = isNot || (hint > 0 && setup.hint() == Hint.WITHOUT_ARM);
    if (fires && (unarmed || !full || setup.arm() != ArmModel.UNKNOWN)) {
      return false;
    }
    if (isFalse && paces) {
      lies++;
    }
    if (!unarmed) {
      if (full && (fires || setup.arm() == ArmModel.STRONG)) {
        inFlight++;
      } else {
        armed = true;
      }
    }
    if (rules.mustLook(declaration, hint)) {
      t.sure = declaration.isArmedAfter(hint);
      t.pc = Pc.LOOK;
    } else {
      armed(t, false);
    }
    return true;
  }

  private void look(final Turner t) {
    final int late = Math.min(BATCH - t.found, added - polled);
    polled += late;
    t.found += late;
    if (t.sure) {
      armed(t, t.found == BATCH);
    } else if (t.found > 0 || ++t.attempts == ARM_ATTEMPTS) {
      succeeded(t);
    } else {
      t.pc = Pc.ARM;
    }
  }

  private void succeeded(final Turner t) {
    if (t.found == 0) {
      pause();
    }
    rearmed(t);
  }

  private void armed(final Turner t, final boolean isFull) {
    mode = isFull ? Mode.PLAIN : Mode.ARMED;
    if (t.found == 0 && t.asked && paces && ++empties >= EMPTY_LIMIT) {
      pause();
    }
    rearmed(t);
  }

  private void rearmed(final Turner t) {
    if (t.found > 0 && !rules.unmutesForThePoll()) {
      muted = false;
    }
    afterPoll(t);
  }

  private void afterPoll(final Turner t) {
    if (t.found > 0) {
      empties = 0;
    }
    t.found = 0;
    t.attempts = 0;
    t.sure = false;
    t.asked = false;
    final boolean some = polled > handedOut;
    if (t.kind == Kind.SETTLE) {
      t.pc = hasMore() ? Pc.POLL : Pc.SETTLED;
    } else if (t.kind == Kind.WAITER) {
      t.pc = hasMore() ? Pc.POLL : Pc.COUNT;
    } else if (!some && hasMore() && !t.unarmed) {
      t.pc = Pc.POLL;
    } else if (t.kind == Kind.NOTIFY) {
      t.pc = some ? Pc.NOTIFIED : Pc.END;
    } else if (some) {
      handedOut++;
      took(t);
    } else {
      missed(t);
    }
  }

  private void begin(final Turner t) {
    if (quiet) {
      throw new Violation("an upcall starts after the teardown");
    }
    if ((word & EvdState.WAITER) != 0) {
      throw new Violation("an upcall starts while a thread waits");
    }
    upcalls++;
    if (t.kind == Kind.SINGLE && !EvdState.isEnabled(word)) {
      if (begunDisabled) {
        throw new Violation("a second upcall starts after DISABLE");
      }
      begunDisabled = true;
    }
    if (t.kind == Kind.NOTIFY) {
      t.kind = Kind.IN_NOTIFY;
      t.pc = Pc.NEXT;
    } else {
      t.pc = t.kind == Kind.MANY && setup.dequeuesInside() ? Pc.TAKE_INSIDE : Pc.RETURN;
    }
  }

  private boolean hasMore() {
    return mode == Mode.REARM || mode == Mode.PLAIN;
  }

  private boolean hasInMemory() {
    return polled > handedOut || enqueued > dequeued;
  }

  private int left() {
    return (int) ((hasMore() ? EvdState.CQ : 0) | (hasInMemory() ? EvdState.LANE : 0));
  }

  private long apply(final int operation, final long argument) {
    final long before = word;
    final long after = rules.next(before, operation, argument);
    if (after < 0) {
      return after;
    }
    word = after;
    if (EvdState.madeToken(before, after)) {
      ring++;
    }
    if (operation != EvdState.RESUME && EvdState.wakes(before, after)) {
      unparked = true;
    }
    triggered |= rules.tells(before, after, operation);
    return before;
  }

  // Properties.

  @Override
  public void check() {
    if (upcalls > limit) {
      throw new Violation(upcalls + " upcalls at once");
    }
    if (holders > 1) {
      throw new Violation("the turn is held twice");
    }
    if (ring > 1) {
      throw new Violation("two tokens");
    }
    expect((word & EvdState.TOKEN) != 0, ring == 1, "TOKEN");
    expect((word & EvdState.TURN) != 0, holders == 1, "TURN");
    expect((word & EvdState.RUNNING) >>> 16 == running, true, "RUNNING");
    if ((word & EvdState.UPCALL) != 0) {
      expect(true, holders == 1, "UPCALL");
    }
    if ((word & EvdState.WAITER) != 0) {
      expect(true, waiter.kind == Kind.WAITER, "WAITER");
      expect(false, EvdState.isEnabled(word), "POLICY while a thread waits");
    }
    if ((word & EvdState.ASLEEP) != 0) {
      expect(true, waiter.pc == Pc.PARKED || waiter.pc == Pc.RESUME, "ASLEEP");
    }
    if ((word & EvdState.CLOSED) != 0) {
      expect(false, EvdState.isEnabled(word), "POLICY of a closed EVD");
    }
    if (upcalls > 0 && (quiet || EvdState.isQuiet(word))) {
      throw new Violation("quiet in an upcall");
    }
    if ((word & ~LEGAL) != 0) {
      throw new Violation("illegal bits " + Long.toHexString(word & ~LEGAL));
    }
  }

  private static void expect(final boolean said, final boolean is, final String what) {
    if (said != is) {
      throw new Violation("the state word is wrong about " + what);
    }
  }

  @Override
  public void checkSettled() {
    if (EvdState.isEnabled(word)) {
      final boolean mayWait = onNew && !arrived;
      if (!mayWait && (handedOut < added || dequeued < enqueued)) {
        throw new Violation("it sleeps with work");
      }
      if (!mayWait && (word & (EvdState.WORK | EvdState.CONTROL)) != 0) {
        throw new Violation("it sleeps with a signal");
      }
    } else if (waiting) {
      throw new Violation("the teardown never ends");
    }
    if ((word & EvdState.CONTROL) != 0 || controls > 0) {
      throw new Violation("it sleeps with a control action");
    }
    if ((word & EvdState.CLOSED) != 0 && done == setup.script().size() && !closed) {
      throw new Violation("the close never ends");
    }
    final boolean isOpen = (word & (EvdState.CLOSED | EvdState.WAITER | EvdState.POLICY)) == 0;
    if ((word & EvdState.CNO) != 0 && isOpen && (handedOut < added || dequeued < enqueued)) {
      throw new Violation("the CNO is not told");
    }
    if (waiter.pc == Pc.PARKED) {
      if (held() >= setup.threshold() || added > polled) {
        throw new Violation("the waiter sleeps with enough events");
      }
      if ((word & EvdState.CLOSED) != 0 || evicted) {
        throw new Violation("the waiter is not told to return");
      }
    } else if (holders > 0 || upcalls > 0) {
      throw new Violation("somebody is stuck in a turn");
    }
  }

  // Saving.

  @Override
  public int size() {
    return SHARED + turners.length * Turner.SIZE;
  }

  @Override
  @SuppressWarnings("EnumOrdinal") // a state is saved as bytes
  public void save(final byte[] to, final int offset) {
    int at = offset;
    to[at++] = (byte) word;
    to[at++] = (byte) (word >>> 8);
    to[at++] = (byte) ((word & EvdState.LIMIT) >>> EvdState.LIMIT_SHIFT);
    to[at++] = (byte) ((word & EvdState.RUNNING) >>> 16);
    to[at++] = (byte) ring;
    to[at++] = (byte) holders;
    to[at++] = (byte) running;
    to[at++] = (byte) upcalls;
    to[at++] = (byte) mode.ordinal();
    to[at++] = (byte) handedOut;
    to[at++] = (byte) dequeued;
    to[at++] = (byte) controls;
    to[at++] = (byte) added;
    to[at++] = (byte) polled;
    to[at++] = (byte) inFlight;
    to[at++] = (byte) enqueued;
    to[at++] = (byte) signalled;
    to[at++] = (byte) calls;
    to[at++] = (byte) done;
    to[at++] =
        (byte)
            (bit(laneFirst, 0)
                | bit(armed, 1)
                | bit(waiting, 2)
                | bit(quiet, 3)
                | bit(unparked, 4)
                | bit(timedOut, 5)
                | bit(evicted, 6));
    to[at++] = (byte) waits;
    to[at++] = (byte) (bit(triggered, 0) | bit(drains, 1));
    to[at++] = (byte) lies;
    to[at++] = (byte) empties;
    to[at++] =
        (byte) (bit(notified, 0) | bit(muted, 1) | bit(timer, 2) | bit(wakes, 3) | bit(due, 4));
    to[at++] = (byte) (bit(closed, 0) | bit(onNew, 1) | bit(arrived, 2) | bit(begunDisabled, 3));
    at = offset + SHARED;
    for (final Turner turner : turners) {
      turner.save(to, at);
      at += Turner.SIZE;
    }
    sort(to, offset + SHARED);
  }

  /** Dispatchers are all alike: states that differ in who is who are the same. */
  private void sort(final byte[] saved, final int first) {
    for (int i = 1; i < setup.dispatchers(); i++) {
      for (int j = i; j > 0; j--) {
        final int at = first + j * Turner.SIZE;
        if (compare(saved, at - Turner.SIZE, at) <= 0) {
          break;
        }
        for (int k = at; k < at + Turner.SIZE; k++) {
          final byte swapped = saved[k];
          saved[k] = saved[k - Turner.SIZE];
          saved[k - Turner.SIZE] = swapped;
        }
      }
    }
  }

  private static int compare(final byte[] in, final int a, final int b) {
    for (int i = 0; i < Turner.SIZE; i++) {
      if (in[a + i] != in[b + i]) {
        return in[a + i] - in[b + i];
      }
    }
    return 0;
  }

  private static int bit(final boolean value, final int shift) {
    return value ? 1 << shift : 0;
  }

  @Override
  public void load(final byte[] from, final int offset) {
    int at = offset;
    word = (from[at] & 0xFFL) | (from[at + 1] & 0xFFL) << 8;
    at += 2;
    word |= (long) from[at++] << EvdState.LIMIT_SHIFT;
    word |= (long) from[at++] << 16;
    ring = from[at++];
    holders = from[at++];
    running = from[at++];
    upcalls = from[at++];
    mode = MODES[from[at++]];
    handedOut = from[at++];
    dequeued = from[at++];
    controls = from[at++];
    added = from[at++];
    polled = from[at++];
    inFlight = from[at++];
    enqueued = from[at++];
    signalled = from[at++];
    calls = from[at++];
    done = from[at++];
    laneFirst = (from[at] & 1) != 0;
    armed = (from[at] & 2) != 0;
    waiting = (from[at] & 4) != 0;
    quiet = (from[at] & 8) != 0;
    unparked = (from[at] & 16) != 0;
    timedOut = (from[at] & 32) != 0;
    evicted = (from[at] & 64) != 0;
    at++;
    waits = from[at++];
    triggered = (from[at] & 1) != 0;
    drains = (from[at] & 2) != 0;
    at++;
    lies = from[at++];
    empties = from[at++];
    notified = (from[at] & 1) != 0;
    muted = (from[at] & 2) != 0;
    timer = (from[at] & 4) != 0;
    wakes = (from[at] & 8) != 0;
    due = (from[at] & 16) != 0;
    at++;
    closed = (from[at] & 1) != 0;
    onNew = (from[at] & 2) != 0;
    arrived = (from[at] & 4) != 0;
    begunDisabled = (from[at] & 8) != 0;
    at = offset + SHARED;
    for (final Turner turner : turners) {
      turner.load(from, at);
      at += Turner.SIZE;
    }
  }

  @Override
  public String toString() {
    return "["
        + ((word & EvdState.TOKEN) != 0 ? " token" : "")
        + ((word & EvdState.TURN) != 0 ? " turn" : "")
        + ((word & EvdState.UPCALL) != 0 ? " upcall" : "")
        + ((word & EvdState.CQ) != 0 ? " cq" : "")
        + ((word & EvdState.LANE) != 0 ? " lane" : "")
        + ((word & EvdState.CONTROL) != 0 ? " control" : "")
        + ((word & EvdState.CLOSED) != 0 ? " closed" : "")
        + ((word & EvdState.WAITER) != 0 ? " waiter" : "")
        + ((word & EvdState.ASLEEP) != 0 ? " asleep" : "")
        + ((word & EvdState.UNWAITABLE) != 0 ? " unwaitable" : "")
        + " policy="
        + ((word & EvdState.POLICY) >>> 6)
        + "] completions "
        + handedOut
        + "/"
        + polled
        + "/"
        + added
        + " software "
        + dequeued
        + "/"
        + enqueued
        + " "
        + mode
        + (armed ? " armed" : "")
        + (muted ? " muted" : "")
        + (inFlight > 0 ? " notifications=" + inFlight : "");
  }
}
