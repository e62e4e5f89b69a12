package org.jdapl.evd.explorer;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.jdapl.evd.explorer.Action.Call;
import org.jdapl.hooks.FaultPlan;
import org.jdapl.sim.SimModel;
import org.jdapl.verbs.ArmModel;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.LastWqe;
import org.jdapl.verbs.NotificationConcurrency;
import org.jdapl.verbs.SecondArm;
import org.jdapl.verbs.SolicitedSupport;

/**
 * A run: what a consumer does, over which device. A value that prints and parses; the same script
 * gives the same run.
 *
 * @param seed where the fabric draws its choices from.
 * @param adapters how many adapters there are.
 * @param dispatchers how many dispatchers their runtime has.
 * @param model what the devices do where the verbs leave a choice.
 * @param plan what goes wrong.
 * @param actions what the consumer does, in order.
 */
record Script(
    long seed,
    int adapters,
    int dispatchers,
    SimModel model,
    FaultPlan plan,
    List<Action> actions) {

  private static final int LEAST = 10;
  private static final int MOST = 70;
  private static final int MOST_FAULTS = 4;
  private static final String BAR = " | ";

  private static final Call[] WITH_A_WAITER = {
    Call.POST,
    Call.POST,
    Call.AWAIT,
    Call.DEQUEUE,
    Call.UPCALL,
    Call.DISABLE,
    Call.UNWAITABLE,
    Call.RESIZE,
    Call.CLOSE_EVD,
    Call.GO_ON,
  };

  private static final Call[] WITH_A_CNO = {
    Call.POST,
    Call.POST,
    Call.DEQUEUE,
    Call.AWAIT_CNO,
    Call.AWAIT_CNO,
    Call.AWAIT,
    Call.USE_CNO,
    Call.CLOSE_CNO,
    Call.CLOSE_EVD,
    Call.GO_ON,
  };

  private static final Call[] WITH_A_WINDOW = {
    Call.WRITE,
    Call.READ,
    Call.WRITE_IMMED,
    Call.ADD,
    Call.SWAP,
    Call.SEND_INVALIDATE,
    Call.READ_TO_RMR,
    Call.BIND,
    Call.UNBIND,
    Call.RECEIVE,
    Call.STEP,
    Call.RUN,
  };

  /** The script of a seed. */
  static Script random(final long seed) {
    final SplittableRandom random = new SplittableRandom(seed);
    final int adapters = 1 + random.nextInt(2);
    final List<Action> actions = new ArrayList<>();
    final boolean hasCno = random.nextInt(4) == 0;
    if (random.nextInt(8) > 0) {
      connected(random, actions, hasCno);
    }
    for (int left = random.nextInt(LEAST, MOST); left > 0; left--) {
      final Action action = Action.random(random);
      if (action.call() == Call.AWAIT && random.nextBoolean()) { // else upcalls are enabled, mostly
        actions.add(Action.of(Call.DISABLE, action.a()));
      }
      actions.add(action);
      if (action.call() == Call.CLOSE_ENDPOINT && random.nextInt(3) == 0) {
        another(random, actions);
      }
      if (action.call() == Call.AWAIT && random.nextInt(3) > 0) {
        meanwhile(random, actions, action, WITH_A_WAITER);
      } else if (action.call() == Call.AWAIT_CNO && random.nextInt(3) > 0) {
        meanwhile(random, actions, action, WITH_A_CNO);
      }
    }
    if (hasCno && random.nextInt(4) == 0) {
      quiet(random, actions);
    }
    if (random.nextInt(8) == 0) {
      insert(random, actions, Action.of(Call.LOSE_DEVICE, random.nextInt(adapters)));
    }
    if (random.nextInt(4) == 0) {
      insert(random, actions, Action.of(Call.CLOSE_ADAPTER, random.nextInt(adapters)));
    }
    FaultPlan plan =
        FaultPlan.random(seed, random.nextBoolean() ? 0 : 1 + random.nextInt(MOST_FAULTS));
    if (random.nextInt(16) == 0) {
      plan = late(random, actions);
    }
    return new Script(
        seed, adapters, 1 + random.nextInt(3), model(random), plan, List.copyOf(actions));
  }

  /** Completions come when their endpoint is gone, and another one has its place. */
  private static FaultPlan late(final SplittableRandom random, final List<Action> actions) {
    actions.add(Action.of(Call.CLOSE_ENDPOINT, random.nextInt(64), 1, 1));
    another(random, actions);
    return FaultPlan.parse("delay completion@" + (1 + random.nextInt(8)) + "=5ms");
  }

  /** Who closes an endpoint often needs another one, soon after. */
  private static void another(final SplittableRandom random, final List<Action> actions) {
    actions.add(Action.of(Call.RUN, random.nextInt(64)));
    actions.add(Action.of(Call.ENDPOINT, random.nextInt(64), random.nextInt(64), 0));
    for (int left = random.nextInt(3); left > 0; left--) {
      actions.add(Action.of(Call.RECEIVE, Action.NEWEST, 0, 0));
    }
  }

  /** While a thread waits, others often do something to what it waits for. */
  private static void meanwhile(
      final SplittableRandom random,
      final List<Action> actions,
      final Action wait,
      final Call... calls) {
    for (int left = 1 + random.nextInt(3); left > 0; left--) {
      actions.add(
          new Action(
              one(random, calls),
              (wait.by() + 1 + random.nextInt(Consumers.COUNT - 1)) % Consumers.COUNT,
              -1,
              wait.a(),
              random.nextInt(64),
              random.nextInt(64)));
    }
  }

  /** Who waits for several EVDs drains them, and waits again; a message comes in a close then. */
  private static void quiet(final SplittableRandom random, final List<Action> actions) {
    actions.add(Action.of(Call.RUN, random.nextInt(64)));
    emptied(random, actions);
    actions.add(Action.of(Call.SEND, random.nextInt(8), 1, 1));
    actions.add(Action.of(Call.SEND, random.nextInt(8), 1, 1));
    actions.add(Action.of(Call.CLOSE_ENDPOINT, random.nextInt(8), 1, 1));
    actions.add(Action.of(Call.TURN, random.nextInt(4)));
    emptied(random, actions);
  }

  private static void emptied(final SplittableRandom random, final List<Action> actions) {
    final int evd = random.nextInt(3);
    for (int i = 0; i < 3; i++) {
      actions.add(Action.of(Call.AWAIT_CNO, random.nextInt(2), 0, 0));
      actions.add(Action.of(Call.DEQUEUE, evd, 3));
    }
  }

  private static void insert(
      final SplittableRandom random, final List<Action> actions, final Action action) {
    actions.add(random.nextInt(actions.size() / 2, actions.size()), action);
  }

  /** Most scripts begin with two endpoints that connect: little happens without. */
  private static void connected(
      final SplittableRandom random, final List<Action> actions, final boolean hasCno) {
    final int evds = 1 + random.nextInt(3);
    if (hasCno) {
      actions.add(Action.of(Call.CNO, 0));
      actions.add(Action.of(Call.CNO, 1));
    }
    for (int i = 0; i < evds; i++) {
      actions.add(Action.of(Call.EVD, i, 63, 0));
      if (hasCno && random.nextInt(3) > 0) {
        actions.add(Action.of(Call.USE_CNO, i, 1 + 2 * random.nextInt(16), 0));
      } else if (random.nextInt(4) > 0) {
        actions.add(Action.of(Call.UPCALL, i, random.nextInt(4), 0));
      }
    }
    actions.add(Action.of(Call.LMR, 0, 0, 0));
    actions.add(Action.of(Call.LMR, 1, 0, 0));
    actions.add(Action.of(Call.PSP, random.nextInt(evds), 0, 0));
    if (random.nextInt(3) == 0) {
      actions.add(Action.of(Call.SRQ, 0, random.nextInt(64), 0));
      actions.add(Action.of(Call.SRQ, 1, random.nextInt(64), 0));
    }
    final boolean hasRmrs = random.nextInt(3) == 0;
    for (int i = 0; hasRmrs && i < 4; i++) {
      actions.add(Action.of(Call.RMR, i, i / 2, 0));
    }
    for (int i = 0; i < 4; i++) {
      actions.add(Action.of(Call.ENDPOINT, i, random.nextInt(64), random.nextInt(64)));
      for (int left = random.nextInt(3); left > 0; left--) {
        actions.add(Action.of(Call.RECEIVE, i, 0, 0));
      }
    }
    actions.add(Action.of(Call.CONNECT, 0, 0, 3));
    actions.add(Action.of(Call.RUN, random.nextInt(64), 0, 0));
    if (hasRmrs) {
      windows(random, actions);
    }
    for (int left = random.nextInt(3); left > 0; left--) {
      actions.add(Action.of(Call.SEND, random.nextInt(8), random.nextInt(64), random.nextInt(64)));
    }
  }

  /** Windows are bound, and used soon after. */
  private static void windows(final SplittableRandom random, final List<Action> actions) {
    for (int left = random.nextInt(1, 4); left > 0; left--) {
      actions.add(Action.of(Call.BIND, random.nextInt(8), random.nextInt(8), random.nextInt(64)));
    }
    actions.add(Action.of(Call.RUN, random.nextInt(12), 0, 0));
    for (int left = random.nextInt(8); left > 0; left--) {
      final Call call = one(random, WITH_A_WINDOW);
      actions.add(Action.of(call, random.nextInt(8), random.nextInt(64), random.nextInt(64)));
    }
    if (random.nextInt(4) == 0) { // a connection ends while a bind is on its way
      final int endpoint = random.nextInt(8);
      actions.add(Action.of(Call.BIND, endpoint, random.nextInt(8), random.nextInt(64)));
      actions.add(Action.of(Call.RUN, 1 + random.nextInt(3), 0, 0));
      actions.add(Action.of(Call.DISCONNECT, endpoint, 1));
      actions.add(Action.of(Call.RUN, 1 + random.nextInt(8), 0, 0));
      actions.add(Action.of(Call.CLOSE_LMR, random.nextInt(2), random.nextInt(2), 0));
    }
  }

  private static SimModel model(final SplittableRandom random) {
    SimModel model =
        SimModel.DEFAULT
            .withArm(one(random, ArmModel.values()))
            .withHint(one(random, SimModel.Hint.values()))
            .withSecondArm(one(random, SecondArm.values()))
            .withSolicited(one(random, SolicitedSupport.values()))
            .withLastWqe(one(random, LastWqe.values()))
            .withSweepsDestroyed(random.nextBoolean())
            .withReusesQpNumbers(random.nextInt(4) > 0)
            .withNativePollAndRearm(random.nextBoolean());
    model =
        switch (random.nextInt(4)) {
          case 0 -> model;
          case 1 -> model.withNotifiesInsideVerbs(true);
          case 2 -> model.withConcurrency(NotificationConcurrency.CONCURRENT);
          default -> model.withDelivery(Delivery.CHANNEL);
        };
    return random.nextInt(3) == 0
        ? model.withLatency(0, 50_000).withCmLatency(0, 100_000)
        : model.withLatency(0, 2_000).withCmLatency(0, 6_000);
  }

  @SafeVarargs
  private static <T> T one(final SplittableRandom random, final T... of) {
    return of[random.nextInt(of.length)];
  }

  /** The same run with other actions, and other things that go wrong. */
  Script with(final FaultPlan faults, final List<Action> others) {
    return new Script(seed, adapters, dispatchers, model, faults, List.copyOf(others));
  }

  /**
   * Reads what {@link #toString} prints.
   *
   * @throws IllegalArgumentException if it is not a script, saying what is expected.
   */
  static Script parse(final String text) {
    final String[] parts = text.strip().split("\\s*\\|\\s*", -1);
    if (parts.length != 6) {
      throw new IllegalArgumentException(
          "'"
              + text
              + "': expected SEED | ADAPTERS | DISPATCHERS | MODEL | PLAN | ACTION; ACTION ...");
    }
    final List<Action> actions = new ArrayList<>();
    for (final String action : parts[5].split(";", -1)) {
      if (!action.isBlank()) {
        actions.add(Action.parse(action));
      }
    }
    return new Script(
        Long.parseLong(parts[0]),
        Integer.parseInt(parts[1]),
        Integer.parseInt(parts[2]),
        SimModel.parse(parts[3]),
        FaultPlan.parse(parts[4]),
        actions);
  }

  @Override
  public String toString() {
    return seed
        + BAR
        + adapters
        + BAR
        + dispatchers
        + BAR
        + model
        + BAR
        + plan
        + BAR
        + actions.stream().map(Action::toString).collect(Collectors.joining("; "));
  }
}
