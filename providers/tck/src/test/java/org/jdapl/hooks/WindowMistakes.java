package org.jdapl.hooks;

import static org.jdapl.hooks.ProviderMistakes.each;
import static org.jdapl.hooks.ProviderMistakes.mistake;
import static org.jdapl.hooks.ProviderMistakes.verb;
import static org.jdapl.hooks.ProviderMistakes.with;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jdapl.hooks.Broken.Entry;
import org.jdapl.hooks.ProviderMistakes.Mistake;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.BindRequest;
import org.jdapl.verbs.MemoryWindow;
import org.jdapl.verbs.MwType;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.VerbsProvider;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WrOpcode;

/** Wrong in memory windows. */
final class WindowMistakes {

  private WindowMistakes() {}

  private static Mistake bind(
      final String name, final String finds, final Consumer<BindRequest> change) {
    return verb(
        name,
        finds,
        Verb.BIND_MW,
        (broken, call) -> {
          final BindRequest request = (BindRequest) call.arguments[0];
          if (request.region != null) {
            change.accept(request);
          }
          return call.proceed();
        });
  }

  /** A device whose windows of type 2 are bound whether they are bound or not. */
  private static final class BoundAgain extends Broken {

    private final Set<Object> ofType2 = new HashSet<>();
    private final Set<Object> bound = new HashSet<>();

    BoundAgain(final VerbsProvider behind) {
      super(behind);
    }

    @Override
    Object onVerb(final Call call) {
      if (call.verb == Verb.BIND_MW) {
        final BindRequest request = (BindRequest) call.arguments[0];
        final boolean again = ofType2.contains(request.window) && !bound.add(request.window);
        if (again && request.length > 0) {
          final BindRequest unbind = new BindRequest();
          unbind.window = (MemoryWindow) hooked(request.window).behind();
          unbind.signaled = false;
          ((QueuePair) call.self.behind()).postBind(unbind);
        }
      }
      final Object result = call.proceed();
      if (call.verb == Verb.ALLOC_MW && call.arguments[1] == MwType.TYPE_2) {
        ofType2.add(result);
      }
      return result;
    }
  }

  /** A device that needs the region of a window for its unbind. */
  private static final class NeedsRegion extends Broken {

    private final boolean firstBind;
    private final Set<Object> bound = new HashSet<>();
    private boolean closed;

    NeedsRegion(final VerbsProvider behind, final boolean firstBind) {
      super(behind);
      this.firstBind = firstBind;
    }

    @Override
    Object onVerb(final Call call) {
      closed |= call.verb == Verb.DEREG_MR;
      if (call.verb == Verb.BIND_MW) {
        final BindRequest request = (BindRequest) call.arguments[0];
        final boolean isNew =
            request.length > 0 ? bound.add(request.window) : !bound.contains(request.window);
        if (request.length == 0 && (firstBind ? isNew : !isNew && closed)) {
          throw new VerbsException("bind_mw", "window", VerbsException.EINVAL, "it has no region");
        }
      }
      return call.proceed();
    }
  }

  /** A device that tells of the end of a window which goes on. */
  private static final class NotEnded extends Broken {

    private final Map<Long, Integer> told = new HashMap<>();

    NotEnded(final VerbsProvider behind) {
      super(behind);
    }

    @Override
    Object onVerb(final Call call) {
      if (call.arguments.length == 1
          && call.arguments[0] instanceof SendRequest request
          && request.opcode == WrOpcode.SEND_WITH_INV) {
        request.opcode = WrOpcode.SEND;
        told.put(9L, request.invalidateRkey);
      }
      return polls(call)
          ? polled(call, entries -> entries.stream().map(this::ended).toList())
          : call.proceed();
    }

    private Entry ended(final Entry entry) {
      final Integer rkey = entry.opcode() == WcOpcode.RECV ? told.remove(entry.wrId()) : null;
      return rkey == null ? entry : entry.withInvalidated(true, rkey);
    }
  }

  static List<Mistake> all() {
    return List.of(
        bind(
            "a window opens its region to the end",
            "required_D02_aWriteBehindTheEndOfAWindowIsRefused",
            request ->
                request.length =
                    request.region.address() + request.region.length() - request.address),
        bind(
            "a window opens its region from the start",
            "required_D02_aWriteBeforeTheStartOfAWindowIsRefused",
            request -> {
              request.length += request.address - request.region.address();
              request.address = request.region.address();
            }),
        bind(
            "a window that may be read may be written",
            "required_D02_aWindowToReadIsNotWritten",
            request -> request.access = EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE)),
        bind(
            "a window that may be written may be read",
            "required_D02_aWindowToWriteIsNotRead",
            request -> request.access = EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE)),
        bind(
            "an unsignaled bind completes",
            "required_D05_anUnsignaledBindIsSilent",
            request -> request.signaled = true),
        bind(
            "a bind that is too long is cut",
            "required_D02_aBindBehindTheEndOfTheRegionIsNotDone",
            request ->
                request.length =
                    Math.min(
                        request.length,
                        request.region.address() + request.region.length() - request.address)),
        each(
            "a bind completes as a send",
            "required_D01_aBindOpensItsPart",
            entry -> entry.opcode() == WcOpcode.BIND_MW ? entry.withOpcode(WcOpcode.SEND) : entry),
        each(
            "the end of a window is not told",
            "required_D01_aMessageEndsAWindowOfType2",
            entry ->
                entry.hasInvalidated() ? entry.withInvalidated(false, entry.immediate()) : entry),
        each(
            "the end of another window is told",
            "required_D01_aMessageEndsAWindowOfType2",
            entry ->
                entry.hasInvalidated()
                    ? entry.withInvalidated(true, entry.immediate() + 1)
                    : entry),
        mistake(
            "the end of a window is told, and it goes on",
            "required_D01_aMessageEndsAWindowOfType2",
            NotEnded::new),
        mistake(
            "an unbind before the first bind throws",
            "required_D01_anUnbindOfAWindowThatWasNeverBoundDoesNotThrow",
            behind -> new NeedsRegion(behind, true)),
        mistake(
            "an unbind throws whose region is closed",
            "required_D01_anUnbindOfAWindowWhoseRegionIsClosedDoesNotThrow",
            behind -> new NeedsRegion(behind, false)),
        mistake(
            "a window of type 2 is bound again",
            "required_D01_aWindowOfType2ThatIsBoundIsNotBoundAgain",
            BoundAgain::new),
        verb(
            "any region may be bound",
            "required_D02_aRegionWithoutTheRightIsNotBound",
            Verb.REG_MR,
            (broken, call) -> {
              @SuppressWarnings("unchecked")
              final Set<Access> access = (Set<Access>) call.arguments[2];
              call.arguments[2] = with(access, Access.MW_BIND);
              return call.proceed();
            }),
        verb(
            "windows of type 2 are of type 1",
            "required_D02_anotherQueuePairDoesNotReachThroughAWindowOfType2",
            Verb.ALLOC_MW,
            (broken, call) -> {
              call.arguments[1] = MwType.TYPE_1;
              return call.proceed();
            }),
        verb(
            "windows of type 1 are of type 2",
            "required_D02_anotherQueuePairOfTheDomainReachesThroughAWindowOfType1",
            Verb.ALLOC_MW,
            (broken, call) -> {
              call.arguments[1] = MwType.TYPE_2;
              return call.proceed();
            }),
        mistake(
            "the key of a closed window lives on",
            "required_D02_theKeyOfAClosedWindowIsDead",
            behind ->
                new Broken(behind) {
                  private final List<Call> closed = new ArrayList<>();

                  @Override
                  Object onVerb(final Call call) {
                    if (call.verb == Verb.DEALLOC_MW) {
                      closed.add(call);
                      return null;
                    }
                    if (call.verb == Verb.DEREG_MR || call.verb == Verb.DEALLOC_PD) {
                      closed.forEach(Call::proceed);
                      closed.clear();
                    }
                    return call.proceed();
                  }
                }));
  }
}
