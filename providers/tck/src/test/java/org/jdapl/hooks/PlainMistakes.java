package org.jdapl.hooks;

import static org.jdapl.hooks.ProviderMistakes.event;
import static org.jdapl.hooks.ProviderMistakes.mistake;
import static org.jdapl.hooks.ProviderMistakes.request;
import static org.jdapl.hooks.ProviderMistakes.shortened;
import static org.jdapl.hooks.ProviderMistakes.swallow;
import static org.jdapl.hooks.ProviderMistakes.taken;
import static org.jdapl.hooks.ProviderMistakes.verb;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jdapl.hooks.Broken.Entry;
import org.jdapl.hooks.ProviderMistakes.Mistake;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WrOpcode;

/** Wrong in plain sight: for the tests that no subtler mistake makes fail. */
final class PlainMistakes {

  private PlainMistakes() {}

  /** A channel that is right but for what is overridden. */
  private static class Channel implements EventChannel {

    final EventChannel right;

    Channel(final EventChannel right) {
      this.right = right;
    }

    @Override
    public int await(final long timeoutNanos) {
      return right.await(timeoutNanos);
    }

    @Override
    public void wakeup() {
      right.wakeup();
    }

    @Override
    public void close() {
      right.close();
    }
  }

  private static Mistake channel(
      final String name, final String finds, final UnaryOperator<EventChannel> wrong) {
    return mistake(
            name,
            finds,
            behind ->
                new Broken(behind) {
                  @Override
                  public EventChannel createEventChannel() {
                    return wrong.apply(super.createEventChannel());
                  }

                  @Override
                  EventChannel behind(final EventChannel channel) {
                    return ((Channel) channel).right;
                  }
                })
        .withModel("delivery=channel");
  }

  private static List<Mistake> channels() {
    return List.of(
        mistake(
            "a provider that pushes has a channel",
            "required_P05_aProviderThatPushesHasNoChannel",
            behind ->
                new Broken(behind) {
                  @Override
                  public EventChannel createEventChannel() {
                    return new Channel(null);
                  }
                }),
        event(
                "notifications come outside of the channel",
                "required_P05_handlersRunInsideAwaitOnItsCallersThread",
                Fault.NOTIFICATION,
                (broken, event) -> new Thread(event::deliver).start())
            .withModel("delivery=channel")
            .withThreads(),
        channel(
                "await counts nothing",
                "required_P05_awaitReturnsHowManyHandlersItCalled",
                right ->
                    new Channel(right) {
                      @Override
                      public int await(final long timeoutNanos) {
                        right.await(timeoutNanos);
                        return 0;
                      }
                    })
            .withThreads(),
        channel(
                "a time-out is in another unit",
                "required_P05_anAwaitOfNothingReturnsAtItsTimeOut",
                right ->
                    new Channel(right) {
                      @Override
                      public int await(final long timeoutNanos) {
                        return right.await(15 * timeoutNanos);
                      }
                    })
            .withThreads(),
        channel(
                "a wake-up that finds nobody is forgotten",
                "required_P05_aWakeUpBeforeAwaitIsNotLost",
                right ->
                    new Channel(right) {
                      private volatile boolean awaits;

                      @Override
                      public int await(final long timeoutNanos) {
                        awaits = true;
                        final int made = right.await(timeoutNanos);
                        awaits = false;
                        return made;
                      }

                      @Override
                      public void wakeup() {
                        if (awaits) {
                          right.wakeup();
                        }
                      }
                    })
            .withThreads(),
        channel(
                "an await goes on when an event came",
                "required_P05_anEventEndsAwait",
                right ->
                    new Channel(right) {
                      @Override
                      public int await(final long timeoutNanos) {
                        final long start = System.nanoTime();
                        int made = 0;
                        long left = timeoutNanos;
                        do {
                          made += right.await(left);
                          left = timeoutNanos - (System.nanoTime() - start);
                        } while (left > 0);
                        return made;
                      }
                    })
            .withThreads(),
        channel(
            "a wake-up reaches for a closed channel",
            "required_P05_aWakeUpAfterTheCloseIsLegal",
            right ->
                new Channel(right) {
                  private boolean closed;

                  @Override
                  public void wakeup() {
                    if (closed) {
                      throw new IllegalStateException("it is closed");
                    }
                    right.wakeup();
                  }

                  @Override
                  public void close() {
                    closed = true;
                    right.close();
                  }
                }));
  }

  private static List<Mistake> states() {
    return List.of(
        verb(
            "a queue is armed from the start",
            "required_A01_aQueueThatIsNotArmedIsSilent",
            Verb.CREATE_CQ,
            (broken, call) -> {
              final Object cq = call.proceed();
              ((CompletionQueue) Interposer.hooked(cq).behind()).arm(ArmKind.NEXT);
              return cq;
            }),
        verb(
                "a solicited arm is taken for another",
                "required_A06_anUnsupportedSolicitedArmIsRefused",
                Verb.REQ_NOTIFY_CQ,
                (broken, call) -> {
                  call.arguments[0] = ArmKind.NEXT;
                  return call.proceed();
                })
            .withModel("solicited=unsupported"),
        verb(
            "a connected queue pair is connected again",
            "required_C01_aConnectedQueuePairIsNotConnectedAgain",
            Verb.CONNECT,
            (broken, call) -> swallow(call)),
        verb(
            "a request is accepted twice",
            "required_C01_aRequestIsAnsweredOnce",
            Verb.ACCEPT,
            (broken, call) -> swallow(call)),
        mistake(
            "a disconnect calls an attempt back",
            "required_C01_disconnectWithoutAConnectionHasNoEffect",
            behind ->
                new Broken(behind) {
                  private final Set<Hooked> established = new HashSet<>();

                  @Override
                  void onEvent(final Event event) {
                    if (event.name.equals("established")) {
                      established.add(event.source);
                    }
                    event.deliver();
                  }

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.DISCONNECT && !established.contains(call.self)) {
                      ((CmId) call.self.behind()).close();
                      return null;
                    }
                    return call.proceed();
                  }
                }),
        verb(
            "a service that is taken is another one",
            "required_C05_aServiceIsListenedAtOnce",
            Verb.LISTEN,
            (broken, call) -> {
              try {
                return call.proceed();
              } catch (final VerbsException e) {
                call.arguments[0] = 0L;
                return call.proceed();
              }
            }),
        mistake(
            "a second close ends another queue pair",
            "required_R02_aSecondCloseDoesNotReleaseAnotherObject",
            behind ->
                new Broken(behind) {
                  private final Set<Hooked> closed = new HashSet<>();
                  private Object last;

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.DESTROY_QP && !closed.add(call.self)) {
                      ((QueuePair) Interposer.hooked(last).behind()).close();
                    }
                    final Object result = call.proceed();
                    last = call.verb == Verb.CREATE_QP ? result : last;
                    return result;
                  }
                }),
        verb(
            "objects of other devices are taken",
            "required_R02_anObjectOfAnotherDeviceIsRefused",
            Verb.CREATE_QP,
            (broken, call) -> swallow(call)),
        mistake(
            "the error state is entered once",
            "required_T01_theErrorStateMayBeEnteredTwice",
            behind ->
                new Broken(behind) {
                  private final Set<Hooked> failed = new HashSet<>();

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.MODIFY_QP && !failed.add(call.self)) {
                      throw new VerbsException("modify_qp", "qp", VerbsException.EINVAL, "ERR");
                    }
                    return call.proceed();
                  }
                }),
        mistake(
            "a disconnect flushes nothing",
            "required_T03_aDisconnectFlushesBothSides",
            behind ->
                new Broken(behind) {
                  private boolean disconnected;

                  @Override
                  Object onVerb(final Call call) {
                    disconnected |= call.verb == Verb.DISCONNECT;
                    return disconnected && polls(call)
                        ? polled(call, entries -> List.of())
                        : call.proceed();
                  }
                }),
        mistake(
            "a dead queue pair flushes the shared receives",
            "required_T04_receivesThatWereNotTakenStayForOthers",
            behind ->
                new Broken(behind) {
                  private boolean shared;
                  private boolean flushes;

                  @Override
                  Object onVerb(final Call call) {
                    shared |= call.verb == Verb.CREATE_SRQ;
                    flushes |= shared && call.verb == Verb.MODIFY_QP;
                    if (flushes && call.verb == Verb.POLL_CQ) {
                      flushes = false;
                      return polled(
                          call,
                          entries ->
                              List.of(
                                  new Entry(
                                      0, WcStatus.WR_FLUSH_ERR, null, 0, 1, false, 0, false)));
                    }
                    return call.proceed();
                  }
                }),
        mistake(
                "completions of a queue pair that is gone are in the way",
                "required_T05_completionsOfADestroyedQueuePairDoNotBlockOthers",
                behind ->
                    new Broken(behind) {
                      private final Set<Integer> gone = new HashSet<>();
                      private boolean blocked;

                      @Override
                      Object onVerb(final Call call) {
                        if (call.verb == Verb.DESTROY_QP) {
                          gone.add(((QueuePair) call.self.proxy).number());
                        }
                        return polls(call) ? polled(call, this::before) : call.proceed();
                      }

                      private List<Entry> before(final List<Entry> entries) {
                        blocked |= entries.stream().anyMatch(e -> gone.contains(e.qpNumber()));
                        return blocked ? List.of() : entries;
                      }
                    })
            .withModel("sweep=no"),
        verb(
            "a shared queue in use is destroyed",
            "required_T09_aSharedReceiveQueueInUseIsNotDestroyed",
            Verb.DESTROY_SRQ,
            (broken, call) -> swallow(call)),
        verb(
            "a domain in use is released",
            "required_T09_aDomainWithAWindowIsInUse",
            Verb.DEALLOC_PD,
            (broken, call) -> swallow(call)),
        event(
                "two events of an id are told at once",
                "required_T10_eventsOfOneIdAreSerial",
                Fault.CM,
                (broken, event) -> new Thread(event::deliver).start())
            .withThreads(),
        verb(
            "a heap buffer is copied",
            "required_T11_memoryThatCannotBeRegisteredIsRefused",
            Verb.REG_MR,
            (broken, call) -> {
              final ByteBuffer buffer = (ByteBuffer) call.arguments[1];
              if (!buffer.isDirect()) {
                call.arguments[1] = ByteBuffer.allocateDirect(buffer.capacity());
              }
              return call.proceed();
            }));
  }

  private static List<Mistake> queues() {
    return List.of(
        taken(
            "what does not fit is taken, and nobody's",
            "required_P04_moreScatterElementsThanTheQueueHasAreRefused",
            Verb.POST_RECV,
            0),
        verb(
            "a full shared queue refuses as if the request were wrong",
            "required_E05_aFullSharedQueueRefusesWithEnomem",
            Verb.POST_SRQ_RECV,
            (broken, call) -> {
              final Object errno = call.proceed();
              return errno.equals(VerbsException.ENOMEM) ? VerbsException.EINVAL : errno;
            }),
        counted(
            "room of a receive queue does not return",
            "required_E05_roomReturnsWithTheCompletion",
            Verb.POST_RECV,
            40),
        counted(
            "room of requests that are silent does not return",
            "required_D05_aSignaledCompletionFreesTheRoomOfThoseBefore",
            Verb.POST_SEND,
            40),
        mistake(
            "a resize forgets what it holds",
            "required_E08_aResizeKeepsCompletionsAndOrder",
            behind ->
                new Broken(behind) {
                  private boolean resized;

                  @Override
                  Object onVerb(final Call call) {
                    if (resized && polls(call)) {
                      resized = false;
                      return polled(call, entries -> List.of());
                    }
                    resized |= call.verb == Verb.RESIZE_CQ;
                    return call.proceed();
                  }
                }),
        mistake(
            "an error of a silent request is silent",
            "required_E01_anUnsignaledRequestThatIsFlushedCompletes",
            behind ->
                new Broken(behind) {
                  private final Set<Long> silent = new HashSet<>();

                  @Override
                  Object onVerb(final Call call) {
                    if (call.arguments.length == 1
                        && call.arguments[0] instanceof SendRequest request
                        && !request.signaled) {
                      silent.add(request.wrId);
                    }
                    return polls(call) ? polled(call, this::loud) : call.proceed();
                  }

                  private List<Entry> loud(final List<Entry> entries) {
                    return entries.stream().filter(e -> !silent.contains(e.wrId())).toList();
                  }
                }),
        verb(
            "a post keeps the request of its caller",
            "required_T11_aPostCopiesTheRequest",
            Verb.POST_SEND,
            (broken, call) -> {
              broken.later(call::proceed);
              return 0;
            }),
        verb(
            "a post keeps the receive of its caller",
            "required_T11_aPostCopiesTheRequest",
            Verb.POST_RECV,
            (broken, call) -> {
              broken.later(call::proceed);
              return 0;
            }));
  }

  /** A post is refused after so many. */
  private static Mistake counted(
      final String name, final String finds, final Verb which, final int most) {
    return mistake(
        name,
        finds,
        behind ->
            new Broken(behind) {
              private final Map<Hooked, Integer> posts = new HashMap<>();

              @Override
              Object onVerb(final Call call) {
                return call.verb == which && posts.merge(call.self, 1, Integer::sum) > most
                    ? VerbsException.ENOMEM
                    : call.proceed();
              }
            });
  }

  /** Wrong in a request, knowing all regions. */
  private static Mistake knowing(
      final String name,
      final String finds,
      final BiFunction<List<MemoryRegion>, SendRequest, SendRequest> change) {
    return mistake(
        name,
        finds,
        behind ->
            new Broken(behind) {
              private final List<MemoryRegion> regions = new ArrayList<>();

              @Override
              Object onVerb(final Call call) {
                if (call.verb == Verb.POST_SEND
                    && call.arguments[0] instanceof SendRequest request) {
                  call.arguments[0] = change.apply(regions, request);
                }
                final Object result = call.proceed();
                if (call.verb == Verb.REG_MR) {
                  regions.add((MemoryRegion) result);
                }
                return result;
              }
            });
  }

  private static MemoryRegion withRemoteKey(final List<MemoryRegion> regions, final int rkey) {
    return regions.stream().filter(region -> region.rkey() == rkey).findFirst().orElse(null);
  }

  private static MemoryRegion withLocalKey(final List<MemoryRegion> regions, final int lkey) {
    return regions.stream().filter(region -> region.lkey() == lkey).findFirst().orElse(null);
  }

  private static List<Mistake> data() {
    return List.of(
        verb(
            "a message without a receive is not tried again",
            "required_C06_aMessageWaitsForAReceiveWhereItIsRetriedForEver",
            Verb.CONNECT,
            (broken, call) -> {
              final CmParameters of = (CmParameters) call.arguments[3];
              call.arguments[3] =
                  new CmParameters(of.privateData(), of.readsIn(), of.readsOut(), 7, 0);
              return call.proceed();
            }),
        request(
            "a swap adds",
            "required_D01_aCompareAndSwapSwapsOnlyWhatIsEqual",
            request -> {
              if (request.opcode == WrOpcode.ATOMIC_CMP_AND_SWP) {
                request.opcode = WrOpcode.ATOMIC_FETCH_AND_ADD;
              }
            }),
        request(
            "a read leaves the last byte",
            "required_D01_aReadBringsThePeersBytes",
            request -> {
              if (request.opcode == WrOpcode.RDMA_READ) {
                shortened(request, (int) request.length() - 1);
              }
            }),
        request(
            "remote addresses count from 1, so what is before the start is inside",
            "required_D02_aWriteBeforeTheStartIsRefused",
            request -> request.remoteAddress += request.opcode == WrOpcode.RDMA_WRITE ? 1 : 0),
        verb(
            "an empty message is none",
            "required_D01_anEmptyMessageArrives",
            Verb.POST_SEND,
            (broken, call) ->
                call.arguments[0] instanceof SendRequest request && request.sgeCount() == 0
                    ? VerbsException.EINVAL
                    : call.proceed()),
        knowing(
            "the first element is sent only",
            "required_D01_elementsAreGatheredAndScattered",
            (regions, of) -> {
              if (of.sgeCount() < 2) {
                return of;
              }
              final SendRequest first = new SendRequest(of.sgeCount()).set(of);
              first.clearSge();
              first.addSge(of.sgeAddress(0), of.sgeLength(0), of.sgeLkey(0));
              return first;
            }),
        knowing(
            "a remote key that is not known is the last one",
            "required_D02_aWriteWithAWrongKeyIsRefused",
            (regions, of) -> {
              if (withRemoteKey(regions, of.rkey) == null && of.rkey != 0) {
                of.rkey = regions.get(regions.size() - 1).rkey();
              }
              return of;
            }),
        knowing(
            "a local key that is not known is the first one",
            "required_D02_aSendWithAWrongKeyFailsHere",
            (regions, of) -> {
              if (of.sgeCount() == 0 || withLocalKey(regions, of.sgeLkey(0)) != null) {
                return of;
              }
              final SendRequest right = new SendRequest(1).set(of);
              right.clearSge();
              right.addSge(of.sgeAddress(0), of.sgeLength(0), regions.get(0).lkey());
              return right;
            }),
        knowing(
            "a message ends with its region",
            "required_D02_aSendPastTheEndFailsHere",
            (regions, of) -> {
              final MemoryRegion region =
                  of.sgeCount() == 0 ? null : withLocalKey(regions, of.sgeLkey(0));
              return region == null
                  ? of
                  : shortened(of, (int) (region.address() + region.length() - of.sgeAddress(0)));
            }),
        knowing(
            "a write ends with the region of the peer",
            "required_D02_aWritePastTheEndIsRefused",
            (regions, of) -> {
              final MemoryRegion region = withRemoteKey(regions, of.rkey);
              return region == null || of.opcode != WrOpcode.RDMA_WRITE
                  ? of
                  : shortened(of, (int) (region.address() + region.length() - of.remoteAddress));
            }),
        request(
            "a message that is too long is cut",
            "required_D02_aMessageThatIsTooLongFailsAtBothEnds",
            request -> {
              if (request.opcode == WrOpcode.SEND) {
                shortened(request, 32);
              }
            }));
  }

  static List<Mistake> all() {
    return Stream.of(channels(), states(), queues(), data()).flatMap(List::stream).toList();
  }
}
