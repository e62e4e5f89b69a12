package org.jdapl.hooks;

import static org.jdapl.hooks.ProviderMistakes.mistake;
import static org.jdapl.hooks.ProviderMistakes.rights;
import static org.jdapl.hooks.ProviderMistakes.taken;
import static org.jdapl.hooks.ProviderMistakes.verb;
import static org.jdapl.hooks.ProviderMistakes.with;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jdapl.hooks.Broken.Entry;
import org.jdapl.hooks.ProviderMistakes.Mistake;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.VerbsException;

/** Wrong in what they refuse, and take; and in their answers to requests for connections. */
final class RefusalMistakes {

  private RefusalMistakes() {}

  /** Wrong in what is asked for, which is more or less than the caller did. */
  private static Mistake asked(
      final String name, final String finds, final UnaryOperator<QpAttributes> change) {
    return verb(
        name,
        finds,
        Verb.CREATE_QP,
        (broken, call) -> {
          call.arguments[0] = change.apply((QpAttributes) call.arguments[0]);
          return call.proceed();
        });
  }

  private static QpAttributes sized(
      final QpAttributes of, final int maxRecvWr, final int maxSendSge, final int maxRecvSge) {
    return new QpAttributes(
        of.pd(),
        of.sendCq(),
        of.recvCq(),
        of.srq(),
        of.maxSendWr(),
        maxRecvWr,
        maxSendSge,
        maxRecvSge,
        of.maxInline());
  }

  /** Wrong in what they refuse, and take. */
  private static List<Mistake> refusals() {
    return List.of(
        verb(
            "a closed device says that the arguments are wrong",
            "required_R02_aClosedDeviceCreatesNothing",
            (broken, call) -> {
              try {
                return call.proceed();
              } catch (final VerbsException e) {
                throw e.errno() == VerbsException.ENODEV
                    ? new VerbsException(e.verb(), "device", VerbsException.EINVAL, "a null")
                    : e;
              }
            }),
        verb(
            "a closed device that is to listen says that the service is taken",
            "required_R02_aClosedDeviceNeitherListensNorConnects",
            Verb.LISTEN,
            (broken, call) -> {
              try {
                return call.proceed();
              } catch (final VerbsException e) {
                throw new VerbsException("listen", "id", VerbsException.EADDRINUSE, "taken");
              }
            }),
        verb(
            "a post to a closed queue pair throws",
            "required_R02_aClosedObjectRefuses",
            Verb.POST_RECV,
            (broken, call) -> {
              final Object result = call.proceed();
              if (result.equals(VerbsException.EINVAL)) {
                throw new VerbsException("post_recv", "qp", VerbsException.EINVAL, "it is closed");
              }
              return result;
            }),
        taken(
            "a closed queue pair is moved to the error state",
            "required_R02_aClosedObjectRefuses",
            Verb.MODIFY_QP,
            null),
        taken(
            "a closed shared queue is armed",
            "required_R02_aSharedQueueThatIsClosedRefuses",
            Verb.MODIFY_SRQ,
            null),
        mistake(
                "a post reaches for a queue pair that is being closed",
                "required_R02_aQueuePairMayBeClosedWhilePostsRun",
                behind ->
                    new Broken(behind) {
                      private final Set<Hooked> ended =
                          Collections.synchronizedSet(new HashSet<>());

                      @Override
                      Object onVerb(final Call call) {
                        if (call.verb == Verb.DESTROY_QP) {
                          ended.add(call.self);
                        } else if (call.verb == Verb.POST_RECV && ended.contains(call.self)) {
                          throw new IllegalStateException("freed memory");
                        }
                        return call.proceed();
                      }
                    })
            .withThreads(),
        asked(
            "a queue pair holds fewer receives than were asked for, if that is too many",
            "required_P02_whatIsAboveALimitIsRefused",
            of -> sized(of, Math.min(of.maxRecvWr(), 1 << 15), of.maxSendSge(), of.maxRecvSge())),
        asked(
            "a request has fewer elements than were asked for, if that is too many",
            "required_P02_whatIsAboveALimitIsRefused",
            of -> sized(of, of.maxRecvWr(), Math.min(of.maxSendSge(), 32), of.maxRecvSge())),
        asked(
            "a receive has fewer elements than were asked for, if that is too many",
            "required_P02_whatIsAboveALimitIsRefused",
            of -> sized(of, of.maxRecvWr(), of.maxSendSge(), Math.min(of.maxRecvSge(), 32))),
        verb(
            "a receive of a shared queue has fewer elements, if they are too many",
            "required_P02_whatIsAboveALimitIsRefused",
            Verb.CREATE_SRQ,
            (broken, call) -> {
              call.arguments[2] = Math.min((Integer) call.arguments[2], 32);
              return call.proceed();
            }),
        rights(
            "who lets the peer write lets the memory be written",
            "required_D02_rightsToWriteNeedMemoryThatCanBeWritten",
            access ->
                access.contains(Access.REMOTE_WRITE) ? with(access, Access.LOCAL_WRITE) : access),
        verb(
            "a read-only buffer is copied, to be written",
            "required_D02_rightsToWriteNeedMemoryThatCanBeWritten",
            Verb.REG_MR,
            (broken, call) -> {
              call.arguments[1] =
                  ByteBuffer.allocateDirect(((ByteBuffer) call.arguments[1]).capacity());
              return call.proceed();
            }),
        taken(
            "a send before the connection is taken, and nobody's",
            "required_C01_aQueuePairThatIsNotConnectedTakesNoSends",
            Verb.POST_SEND,
            0),
        verb(
            "a full send queue refuses as if the request were wrong",
            "required_E05_aFullSendQueueRefusesWithEnomem",
            Verb.POST_SEND,
            (broken, call) -> {
              final Object errno = call.proceed();
              return errno.equals(VerbsException.ENOMEM) ? VerbsException.EINVAL : errno;
            }),
        verb(
            "a list is said to be posted although its end was refused",
            "required_N04_aListIsPostedAsFarAsThereIsRoom",
            Verb.POST_RECV,
            (broken, call) -> {
              final Object posted = call.proceed();
              return call.arguments.length == 2 ? call.arguments[1] : posted;
            }),
        mistake(
            "a resize drops what does not fit",
            "required_E08_aResizeLosesNoneWhereTheyDoNotFit",
            behind ->
                new Broken(behind) {
                  private final Set<Hooked> cut = new HashSet<>();

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.RESIZE_CQ && call.arguments[0].equals(1)) {
                      cut.add(call.self);
                      return null;
                    }
                    return Broken.polls(call) && cut.contains(call.self)
                        ? polled(call, of -> of.stream().filter(e -> e.wrId() == 0).toList())
                        : call.proceed();
                  }
                }),
        mistake(
                "a completion of another queue pair is written over",
                "required_E01_nothingIsLostWhereSeveralQueuePairsComplete",
                behind ->
                    new Broken(behind) {
                      private int last;

                      @Override
                      Object onVerb(final Call call) {
                        return Broken.polls(call) ? polled(call, this::kept) : call.proceed();
                      }

                      private List<Entry> kept(final List<Entry> entries) {
                        final List<Entry> kept = new ArrayList<>();
                        for (final Entry entry : entries) {
                          if (last == 0 || entry.qpNumber() == last) {
                            kept.add(entry);
                          }
                          last = entry.qpNumber();
                        }
                        return kept;
                      }
                    })
            .withThreads(),
        verb(
            "a service is cut to 16 bits where it is listened at",
            "required_C01_aServiceIsAPort",
            Verb.LISTEN,
            (broken, call) -> {
              call.arguments[0] = (Long) call.arguments[0] & 0xffff;
              return call.proceed();
            }),
        verb(
            "a service is cut to 16 bits where it is connected to",
            "required_C01_aServiceIsAPort",
            Verb.CONNECT,
            (broken, call) -> {
              call.arguments[2] = (Long) call.arguments[2] & 0xffff;
              return call.proceed();
            }));
  }

  /** Wrong in its answers to requests for connections. */
  private static List<Mistake> answers() {
    return List.of(
        verb(
            "private data of an accept that is too long is cut instead of refused",
            "required_C03_privateDataThatIsTooLongIsRefusedBeforeAnythingIsSent",
            Verb.ACCEPT,
            (broken, call) -> {
              final CmParameters of = (CmParameters) call.arguments[1];
              final int length = Math.min(196, of.privateData().remaining());
              final byte[] data = new byte[length];
              of.privateData().duplicate().get(data);
              call.arguments[1] = with(of, data, of.rnrRetryCount());
              return call.proceed();
            }),
        verb(
            "private data of a reject that is too long is cut instead of refused",
            "required_C03_privateDataThatIsTooLongIsRefusedBeforeAnythingIsSent",
            Verb.REJECT,
            (broken, call) -> {
              final ByteBuffer data = ((ByteBuffer) call.arguments[1]).duplicate();
              call.arguments[1] = data.limit(Math.min(148, data.limit()));
              return call.proceed();
            }),
        mistake(
            "the data of an accept is read when it is sent",
            "required_C03_theCallCopiesPrivateData",
            behind ->
                new Broken(behind) {
                  private ByteBuffer answer;

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.ACCEPT) {
                      answer = ((CmParameters) call.arguments[1]).privateData();
                    } else if (call.verb == Verb.CONNECT) {
                      final CmHandler of = (CmHandler) call.arguments[4];
                      call.arguments[4] =
                          (CmHandler)
                              (id, type, status, data) ->
                                  of.onCmEvent(
                                      id, type, status, answer == null ? data : answer.duplicate());
                    }
                    return call.proceed();
                  }
                }),
        verb(
            "a reject is sent when its data may have changed",
            "required_C03_theCallCopiesPrivateData",
            Verb.REJECT,
            (broken, call) -> {
              broken.later(call::proceed);
              return null;
            }),
        mistake(
            "an accept of who is gone throws",
            "required_C04_anAcceptOfWhoIsGoneEnds",
            behind ->
                new Broken(behind) {
                  private boolean gone;

                  @Override
                  Object onVerb(final Call call) {
                    gone |= call.verb == Verb.DESTROY_ID;
                    if (call.verb == Verb.ACCEPT && gone) {
                      throw new VerbsException("accept", "id", VerbsException.EINVAL, "no peer");
                    }
                    return call.proceed();
                  }
                }),
        mistake(
            "an accept that is refused uses up its request",
            "required_R02_aClosedQueuePairIsNotConnected",
            behind ->
                new Broken(behind) {
                  private final Set<Hooked> answered = new HashSet<>();

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.ACCEPT && !answered.add(call.self)) {
                      throw new VerbsException("accept", "id", VerbsException.EINVAL, "answered");
                    }
                    return call.proceed();
                  }
                }),
        mistake(
            "a reject after the accept ends the connection",
            "required_C01_aRejectAfterTheAnswerChangesNothing",
            behind ->
                new Broken(behind) {
                  private CmId accepted;

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.REJECT && accepted != null) {
                      accepted.disconnect();
                      return null;
                    }
                    final Object result = call.proceed();
                    if (call.verb == Verb.ACCEPT) {
                      accepted = (CmId) result;
                    }
                    return result;
                  }
                }),
        mistake(
            "a disconnect ends all connections of the peer",
            "required_M04_theEndOfAConnectionIsNotThatOfAnother",
            behind ->
                new Broken(behind) {
                  private final List<CmId> ids = new ArrayList<>();

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.DISCONNECT) {
                      final List<CmId> all = List.copyOf(ids);
                      ids.clear();
                      all.forEach(CmId::disconnect);
                    }
                    final Object result = call.proceed();
                    if (call.verb == Verb.CONNECT) {
                      ids.add((CmId) result);
                    }
                    return result;
                  }
                }),
        mistake(
            "receives that were posted before the connection are lost",
            "required_C01_receivesPostedBeforeTheConnectionServeIt",
            behind ->
                new Broken(behind) {
                  private boolean connected;

                  @Override
                  Object onVerb(final Call call) {
                    connected |= call.verb == Verb.CONNECT;
                    return call.verb == Verb.POST_RECV && !connected ? 0 : call.proceed();
                  }
                }));
  }

  static List<Mistake> all() {
    return Stream.of(refusals(), answers()).flatMap(List::stream).toList();
  }
}
