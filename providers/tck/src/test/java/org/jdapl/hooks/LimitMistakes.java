package org.jdapl.hooks;

import static org.jdapl.hooks.ProviderMistakes.mistake;
import static org.jdapl.hooks.ProviderMistakes.verb;

import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jdapl.hooks.ProviderMistakes.Mistake;
import org.jdapl.verbs.ArmedAfterHint;
import org.jdapl.verbs.Declaration;
import org.jdapl.verbs.DeviceLimits;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.VerbsProvider;

/** Wrong in how much there may be, and in what is told of it and of objects. */
final class LimitMistakes {

  /** So many objects of each kind: low enough to be tried, and enough for all tests. */
  private static final int ROOM = 50;

  private LimitMistakes() {}

  /** A device with less room than the one behind; right, unless something is overridden. */
  private static class Narrow extends Broken {

    private static final Set<Verb> CREATE =
        EnumSet.of(
            Verb.ALLOC_PD,
            Verb.REG_MR,
            Verb.ALLOC_MW,
            Verb.CREATE_CQ,
            Verb.CREATE_SRQ,
            Verb.CREATE_QP);

    private final Set<Hooked> open = new HashSet<>();

    Narrow(final VerbsProvider behind) {
      super(behind);
    }

    @Override
    Object onVerb(final Call call) {
      if (!CREATE.contains(call.verb)) {
        final Object result = call.proceed();
        if (call.verb.destroys()) {
          destroyed(call.self);
        }
        return result;
      }
      final Class<?> type = call.method.getReturnType();
      final long held = open.stream().filter(of -> isOf(of, call.self, type)).count();
      if (held >= ROOM) {
        full(call);
      }
      final Object created = call.proceed();
      open.add(hooked(created));
      return created;
    }

    private static boolean isOf(final Hooked object, final Hooked device, final Class<?> type) {
      return object.device == device && object.type == type;
    }

    void destroyed(final Hooked object) {
      open.remove(object);
    }

    void full(final Call call) {
      throw new VerbsException(
          call.verb.toString(), "narrow", VerbsException.ENOMEM, "there are " + ROOM);
    }

    @Override
    Object onQuestion(final Call call) {
      final Object told = call.proceed();
      return told instanceof DeviceLimits limits ? narrow(limits) : told;
    }

    private static DeviceLimits narrow(final DeviceLimits of) {
      return new DeviceLimits(
          ROOM,
          of.maxQpWr(),
          of.maxSge(),
          ROOM,
          of.maxCqe(),
          ROOM,
          ROOM,
          ROOM,
          of.maxSrqWr(),
          of.maxSrqSge(),
          ROOM,
          of.maxMessageBytes(),
          of.maxReadsIn(),
          of.maxReadsOut(),
          of.connectPrivateData(),
          of.acceptPrivateData(),
          of.rejectPrivateData());
    }
  }

  /** A device with less room, without a mistake. */
  static VerbsProvider narrow(final VerbsProvider behind) {
    return new Narrow(behind);
  }

  /** A device that says of less what it does, without a mistake. */
  static VerbsProvider reticent(final VerbsProvider behind) {
    return new Broken(behind) {
      @Override
      Object onQuestion(final Call call) {
        final Object told = call.proceed();
        return told instanceof Declaration is
            ? new Declaration(
                is.armModel(),
                is.hint(),
                ArmedAfterHint.UNKNOWN,
                is.secondArm(),
                is.concurrency(),
                is.notifiesInsideVerbs(),
                is.solicited(),
                is.lastWqe(),
                is.privateData())
            : told;
      }
    };
  }

  private static Mistake unlimited(final Verb which, final String finds) {
    return mistake(
        which + " goes on where there is no room",
        finds,
        behind ->
            new Narrow(behind) {
              @Override
              void full(final Call call) {
                if (call.verb != which) {
                  super.full(call);
                }
              }
            });
  }

  private static List<Mistake> room() {
    final String objects = "required_P02_moreObjectsThanThereIsRoomForAreRefused";
    return List.of(
        unlimited(Verb.ALLOC_PD, objects),
        unlimited(Verb.REG_MR, objects),
        unlimited(Verb.CREATE_CQ, objects),
        unlimited(Verb.CREATE_SRQ, objects),
        unlimited(Verb.CREATE_QP, objects),
        unlimited(Verb.ALLOC_MW, "required_P02_moreWindowsThanThereIsRoomForAreRefused"),
        mistake(
            "where there is no room the caller is said to be wrong",
            objects,
            behind ->
                new Narrow(behind) {
                  @Override
                  void full(final Call call) {
                    throw new VerbsException("create", "narrow", VerbsException.EINVAL, "full");
                  }
                }),
        mistake(
            "room does not return with the end of an object",
            objects,
            behind ->
                new Narrow(behind) {
                  @Override
                  void destroyed(final Hooked object) {
                    // it counts for ever
                  }
                }));
  }

  /** Tells something else once a verb was called. */
  private static Mistake told(
      final String name,
      final String finds,
      final Verb since,
      final String question,
      final Object answer) {
    return mistake(
        name,
        finds,
        behind ->
            new Broken(behind) {
              private final Set<Hooked> changed = new HashSet<>();

              @Override
              Object onVerb(final Call call) {
                final Object result = call.proceed();
                if (call.verb == since) {
                  changed.add(call.self);
                }
                return result;
              }

              @Override
              Object onQuestion(final Call call) {
                return call.method.getName().equals(question) && changed.contains(call.self)
                    ? answer
                    : call.proceed();
              }
            });
  }

  private static List<Mistake> answers() {
    final String objects = "required_R02_whatIsClosedTellsTheSame";
    final String connections = "required_R02_whatIsClosedOfAConnectionTellsTheSame";
    return List.of(
        told("a closed queue pair has no number", objects, Verb.DESTROY_QP, "number", 0),
        told("a closed queue has no room", objects, Verb.DESTROY_CQ, "capacity", 0),
        told("a closed region has no local key", objects, Verb.DEREG_MR, "lkey", -1),
        told("a closed region has no remote key", objects, Verb.DEREG_MR, "rkey", -1),
        told("a closed region is nowhere", objects, Verb.DEREG_MR, "address", 0L),
        told("a closed region is empty", objects, Verb.DEREG_MR, "length", 0L),
        told("a closed device is nameless", objects, Verb.CLOSE_DEVICE, "name", ""),
        told("a closed listener has no service", connections, Verb.DESTROY_LISTENER, "service", 0L),
        told("a closed id answers no reads", connections, Verb.DESTROY_ID, "readsIn", 0),
        told("a closed id has no reads", connections, Verb.DESTROY_ID, "readsOut", 0),
        mistake(
            "what a device can is forgotten",
            "required_P02_declarationAndLimitsStayTheSame",
            behind ->
                new Broken(behind) {
                  private int asked;

                  @Override
                  Object onQuestion(final Call call) {
                    return call.method.getName().equals("capabilities") && ++asked > 1
                        ? Set.of()
                        : call.proceed();
                  }
                }),
        verb(
            "an unknown parameter is passed over",
            "required_P02_anUnknownParameterIsRefused",
            Verb.OPEN_DEVICE,
            (broken, call) -> {
              call.arguments[0] = "";
              return call.proceed();
            }),
        verb(
            "of an unknown parameter nothing is said",
            "required_P02_anUnknownParameterIsRefused",
            Verb.OPEN_DEVICE,
            (broken, call) -> {
              try {
                return call.proceed();
              } catch (final VerbsException e) {
                throw VerbsException.invalid("open_device", "sim", "the parameters are wrong");
              }
            }),
        verb(
            "a message above the limit is cut",
            "required_P02_aMessageAboveTheLimitReachesNobody",
            Verb.POST_SEND,
            (broken, call) -> {
              if (call.arguments[0] instanceof SendRequest request && request.sgeCount() > 8) {
                final SendRequest cut = new SendRequest(1).set(first(request));
                call.arguments[0] = cut;
              }
              return call.proceed();
            }));
  }

  /** A request with its first element only, and so much of that as a small receive holds. */
  private static SendRequest first(final SendRequest of) {
    final long address = of.sgeAddress(0);
    final int lkey = of.sgeLkey(0);
    of.clearSge();
    of.addSge(address, 8, lkey);
    return of;
  }

  static List<Mistake> all() {
    return Stream.of(room(), answers()).flatMap(List::stream).toList();
  }
}
