package org.jdapl.hooks;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jdapl.hooks.Broken.Entry;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.CqHandler;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RearmOutcome;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.VerbsProvider;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;

/** Providers that are wrong in one way each, and the test of the TCK that must find it. */
public final class ProviderMistakes {

  /**
   * A mistake.
   *
   * @param name what is wrong.
   * @param finds the test that must fail.
   * @param model the simulated device below.
   * @param threads whether it shows in real time only; then no other test is run.
   * @param over makes the wrong provider.
   */
  public record Mistake(
      String name, String finds, String model, boolean threads, UnaryOperator<VerbsProvider> over) {

    Mistake withModel(final String value) {
      return new Mistake(name, finds, value, threads, over);
    }

    Mistake withThreads() {
      return new Mistake(name, finds, model, true, over);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private ProviderMistakes() {}

  static Mistake mistake(
      final String name, final String finds, final UnaryOperator<VerbsProvider> over) {
    return new Mistake(name, finds, "", false, over);
  }

  /** Wrong in its verbs. */
  static Mistake verb(
      final String name,
      final String finds,
      final BiFunction<Broken, Interposer.Call, Object> call) {
    return mistake(
        name,
        finds,
        behind ->
            new Broken(behind) {
              @Override
              Object onVerb(final Call called) {
                return call.apply(this, called);
              }
            });
  }

  /** Wrong in one verb. */
  static Mistake verb(
      final String name,
      final String finds,
      final Verb which,
      final BiFunction<Broken, Interposer.Call, Object> call) {
    return verb(
        name,
        finds,
        (broken, called) -> called.verb == which ? call.apply(broken, called) : called.proceed());
  }

  /** Wrong in what is polled. */
  static Mistake polled(
      final String name, final String finds, final UnaryOperator<List<Entry>> change) {
    return verb(
        name,
        finds,
        (broken, call) -> Broken.polls(call) ? Broken.polled(call, change) : call.proceed());
  }

  static Mistake each(final String name, final String finds, final UnaryOperator<Entry> change) {
    return polled(name, finds, entries -> entries.stream().map(change).toList());
  }

  /** Wrong in its events of a kind or name. */
  static Mistake event(
      final String name,
      final String finds,
      final String which,
      final BiConsumer<Broken, Interposer.Event> deliver) {
    return mistake(
        name,
        finds,
        behind ->
            new Broken(behind) {
              @Override
              void onEvent(final Event event) {
                if (event.kind.equals(which) || event.name.equals(which)) {
                  deliver.accept(this, event);
                } else {
                  event.deliver();
                }
              }
            });
  }

  /** Keeps events back until an object is destroyed. */
  static Mistake held(final String name, final String finds, final String which, final Verb until) {
    return mistake(
        name,
        finds,
        behind ->
            new Broken(behind) {
              private final Map<Hooked, Event> held = new HashMap<>();

              @Override
              void onEvent(final Event event) {
                if (event.name.equals(which)) {
                  held.put(event.source, event);
                } else {
                  event.deliver();
                }
              }

              @Override
              Object onVerb(final Call call) {
                final Object result = call.proceed();
                if (call.verb == until && held.containsKey(call.self)) {
                  later(held.remove(call.self)::deliver);
                }
                return result;
              }
            });
  }

  static Object swallow(final Interposer.Call call) {
    try {
      return call.proceed();
    } catch (final VerbsException e) {
      return null;
    }
  }

  static CmParameters with(final CmParameters of, final byte[] data, final int rnrRetries) {
    return new CmParameters(
        ByteBuffer.wrap(data), of.readsIn(), of.readsOut(), of.retryCount(), rnrRetries);
  }

  /** Changes the private data of a connect; its parameters are the fourth argument. */
  private static Object connect(final Interposer.Call call, final int limit, final int more) {
    final CmParameters parameters = (CmParameters) call.arguments[3];
    final byte[] data = new byte[parameters.privateData().remaining()];
    parameters.privateData().duplicate().get(data);
    final int length = Math.min(limit, Math.max(0, data.length + more));
    call.arguments[3] = with(parameters, Arrays.copyOf(data, length), parameters.rnrRetryCount());
    return call.proceed();
  }

  private static List<Mistake> arming() {
    return List.of(
        mistake(
            "every third arm is lost",
            "required_A01_anArmedQueueNotifiesOfTheNextCompletion",
            behind ->
                new Broken(behind) {
                  private int arms;

                  @Override
                  Object onVerb(final Call call) {
                    return call.verb == Verb.REQ_NOTIFY_CQ && ++arms % 3 == 0 ? 0 : call.proceed();
                  }
                }),
        event(
            "an arm fires twice",
            "required_A04_oneArmGivesOneNotification",
            Fault.NOTIFICATION,
            (broken, event) -> {
              event.deliver();
              broken.later(event::deliver);
            }),
        verb(
            "the hint hides what was missed",
            "required_P02_aHintOfNothingMissedIsTrue",
            Verb.REQ_NOTIFY_CQ,
            (broken, call) -> {
              call.proceed();
              return 0;
            }),
        verb(
            "the hint is of nothing",
            "required_P02_aHintOfSomethingMissedIsTrue",
            Verb.REQ_NOTIFY_CQ,
            (broken, call) -> {
              call.proceed();
              return 1;
            }),
        verb(
                "there is a hint where none is declared",
                "required_P02_aHintIsNeverNegativeAndZeroWhereThereIsNone",
                Verb.REQ_NOTIFY_CQ,
                (broken, call) -> {
                  call.proceed();
                  return 1;
                })
            .withModel("hint=none"),
        mistake(
            "a queue is not armed after a hint",
            "required_P02_aQueueIsArmedAfterAHint",
            behind ->
                new Broken(behind) {
                  private boolean hinted;

                  @Override
                  Object onVerb(final Call call) {
                    final Object result = call.proceed();
                    hinted |= call.verb == Verb.REQ_NOTIFY_CQ && (Integer) result > 0;
                    return result;
                  }

                  @Override
                  void onEvent(final Event event) {
                    if (event.kind.equals(Fault.NOTIFICATION) && hinted) {
                      hinted = false;
                    } else {
                      event.deliver();
                    }
                  }
                }),
        mistake(
            "an armed queue is silent as long as older completions lie there",
            "required_P02_whatLiesInAnArmedQueueHidesNothingThatIsAdded",
            behind ->
                new Broken(behind) {
                  private boolean holding;

                  @Override
                  Object onVerb(final Call call) {
                    holding &= !polls(call);
                    final Object result = call.proceed();
                    holding |= call.verb == Verb.REQ_NOTIFY_CQ && (Integer) result > 0;
                    return result;
                  }

                  @Override
                  void onEvent(final Event event) {
                    if (!event.kind.equals(Fault.NOTIFICATION) || !holding) {
                      event.deliver();
                    }
                  }
                }),
        mistake(
                "a strong arm is silent about what is there",
                "required_P02_aStrongArmNotifiesOfWhatIsThere",
                behind ->
                    new Broken(behind) {
                      private boolean hinted;

                      @Override
                      Object onVerb(final Call call) {
                        final Object result = call.proceed();
                        hinted = call.verb == Verb.REQ_NOTIFY_CQ && (Integer) result > 0;
                        return result;
                      }

                      @Override
                      void onEvent(final Event event) {
                        if (!event.kind.equals(Fault.NOTIFICATION) || !hinted) {
                          event.deliver();
                        }
                      }
                    })
            .withModel("arm=strong"),
        mistake(
            "second arms are counted",
            "required_P02_aSecondArmDoesAsDeclared",
            behind ->
                new Broken(behind) {
                  private int arms;

                  @Override
                  Object onVerb(final Call call) {
                    arms += call.verb == Verb.REQ_NOTIFY_CQ ? 1 : 0;
                    return call.proceed();
                  }

                  @Override
                  void onEvent(final Event event) {
                    event.deliver();
                    if (event.kind.equals(Fault.NOTIFICATION)) {
                      for (; arms > 1; arms--) {
                        later(event::deliver);
                      }
                      arms = 0;
                    }
                  }
                }),
        event(
                "two notifications of a queue run at once",
                "required_P02_notificationsOfAQueueAreSerial",
                Fault.NOTIFICATION,
                (broken, event) -> new Thread(event::deliver).start())
            .withThreads(),
        mistake(
            "a handler is called inside poll",
            "required_P02_noHandlerIsCalledInsideAVerb",
            behind ->
                new Broken(behind) {
                  private Event held;

                  @Override
                  Object onVerb(final Call call) {
                    final Event now = held;
                    if (now != null && call.verb == Verb.POLL_CQ) {
                      held = null;
                      now.deliver();
                    }
                    return call.proceed();
                  }

                  @Override
                  void onEvent(final Event event) {
                    if (event.kind.equals(Fault.NOTIFICATION)) {
                      held = event;
                    } else {
                      event.deliver();
                    }
                  }
                }),
        verb(
            "a solicited arm is an arm for everything",
            "required_A06_anUnsolicitedSuccessIsNoSolicitedNotification",
            Verb.REQ_NOTIFY_CQ,
            (broken, call) -> {
              call.arguments[0] = ArmKind.NEXT;
              return call.proceed();
            }),
        verb(
            "errors are not solicited",
            "required_A06_anErrorRaisesASolicitedNotification",
            Verb.REQ_NOTIFY_CQ,
            (broken, call) -> call.arguments[0] == ArmKind.SOLICITED ? 0 : call.proceed()),
        mistake(
            "a pending arm is weakened",
            "required_A06_aPendingArmIsNotWeakened",
            behind ->
                new Broken(behind) {
                  private boolean weak;

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.REQ_NOTIFY_CQ) {
                      weak = call.arguments[0] == ArmKind.SOLICITED;
                    }
                    return call.proceed();
                  }

                  @Override
                  void onEvent(final Event event) {
                    if (!event.kind.equals(Fault.NOTIFICATION) || !weak) {
                      event.deliver();
                    }
                  }
                }),
        verb(
            "what is flushed is told inside the verb that flushes",
            "required_P02_noHandlerIsCalledInsideAVerb",
            (broken, call) -> {
              final Object result = call.proceed();
              if (call.verb == Verb.CREATE_CQ) {
                broken.handlers.put((CompletionQueue) result, (CqHandler) call.arguments[1]);
              } else if (call.verb == Verb.MODIFY_QP) {
                broken.handlers.forEach((cq, handler) -> handler.onNotification(cq));
              }
              return result;
            }),
        mistake(
            "what is flushed of the sends is told to the queue of the receives, as by irdma once",
            "required_A01_eachQueueTellsOfItsOwnCompletions",
            behind ->
                new Broken(behind) {
                  @Override
                  Object onVerb(final Call call) {
                    final Object result = call.proceed();
                    if (call.verb == Verb.CREATE_CQ) {
                      handlers.put((CompletionQueue) result, (CqHandler) call.arguments[1]);
                    }
                    return result;
                  }

                  @Override
                  void onEvent(final Event event) {
                    if (event.kind.equals(Fault.NOTIFICATION) && handlers.size() == 2) {
                      CompletionQueue last = null;
                      for (final CompletionQueue cq : handlers.keySet()) {
                        last = cq;
                      }
                      handlers.get(last).onNotification(last);
                    } else {
                      event.deliver();
                    }
                  }
                }),
        mistake(
            "errors of sends are not solicited, as with rxe",
            "required_A06_anErrorOfASendRaisesASolicitedNotification",
            behind ->
                new Broken(behind) {
                  private boolean solicited;
                  private boolean ofSend;

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.REQ_NOTIFY_CQ) {
                      solicited = call.arguments[0] == ArmKind.SOLICITED;
                    }
                    ofSend = call.verb == Verb.POST_SEND || (ofSend && Broken.polls(call));
                    return call.proceed();
                  }

                  @Override
                  void onEvent(final Event event) {
                    if (!event.kind.equals(Fault.NOTIFICATION) || !solicited || !ofSend) {
                      event.deliver();
                    }
                  }
                }),
        mistake(
                "a completion is published after the look at the arm, as by siw",
                "required_A01_nothingIsLostWhereArmsRaceCompletions",
                behind ->
                    new Broken(behind) {
                      private final List<Entry> published = new ArrayList<>();
                      private volatile boolean armed;
                      private volatile boolean told;
                      private long since;

                      @Override
                      boolean isMadeOfOthers(final Method method) {
                        return method.getName().equals("pollAndRearm");
                      }

                      @Override
                      Object onVerb(final Call call) {
                        if (call.verb == Verb.REQ_NOTIFY_CQ) {
                          armed = true;
                        }
                        if (call.verb != Verb.POLL_CQ) {
                          return call.proceed();
                        }
                        if (!armed) { // let the other thread complete one before the arm
                          LockSupport.parkNanos(50_000);
                        }
                        return polled(call, this::inTime);
                      }

                      private List<Entry> inTime(final List<Entry> entries) {
                        final List<Entry> now = new ArrayList<>();
                        if (System.nanoTime() - since > 1_000_000) {
                          now.addAll(published);
                          published.clear();
                        }
                        if (armed || told || !published.isEmpty() || entries.isEmpty()) {
                          now.addAll(entries);
                          told &= entries.isEmpty();
                        } else {
                          published.addAll(entries);
                          since = System.nanoTime();
                        }
                        return now;
                      }

                      @Override
                      void onEvent(final Event event) {
                        if (event.kind.equals(Fault.NOTIFICATION)) {
                          told = true;
                          armed = false;
                        }
                        event.deliver();
                      }
                    })
            .withThreads(),
        verb(
            "POLL_NEEDED comes with nothing",
            "required_A08_anEmptyQueueIsNotDoneAndArmed",
            Verb.POLL_AND_REARM_CQ,
            (broken, call) ->
                call.proceed() instanceof RearmOutcome outcome && outcome == RearmOutcome.NOT_DONE
                    ? RearmOutcome.POLL_NEEDED
                    : RearmOutcome.SUCCESS),
        verb(
            "pollAndRearm stops without an arm",
            "required_A08_whoStopsWhereTheTableSaysIsWoken",
            Verb.POLL_AND_REARM_CQ,
            (broken, call) -> {
              final int found =
                  ((CompletionQueue) call.self.behind())
                      .poll((WorkCompletions) call.arguments[0], (Integer) call.arguments[1]);
              return found > 0 ? RearmOutcome.COMPLETED : RearmOutcome.NOT_DONE;
            }),
        verb(
            "pollAndRearm says SUCCESS and arms",
            "required_A08_successDoesNotArm",
            Verb.POLL_AND_REARM_CQ,
            (broken, call) -> {
              final Object outcome = call.proceed();
              if (outcome == RearmOutcome.SUCCESS) {
                ((CompletionQueue) call.self.behind()).arm(ArmKind.NEXT);
              }
              return outcome;
            }),
        verb(
            "pollAndRearm drops what it took",
            "required_A08_aDrainTakesAllInOrder",
            (broken, call) ->
                call.verb == Verb.POLL_AND_REARM_CQ
                    ? Broken.polled(
                        call, entries -> entries.size() == 2 ? entries.subList(0, 1) : entries)
                    : call.proceed()));
  }

  private static List<Mistake> completions() {
    return List.of(
        polled(
            "a completion is doubled",
            "required_E01_eachRequestCompletesExactlyOnce",
            entries -> {
              final List<Entry> more = new ArrayList<>(entries);
              if (!entries.isEmpty()) {
                more.add(entries.get(entries.size() - 1));
              }
              return more;
            }),
        polled(
            "completions are out of order",
            "required_E02_receivesCompleteInTheirOrder",
            entries -> {
              final List<Entry> reversed = new ArrayList<>(entries);
              Collections.reverse(reversed);
              return reversed;
            }),
        verb(
            "a queue pair is not moved to the error state",
            "required_E01_eachRequestCompletesExactlyOnce",
            Verb.MODIFY_QP,
            (broken, call) -> null),
        each(
            "wr_ids have 32 bits",
            "required_T06_wrIdStatusAndQpNumberAreValidOfAnError",
            entry -> entry.withWrId(entry.wrId() & 0xFFFF_FFFFL)),
        each(
            "the opcode is needed on an error: there is no wr_id",
            "required_T06_wrIdStatusAndQpNumberAreValidOfAnError",
            entry -> entry.isError() ? entry.withWrId(0) : entry),
        each(
            "an error has no number of its queue pair",
            "required_T06_wrIdStatusAndQpNumberAreValidOfAnError",
            entry -> entry.isError() ? entry.withQpNumber(0) : entry),
        verb(
            "poll takes more than asked for",
            "required_P04_pollAppendsNoMoreThanAskedFor",
            Verb.POLL_CQ,
            (broken, call) -> {
              call.arguments[1] = (Integer) call.arguments[1] + 2;
              return call.proceed();
            }),
        verb(
            "poll clears the batch",
            "required_P04_pollKeepsWhatIsInTheBatch",
            Verb.POLL_CQ,
            (broken, call) -> {
              ((WorkCompletions) call.arguments[0]).clear();
              return call.proceed();
            }),
        verb(
            "a full queue refuses as if the request were wrong",
            "required_E05_aFullReceiveQueueRefusesWithEnomem",
            Verb.POST_RECV,
            (broken, call) -> {
              final Object errno = call.proceed();
              return errno.equals(VerbsException.ENOMEM) ? VerbsException.EINVAL : errno;
            }),
        verb(
            "a queue holds half of what was asked for",
            "required_E05_aQueueHoldsWhatWasAskedFor",
            Verb.CREATE_CQ,
            (broken, call) -> {
              call.arguments[0] = Math.max(1, (Integer) call.arguments[0] / 2);
              return call.proceed();
            }),
        verb(
            "a list is posted from its end",
            "required_N04_aListIsPostedInItsOrder",
            Verb.POST_SEND,
            (broken, call) -> {
              if (call.arguments[0] instanceof SendRequest[] requests) {
                final List<SendRequest> list =
                    new ArrayList<>(List.of(requests).subList(0, (Integer) call.arguments[1]));
                Collections.reverse(list);
                call.arguments[0] = list.toArray(SendRequest[]::new);
              }
              return call.proceed();
            }),
        verb(
            "what is above a limit is cut down to it",
            "required_P02_whatIsAboveALimitIsRefused",
            Verb.CREATE_CQ,
            (broken, call) -> {
              call.arguments[0] = Math.min((Integer) call.arguments[0], 1 << 20);
              return call.proceed();
            }));
  }

  private static List<Mistake> ends() {
    return List.of(
        verb(
                "the destruction of a queue does not wait for its handler",
                "required_T07_theDestructionOfAQueueWaitsForItsHandler",
                Verb.DESTROY_CQ,
                (broken, call) -> {
                  new Thread(call::proceed).start();
                  return null;
                })
            .withThreads(),
        mistake(
                "a second destruction does not wait for the first one",
                "required_T07_theDestructionOfAQueueWaitsForItsHandler",
                behind ->
                    new Broken(behind) {
                      private final Set<Hooked> begun = ConcurrentHashMap.newKeySet();

                      @Override
                      Object onVerb(final Call call) {
                        return call.verb == Verb.DESTROY_CQ && !begun.add(call.self)
                            ? null
                            : call.proceed();
                      }
                    })
            .withThreads(),
        mistake(
            "a notification comes after the destruction",
            "required_T07_noNotificationComesAfterTheDestruction",
            behind ->
                new Broken(behind) {
                  @Override
                  void onEvent(final Event event) {
                    if (event.kind.equals(Fault.NOTIFICATION)) {
                      later(event::deliver);
                    } else {
                      event.deliver();
                    }
                  }

                  @Override
                  Object onVerb(final Call call) {
                    final Object result = call.proceed();
                    if (call.verb == Verb.CREATE_CQ) {
                      final Hooked cq = hooked(result);
                      final CqHandler handler = (CqHandler) call.arguments[1];
                      destroyed.put(cq, () -> handler.onNotification((CompletionQueue) result));
                    } else if (call.verb == Verb.DESTROY_CQ) {
                      later(destroyed.get(call.self));
                    }
                    return result;
                  }

                  private final Map<Hooked, Runnable> destroyed = new HashMap<>();
                }),
        mistake(
                "an event is not acknowledged: the destruction waits for ever",
                "required_T08_theDestructionReturnsAfterManyNotifications",
                behind ->
                    new Broken(behind) {
                      private final Set<Hooked> notified =
                          Collections.synchronizedSet(new HashSet<>());

                      @Override
                      void onEvent(final Event event) {
                        notified.add(event.source);
                        event.deliver();
                      }

                      @Override
                      Object onVerb(final Call call) {
                        if (call.verb == Verb.DESTROY_CQ && notified.contains(call.self)) {
                          try {
                            new CountDownLatch(1).await();
                          } catch (final InterruptedException e) {
                            throw new IllegalStateException("the test was given up", e);
                          }
                        }
                        return call.proceed();
                      }
                    })
            .withThreads(),
        mistake(
            "a completion comes after the destruction of its queue pair",
            "required_M05_noCompletionComesAfterTheDestruction",
            behind ->
                new Broken(behind) {
                  private boolean ghost;

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.DESTROY_QP) {
                      later(() -> ghost = true);
                    }
                    if (call.verb == Verb.POLL_CQ && ghost) {
                      ghost = false;
                      return polled(
                          call,
                          entries ->
                              List.of(
                                  new Entry(
                                      1, WcStatus.WR_FLUSH_ERR, null, 0, 1, false, 0, false)));
                    }
                    return call.proceed();
                  }
                }),
        verb(
            "the number of a queue pair is used again while it is open",
            "required_M05_theNumberOfAQueuePairIsItsOwnWhileItIsOpen",
            Verb.CREATE_QP,
            (broken, call) -> {
              final Object qp = call.proceed();
              return Proxy.newProxyInstance(
                  ProviderMistakes.class.getClassLoader(),
                  new Class<?>[] {QueuePair.class},
                  (self, method, arguments) ->
                      switch (method.getName()) {
                        case "number" -> ((QueuePair) qp).number() & 3;
                        case "equals" -> self == arguments[0];
                        default -> method.invoke(qp, arguments);
                      });
            }),
        verb(
            "a queue in use is destroyed",
            "required_T09_whatIsInUseIsNotDestroyed",
            Verb.DESTROY_CQ,
            (broken, call) -> swallow(call)),
        mistake(
            "a second close fails",
            "required_R02_toCloseTwiceHasNoEffect",
            behind ->
                new Broken(behind) {
                  private final Set<Hooked> closed = new HashSet<>();

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.DESTROY_QP && !closed.add(call.self)) {
                      throw new IllegalStateException("freed twice");
                    }
                    return call.proceed();
                  }
                }),
        verb(
            "a closed queue looks like an empty one",
            "required_R02_aClosedObjectRefuses",
            Verb.POLL_CQ,
            (broken, call) -> {
              final Object result = swallow(call);
              return result == null ? 0 : result;
            }),
        verb(
            "the whole buffer is what remains of it",
            "required_T11_theRegionIsTheWholeBuffer",
            Verb.REG_MR,
            (broken, call) -> {
              call.arguments[1] = ((ByteBuffer) call.arguments[1]).slice();
              return call.proceed();
            }),
        mistake(
                "a wake-up is lost",
                "required_P05_aWakeUpEndsAwait",
                behind ->
                    new Broken(behind) {
                      private final Map<EventChannel, EventChannel> channels = new HashMap<>();

                      @Override
                      public EventChannel createEventChannel() {
                        final EventChannel right = super.createEventChannel();
                        final EventChannel deaf =
                            new EventChannel() {
                              @Override
                              public int await(final long timeoutNanos) {
                                return right.await(timeoutNanos);
                              }

                              @Override
                              public void wakeup() {}

                              @Override
                              public void close() {
                                right.close();
                              }
                            };
                        channels.put(deaf, right);
                        return deaf;
                      }

                      @Override
                      EventChannel behind(final EventChannel channel) {
                        return channels.get(channel);
                      }
                    })
            .withModel("delivery=channel")
            .withThreads());
  }

  private static List<Mistake> connections() {
    return List.of(
        verb(
            "private data is cut",
            "required_C03_privateDataOfEachLengthArrives",
            Verb.CONNECT,
            (broken, call) -> connect(call, Integer.MAX_VALUE, -1)),
        verb(
            "private data is padded although it is declared exact",
            "required_P02_aDeclarationOfPrivateDataIsKept",
            Verb.CONNECT,
            (broken, call) -> connect(call, 56, 4)),
        verb(
            "private data that is too long is cut instead of refused",
            "required_C03_privateDataThatIsTooLongIsRefusedBeforeAnythingIsSent",
            Verb.CONNECT,
            (broken, call) -> connect(call, 56, 0)),
        verb(
            "a consumer's reject looks like the library's",
            "required_C03_privateDataOfARejectArrives",
            Verb.REJECT,
            (broken, call) -> {
              call.arguments[0] =
                  call.arguments[0].equals(CmHandler.CONSUMER_REJECT) ? 3 : call.arguments[0];
              return call.proceed();
            }),
        event(
            "ESTABLISHED is told twice",
            "required_C02_aConnectionIsEstablishedOnBothSidesOnce",
            "established",
            (broken, event) -> {
              event.deliver();
              broken.later(event::deliver);
            }),
        event(
            "DISCONNECTED is lost",
            "required_M04_aDisconnectIsToldToBothSidesOnce",
            "disconnected",
            (broken, event) -> {}),
        event(
            "a reject is lost",
            "required_C02_whereNobodyListensAConnectFails",
            "rejected",
            (broken, event) -> {}),
        held(
            "a request is delivered after the end of its listener",
            "required_C05_theEndOfAListenerIsABarrier",
            Fault.REQUEST,
            Verb.DESTROY_LISTENER),
        held(
            "the end of an id is no barrier",
            "required_T09_theEndOfAnIdIsABarrier",
            "disconnected",
            Verb.DESTROY_ID),
        verb(
            "the backlog has no end",
            "required_C02_moreThanTheBacklogAreRefused",
            Verb.LISTEN,
            (broken, call) -> {
              call.arguments[1] = 1 << 20;
              return call.proceed();
            }),
        mistake(
            "requests end with their listener",
            "required_C05_aRequestOutlivesItsListener",
            behind ->
                new Broken(behind) {
                  private boolean ended;

                  @Override
                  Object onVerb(final Call call) {
                    ended |= call.verb == Verb.DESTROY_LISTENER;
                    if (call.verb == Verb.ACCEPT && ended) {
                      throw new VerbsException("accept", "request", VerbsException.EINVAL, "gone");
                    }
                    return call.proceed();
                  }
                }),
        mistake(
            "a closed id that is disconnected throws",
            "required_R02_whatIsClosedTwiceOrLateHasNoEffect",
            behind ->
                new Broken(behind) {
                  private final Set<Hooked> closed = new HashSet<>();

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.DISCONNECT && closed.contains(call.self)) {
                      throw new VerbsException("disconnect", "id", VerbsException.EINVAL, "gone");
                    }
                    if (call.verb == Verb.DESTROY_ID) {
                      closed.add(call.self);
                    }
                    return call.proceed();
                  }
                }),
        mistake(
            "an id owns its queue pair",
            "required_C01_aQueuePairMayBeClosedBeforeItsId",
            behind ->
                new Broken(behind) {
                  private final Set<Hooked> owned = new HashSet<>();

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.DESTROY_QP && owned.contains(call.self)) {
                      throw new VerbsException("destroy_qp", "qp", VerbsException.EBUSY, "an id");
                    }
                    if (call.verb == Verb.CONNECT) {
                      owned.add(hooked(call.arguments[0]));
                    } else if (call.verb == Verb.DESTROY_ID) {
                      owned.clear();
                    }
                    return call.proceed();
                  }
                }),
        mistake(
            "to notify of what is established establishes it again",
            "required_M02_toNotifyOfWhatIsEstablishedHasNoEffect",
            behind ->
                new Broken(behind) {
                  private final Map<Hooked, Event> established = new HashMap<>();

                  @Override
                  void onEvent(final Event event) {
                    if (event.name.equals("established")) {
                      established.put(event.source, event);
                    }
                    event.deliver();
                  }

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.RDMA_NOTIFY) {
                      later(established.get(call.self)::deliver);
                    }
                    return call.proceed();
                  }
                }),
        event(
                "events of connections are delivered outside of the channel",
                "required_P05_eventsOfConnectionsComeInsideAwaitToo",
                Fault.CM,
                (broken, event) -> new Thread(event::deliver).start())
            .withModel("delivery=channel")
            .withThreads(),
        verb(
            "reads are not negotiated down to those of who accepts",
            "required_C06_readsAreNegotiatedDownToWhatBothSidesHave",
            Verb.ACCEPT,
            (broken, call) -> {
              final CmParameters of = (CmParameters) call.arguments[1];
              call.arguments[1] =
                  new CmParameters(of.privateData(), 3, 3, of.retryCount(), of.rnrRetryCount());
              return call.proceed();
            }),
        verb(
            "a peer answers reads though it was to answer none",
            "required_C06_noReadSucceedsWhereNoneWereNegotiated",
            (broken, call) -> {
              final int at = call.verb == Verb.CONNECT ? 3 : 1;
              if (call.verb == Verb.CONNECT || call.verb == Verb.ACCEPT) {
                final CmParameters of = (CmParameters) call.arguments[at];
                call.arguments[at] =
                    new CmParameters(
                        of.privateData(),
                        Math.max(1, of.readsIn()),
                        Math.max(1, of.readsOut()),
                        of.retryCount(),
                        of.rnrRetryCount());
              }
              return call.proceed();
            }),
        verb(
            "retries without a receive never end",
            "required_C06_aMessageWithoutAReceiveFailsAfterItsRetries",
            Verb.CONNECT,
            (broken, call) -> {
              final CmParameters parameters = (CmParameters) call.arguments[3];
              call.arguments[3] = with(parameters, new byte[0], 7);
              return call.proceed();
            }));
  }

  /** A request with one element, which is shorter. */
  static SendRequest shortened(final SendRequest of, final int most) {
    if (of.sgeCount() == 1 && of.sgeLength(0) > most) {
      final long address = of.sgeAddress(0);
      final int lkey = of.sgeLkey(0);
      of.clearSge();
      of.addSge(address, most, lkey);
    }
    return of;
  }

  /** Wrong in each single request that is posted to a send queue. */
  static Mistake request(
      final String name, final String finds, final Consumer<SendRequest> change) {
    return verb(
        name,
        finds,
        Verb.POST_SEND,
        (broken, call) -> {
          if (call.arguments[0] instanceof SendRequest request) {
            change.accept(request);
          }
          return call.proceed();
        });
  }

  /** Wrong in the rights of regions. */
  static Mistake rights(
      final String name, final String finds, final UnaryOperator<Set<Access>> change) {
    return verb(
        name,
        finds,
        Verb.REG_MR,
        (broken, call) -> {
          @SuppressWarnings("unchecked")
          final Set<Access> access = (Set<Access>) call.arguments[2];
          call.arguments[2] = change.apply(access);
          return call.proceed();
        });
  }

  static Set<Access> with(final Set<Access> access, final Access more) {
    final Set<Access> all = EnumSet.of(more);
    all.addAll(access);
    return all;
  }

  /** What is declared or told, and is not so. */
  private static List<Mistake> limits() {
    return List.of(
        verb(
            "writes with immediate data are declared, and refused",
            "required_D01_aWriteWithImmediateTakesAReceive",
            Verb.POST_SEND,
            (broken, call) ->
                call.arguments[0] instanceof SendRequest request
                        && request.opcode == WrOpcode.RDMA_WRITE_WITH_IMM
                    ? VerbsException.EINVAL
                    : call.proceed()),
        verb(
            "atomics are declared, and refused",
            "required_D01_aFetchAndAddReturnsTheOldValueAndAdds",
            Verb.POST_SEND,
            (broken, call) ->
                call.arguments[0] instanceof SendRequest request
                        && request.opcode == WrOpcode.ATOMIC_FETCH_AND_ADD
                    ? VerbsException.EOPNOTSUPP
                    : call.proceed()),
        verb(
            "a resize of shared queues is declared, and refused",
            "required_P02_aResizeDoesAsDeclared",
            Verb.RESIZE_SRQ,
            (broken, call) -> {
              throw VerbsException.unsupported("modify_srq", "srq");
            }),
        verb(
            "windows are told of, and there are none",
            "required_P02_thereAreWindowsAsTheLimitsSay",
            Verb.ALLOC_MW,
            (broken, call) -> {
              throw VerbsException.unsupported("alloc_mw", "device");
            }));
  }

  /** Replaces the handler of a connect, its last argument. */
  private static Mistake handler(
      final String name, final String finds, final UnaryOperator<CmHandler> change) {
    return verb(
        name,
        finds,
        Verb.CONNECT,
        (broken, call) -> {
          call.arguments[4] = change.apply((CmHandler) call.arguments[4]);
          return call.proceed();
        });
  }

  /** Wrong where it is seldom looked. */
  private static List<Mistake> subtle() {
    return List.of(
        mistake(
            "a send completes when it is sent",
            "required_C06_aMessageThatNobodyTookIsNotComplete",
            behind ->
                new Broken(behind) {
                  private final Map<Object, Object> sendCqs = new HashMap<>();
                  private final Map<Object, List<Entry>> sent = new HashMap<>();

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.CREATE_QP) {
                      final Object cq = ((QpAttributes) call.arguments[0]).sendCq();
                      final Object qp = call.proceed();
                      sendCqs.put(qp, cq);
                      return qp;
                    }
                    if (call.arguments.length == 1
                        && call.arguments[0] instanceof SendRequest request
                        && request.opcode == WrOpcode.SEND) {
                      final QueuePair qp = (QueuePair) call.self.proxy;
                      request.signaled = false;
                      sent.computeIfAbsent(sendCqs.get(qp), cq -> new ArrayList<>())
                          .add(
                              new Entry(
                                  request.wrId,
                                  WcStatus.SUCCESS,
                                  WcOpcode.SEND,
                                  0,
                                  qp.number(),
                                  false,
                                  0,
                                  false));
                    }
                    final List<Entry> early = sent.get(call.self.proxy);
                    return call.verb == Verb.POLL_CQ && early != null && !early.isEmpty()
                        ? polled(call, entries -> List.of(early.remove(0)))
                        : call.proceed();
                  }
                }),
        mistake(
            "a write behind one that failed is carried out",
            "required_E02_nothingBehindAFailureIsCarriedOut",
            behind ->
                new Broken(behind) {
                  private final Map<MemoryRegion, ByteBuffer> regions = new HashMap<>();
                  private final Map<Long, Integer> writes = new HashMap<>();

                  @Override
                  Object onVerb(final Call call) {
                    if (call.arguments.length == 1
                        && call.arguments[0] instanceof SendRequest request
                        && request.opcode == WrOpcode.RDMA_WRITE) {
                      writes.put(request.wrId, request.rkey);
                    }
                    final Object result =
                        Broken.polls(call)
                            ? polled(call, entries -> entries.stream().map(this::late).toList())
                            : call.proceed();
                    if (call.verb == Verb.REG_MR) {
                      regions.put((MemoryRegion) result, (ByteBuffer) call.arguments[1]);
                    }
                    return result;
                  }

                  private Entry late(final Entry entry) {
                    final Integer rkey = writes.get(entry.wrId());
                    if (entry.status() == WcStatus.WR_FLUSH_ERR && rkey != null) {
                      regions.forEach(
                          (region, buffer) -> {
                            if (region.rkey() == rkey) {
                              buffer.put(0, (byte) 0);
                            }
                          });
                    }
                    return entry;
                  }
                }),
        mistake(
            "a message that waits for its peer is not flushed",
            "required_T03_whatWaitsForThePeerIsFlushed",
            behind ->
                new Broken(behind) {
                  private final Set<Long> waiting = new HashSet<>();

                  @Override
                  Object onVerb(final Call call) {
                    if (call.arguments.length == 1
                        && call.arguments[0] instanceof SendRequest request
                        && request.opcode == WrOpcode.SEND) {
                      waiting.add(request.wrId);
                    }
                    return Broken.polls(call)
                        ? polled(
                            call,
                            entries ->
                                entries.stream()
                                    .filter(
                                        entry ->
                                            entry.status() != WcStatus.WR_FLUSH_ERR
                                                || !waiting.contains(entry.wrId()))
                                    .toList())
                        : call.proceed();
                  }
                }),
        handler(
            "the id is wrapped for each event",
            "required_C02_aConnectionIsEstablishedOnBothSidesOnce",
            handler ->
                (id, type, status, data) ->
                    handler.onCmEvent(
                        (CmId)
                            Proxy.newProxyInstance(
                                ProviderMistakes.class.getClassLoader(),
                                new Class<?>[] {CmId.class},
                                (self, method, arguments) ->
                                    switch (method.getName()) {
                                      case "equals" -> self == arguments[0];
                                      case "hashCode" -> System.identityHashCode(self);
                                      default -> method.invoke(id, arguments);
                                    }),
                        type,
                        status,
                        data)),
        handler(
            "an event without private data has null",
            "required_M04_aDisconnectIsToldToBothSidesOnce",
            handler ->
                (id, type, status, data) ->
                    handler.onCmEvent(id, type, status, data.hasRemaining() ? data : null)));
  }

  private static List<Mistake> transfers() {
    return List.of(
        request(
            "a message has 64 KiB at most",
            "required_D01_longMessagesArriveWhole",
            request -> shortened(request, 1 << 16)),
        mistake(
            "a read completes after what is behind it",
            "required_E02_completionsOfAllKindsKeepTheOrderOfTheirPosts",
            behind ->
                new Broken(behind) {
                  private final List<Entry> reads = new ArrayList<>();

                  @Override
                  Object onVerb(final Call call) {
                    return Broken.polls(call) ? polled(call, this::readsLast) : call.proceed();
                  }

                  private List<Entry> readsLast(final List<Entry> entries) {
                    final List<Entry> now = new ArrayList<>();
                    for (final Entry entry : entries) {
                      if (!entry.isError() && entry.opcode() == WcOpcode.RDMA_READ) {
                        reads.add(entry);
                      } else {
                        now.add(entry);
                        now.addAll(reads);
                        reads.clear();
                      }
                    }
                    return now;
                  }
                }),
        mistake(
            "a fenced message overtakes a read",
            "required_D01_aFencedMessageSendsWhatAReadBrought",
            behind ->
                new Broken(behind) {
                  private Call read;

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb != Verb.POST_SEND
                        || !(call.arguments[0] instanceof SendRequest request)) {
                      return call.proceed();
                    }
                    if (request.opcode == WrOpcode.RDMA_READ && read == null) {
                      read = call;
                      later(this::carryOut);
                      return 0;
                    }
                    final Object errno = call.proceed();
                    carryOut();
                    return errno;
                  }

                  private void carryOut() {
                    if (read != null) {
                      read.proceed();
                      read = null;
                    }
                  }
                }),
        rights(
            "a receive writes whatever the rights",
            "required_D02_aReceiveIntoMemoryThatMayNotBeWrittenFails",
            access -> with(access, Access.LOCAL_WRITE)),
        rights(
            "a read writes whatever the rights",
            "required_D02_aReadIntoMemoryThatMayNotBeWrittenFailsHere",
            access -> with(access, Access.LOCAL_WRITE)),
        mistake(
            "all domains are one",
            "required_D02_aSendOfAnotherDomainFailsHere",
            behind ->
                new Broken(behind) {
                  private final Map<Hooked, Object> domains = new HashMap<>();

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.REG_MR) {
                      call.arguments[0] =
                          domains.computeIfAbsent(call.self, device -> call.arguments[0]);
                    }
                    return call.proceed();
                  }
                }),
        rights(
            "who may write may do atomics",
            "required_D02_anAtomicWithoutTheRightIsRefused",
            access ->
                access.contains(Access.REMOTE_WRITE) ? with(access, Access.REMOTE_ATOMIC) : access),
        request(
            "an address of an atomic is rounded",
            "required_D02_anAtomicThatIsNotAlignedIsRefused",
            request -> {
              if (request.opcode == WrOpcode.ATOMIC_FETCH_AND_ADD) {
                request.remoteAddress &= -Long.BYTES;
              }
            }),
        mistake(
            "an add is lost to another queue pair's",
            "required_D01_atomicsOfTwoQueuePairsAreAtomic",
            behind ->
                new Broken(behind) {
                  private int adds;

                  @Override
                  Object onVerb(final Call call) {
                    if (call.arguments.length == 1
                        && call.arguments[0] instanceof SendRequest request
                        && request.opcode == WrOpcode.ATOMIC_FETCH_AND_ADD
                        && ++adds % 10 == 0) {
                      request.compareAdd = 0;
                    }
                    return call.proceed();
                  }
                }),
        mistake(
            "a closed shared queue looks like a full one",
            "required_R02_aSharedQueueThatIsClosedRefuses",
            behind ->
                new Broken(behind) {
                  private final Set<Hooked> closed = new HashSet<>();

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.DESTROY_SRQ) {
                      closed.add(call.self);
                    }
                    return call.verb == Verb.POST_SRQ_RECV && closed.contains(call.self)
                        ? VerbsException.ENOMEM
                        : call.proceed();
                  }
                }),
        verb(
            "an unsignaled success completes",
            "required_D05_anUnsignaledSuccessIsSilent",
            Verb.POST_SEND,
            (broken, call) -> {
              if (call.arguments[0] instanceof SendRequest request) {
                request.signaled = true;
              }
              return call.proceed();
            }),
        each(
            "the length of a receive is that of its buffer",
            "required_D01_aMessageArrives",
            entry -> entry.isError() ? entry : entry.withByteLength(128)),
        each(
            "immediate data is turned",
            "required_D01_immediateDataArrivesUnchanged",
            entry -> entry.withImmediate(Integer.reverseBytes(entry.immediate()))),
        verb(
            "rights of a region are not looked at",
            "required_D02_aWriteWithoutTheRightIsRefused",
            Verb.REG_MR,
            (broken, call) -> {
              call.arguments[2] = EnumSet.allOf(Access.class);
              return call.proceed();
            }),
        mistake(
            "keys live on after their region",
            "required_D02_theKeyOfAClosedRegionIsDead",
            behind ->
                new Broken(behind) {
                  private final List<Call> closed = new ArrayList<>();

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.DEREG_MR) {
                      closed.add(call);
                      return null;
                    }
                    if (call.verb == Verb.DEALLOC_PD) {
                      closed.forEach(Call::proceed);
                      closed.clear();
                    }
                    return call.proceed();
                  }
                }),
        event(
            "the last receive is not reported",
            "required_P02_theLastReceiveIsReportedAsDeclared",
            Fault.ASYNC,
            (broken, event) -> {}),
        event(
            "a watermark is reported twice",
            "required_T13_theWatermarkIsReportedOncePerArm",
            Fault.ASYNC,
            (broken, event) -> {
              event.deliver();
              event.deliver();
            }));
  }

  /** Wrong in what it refuses: it is said to be done. */
  static Mistake taken(
      final String name, final String finds, final Verb which, final Object result) {
    return verb(
        name,
        finds,
        which,
        (broken, call) -> {
          final Object right = swallow(call);
          return right == null || !right.equals(0) ? result : right;
        });
  }

  /** Has what is done by a verb of some requests done a while later. */
  private static Mistake late(
      final String name, final String finds, final Predicate<SendRequest> which) {
    return verb(
        name,
        finds,
        Verb.POST_SEND,
        (broken, call) -> {
          if (call.arguments[0] instanceof SendRequest request && which.test(request)) {
            call.arguments[0] = new SendRequest(request.sgeCount()).set(request);
            broken.later(call::proceed);
            return 0;
          }
          return call.proceed();
        });
  }

  /** Wrong in data, and in asynchronous events. */
  private static List<Mistake> overtaking() {
    return List.of(
        late(
            "a message overtakes the write before it",
            "required_D01_aMessageBehindAWriteFindsItDone",
            request -> request.opcode == WrOpcode.RDMA_WRITE),
        late(
            "inline data is read when it is sent",
            "required_T11_inlineDataIsCopiedByThePost",
            request -> request.inline),
        mistake(
            "more inline data is taken than was told",
            "required_T11_moreInlineDataThanItTakesIsRefused",
            behind ->
                new Broken(behind) {
                  private final IdentityHashMap<Object, Object> told = new IdentityHashMap<>();

                  @Override
                  Object onVerb(final Call call) {
                    for (int i = 0; i < call.arguments.length; i++) {
                      call.arguments[i] = told.getOrDefault(call.arguments[i], call.arguments[i]);
                    }
                    final Object result = call.proceed();
                    return call.verb == Verb.CREATE_QP ? told((QueuePair) result) : result;
                  }

                  private Object told(final QueuePair qp) {
                    final Object proxy =
                        Proxy.newProxyInstance(
                            ProviderMistakes.class.getClassLoader(),
                            new Class<?>[] {QueuePair.class},
                            (self, method, arguments) ->
                                switch (method.getName()) {
                                  case "maxInline" -> 16;
                                  case "equals" -> self == arguments[0];
                                  default -> method.invoke(qp, arguments);
                                });
                    told.put(proxy, qp);
                    return proxy;
                  }
                }),
        mistake(
            "an asynchronous event comes after the end of its queue pair",
            "required_T07_noAsynchronousEventComesAfterTheEndOfItsObject",
            behind ->
                new Broken(behind) {
                  private final Map<Hooked, Event> held = new HashMap<>();

                  @Override
                  void onEvent(final Event event) {
                    if (event.kind.equals(Fault.ASYNC)) {
                      held.put(event.source, event);
                    } else {
                      event.deliver();
                    }
                  }

                  @Override
                  Object onVerb(final Call call) {
                    final Object result = call.proceed();
                    if (call.verb == Verb.DESTROY_QP && held.containsKey(call.self)) {
                      later(held.remove(call.self)::deliver);
                    }
                    return result;
                  }
                }),
        event(
                "the handler of an asynchronous event is called by nobody who is waited for",
                "required_T07_theDestructionWaitsForTheHandlerOfAnAsynchronousEvent",
                Fault.ASYNC,
                (broken, event) -> new Thread(event::deliver).start())
            .withThreads(),
        verb(
            "a watermark is reported one receive too early",
            "required_T13_theWatermarkIsReportedBelowItAndAgainWhenArmedAgain",
            Verb.MODIFY_SRQ,
            (broken, call) -> {
              call.arguments[0] = (Integer) call.arguments[0] + 1;
              return call.proceed();
            }),
        mistake(
            "a watermark is armed once",
            "required_T13_theWatermarkIsReportedBelowItAndAgainWhenArmedAgain",
            behind ->
                new Broken(behind) {
                  private boolean armed;

                  @Override
                  Object onVerb(final Call call) {
                    final boolean again = armed && call.verb == Verb.MODIFY_SRQ;
                    armed |= call.verb == Verb.MODIFY_SRQ;
                    return again ? null : call.proceed();
                  }
                }));
  }

  /** A provider without one. */
  public static VerbsProvider none(final VerbsProvider behind) {
    return new Broken(behind);
  }

  /** No mistake, and room for few objects. */
  public static VerbsProvider narrow(final VerbsProvider behind) {
    return LimitMistakes.narrow(behind);
  }

  /** No mistake, and whether a hint armed is not told. */
  public static VerbsProvider reticent(final VerbsProvider behind) {
    return LimitMistakes.reticent(behind);
  }

  /** All of them. */
  public static Stream<Mistake> all() {
    return Stream.of(
            arming(),
            completions(),
            ends(),
            connections(),
            transfers(),
            limits(),
            subtle(),
            overtaking(),
            RefusalMistakes.all(),
            PlainMistakes.all(),
            LimitMistakes.all(),
            WindowMistakes.all())
        .flatMap(List::stream);
  }
}
