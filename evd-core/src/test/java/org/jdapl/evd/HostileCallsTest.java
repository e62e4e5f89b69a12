package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.lang.reflect.RecordComponent;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.jdapl.dat.Cno;
import org.jdapl.dat.CommonServicePoint;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointParameters;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.NotifyHandler;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.dat.ReservedServicePoint;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Segments;
import org.jdapl.dat.SharedReceiveQueue;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.junit.jupiter.api.Test;

/**
 * Calls every method of the API with whatever can be given to it, on objects in whatever state: it
 * returns, or throws a {@link DatException} that names the object and the argument. {@code
 * -Djdapl.seed=N} plays one seed again and prints its calls.
 */
class HostileCallsTest {

  private static final int CASES = 200_000;
  private static final int CALLS_OF_A_SEED = 500;

  /** Handlers call, too, but not without end. */
  private static final int CALLS_IN_HANDLERS = 100;

  private static final List<Class<? extends DatObject>> TYPES =
      List.of(
          InterfaceAdapter.class,
          Evd.class,
          Cno.class,
          ProtectionZone.class,
          Lmr.class,
          SharedReceiveQueue.class,
          Endpoint.class,
          PublicServicePoint.class,
          ReservedServicePoint.class,
          CommonServicePoint.class,
          ConnectionRequest.class);

  private static final List<Method> METHODS =
      TYPES.stream()
          .flatMap(type -> Arrays.stream(type.getMethods()))
          .filter(method -> !Modifier.isStatic(method.getModifiers()))
          .distinct()
          .sorted(Comparator.comparing(Method::toString))
          .toList();

  @Test
  void required_R01_whateverIsGivenToAMethodItReturnsOrNamesTheArgument() {
    final Long only = Long.getLong("jdapl.seed");
    if (only != null) {
      new Run(only, true).play();
      return;
    }
    for (int seed = 0; seed < CASES / CALLS_OF_A_SEED; seed++) {
      new Run(seed, false).play();
    }
  }

  @Test
  void shouldCallEachMethodOfEachObject() {
    assertThat(METHODS)
        .extracting(method -> method.getDeclaringClass().getSimpleName() + "." + method.getName())
        .contains("Evd.await", "Endpoint.modify", "ConnectionRequest.handoff");
  }

  /** The calls of one seed, on virtual time. */
  private static final class Run {

    private final long seed;
    private final boolean printed;
    private final Random random;
    private final SimFabric fabric;
    private final Jdapl jdapl;
    private final List<DatObject> objects = new ArrayList<>();
    private int ofHandlers = CALLS_IN_HANDLERS;
    private int depth;

    Run(final long seed, final boolean printed) {
      this.seed = seed;
      this.printed = printed;
      random = new Random(seed);
      fabric = SimFabric.virtual(seed);
      jdapl = Jdapl.with(fabric.provider(SimModel.DEFAULT)).clock(fabric.clock()).byHand().start();
    }

    void play() {
      populate();
      for (int i = 0; i < CALLS_OF_A_SEED; i++) {
        call();
        if (random.nextInt(4) == 0) {
          jdapl.runUntil(() -> false, Duration.ofNanos(random.nextInt(100_000)));
        }
      }
      for (final DatObject object : List.copyOf(objects)) { // handlers add some
        if (object instanceof InterfaceAdapter adapter) {
          adapter.closeAbruptly(Duration.ofSeconds(5));
        }
      }
      jdapl.close();
    }

    /** Two adapters with a connection between them, and one object of each type. */
    private void populate() {
      final InterfaceAdapter a = jdapl.open();
      final InterfaceAdapter b = jdapl.open();
      for (final InterfaceAdapter adapter : List.of(a, b)) {
        final Evd evd =
            adapter.createEvd(
                64,
                EventStream.DTO,
                EventStream.CONNECTION,
                EventStream.CONNECTION_REQUEST,
                EventStream.SOFTWARE);
        final ProtectionZone pz = adapter.createPz();
        final EndpointAttributes attributes = EndpointAttributes.defaults().withMaxDtos(4, 4);
        final Endpoint endpoint = adapter.createEndpoint(pz, evd, attributes);
        final PublicServicePoint psp = adapter.createPsp(evd);
        objects.addAll(
            List.of(
                adapter,
                evd,
                adapter.asyncEvd(),
                adapter.createCno(),
                pz,
                pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values()),
                endpoint,
                adapter.createEndpoint(pz, evd, attributes),
                adapter.createSrq(pz, 4, 1),
                psp,
                adapter.createCsp(new InetSocketAddress(adapter.address(), 0), evd),
                adapter.createRsp(
                    adapter == a ? 7 : 8, adapter.createEndpoint(pz, evd, attributes), evd)));
        if (adapter == b) {
          evd.upcall(handler());
          endpoint.connect(a.address(), 7, Duration.ofSeconds(1), null);
        }
      }
    }

    /** One call of a method with arguments that fit its types, and nothing else. */
    private void call() {
      final Method method = METHODS.get(random.nextInt(METHODS.size()));
      final DatObject object = some(method.getDeclaringClass());
      if (object == null
          || (object instanceof InterfaceAdapter
              && method.getName().startsWith("close")
              && random.nextInt(50) != 0)) {
        return;
      }
      final Object[] arguments =
          Arrays.stream(method.getGenericParameterTypes())
              .map(type -> argument(type instanceof Class<?> plain ? plain : Object.class))
              .toArray();
      final String what =
          "seed "
              + seed
              + ": "
              + object
              + "."
              + method.getName()
              + Arrays.stream(arguments)
                  .map(
                      argument ->
                          argument instanceof Object[] all ? Arrays.toString(all) : argument)
                  .map(String::valueOf)
                  .collect(Collectors.joining(", ", "(", ")"));
      if (printed) {
        System.out.println(what);
      }
      try {
        keep(method.invoke(object, arguments));
      } catch (final InvocationTargetException e) {
        check(what, object, method, e.getCause());
      } catch (final IllegalAccessException e) {
        throw new AssertionError(e);
      }
    }

    private void check(
        final String what, final DatObject object, final Method method, final Throwable thrown) {
      if (!(thrown instanceof DatException exception)) {
        fail(what + " threw", thrown);
        return;
      }
      if (exception.type() == ReturnType.INTERNAL_ERROR) {
        fail(what + " failed inside", thrown);
      }
      assertThat(exception).as(what + ": names the object").hasMessageContaining(object.name());
      if (exception.type() == ReturnType.INVALID_PARAMETER) {
        final String subtype = exception.subtype().name();
        assertThat(subtype).as(what + ": " + exception).startsWith("INVALID_ARG");
        assertThat(Integer.parseInt(subtype.substring("INVALID_ARG".length())))
            .as(what + ": " + exception)
            .isBetween(1, method.getParameterCount());
      }
    }

    private void keep(final Object result) {
      if (result instanceof DatObject object && !objects.contains(object)) {
        objects.add(object);
      } else if (result instanceof CompletionStage<?> stage) {
        final var unused = stage.handle((value, failure) -> value);
      }
    }

    private EventHandler handler() {
      return InterceptedBed.on(this::onEvent);
    }

    private void onEvent(final Event event) {
      if (event instanceof ConnectionRequestEvent request) {
        keep(request.request());
      }
      inHandler();
    }

    private void inHandler() {
      if (depth < 2 && ofHandlers > 0) {
        ofHandlers--;
        depth++;
        call();
        depth--;
      }
    }

    // Arguments.

    private <T> T one(final List<T> of) {
      return of.get(random.nextInt(of.size()));
    }

    /** An object of a type, open or closed; null if there is none. */
    private DatObject some(final Class<?> type) {
      final List<DatObject> fitting = objects.stream().filter(type::isInstance).toList();
      return fitting.isEmpty() ? null : one(fitting);
    }

    private Object argument(final Class<?> type) {
      if (type == int.class) {
        return (int) number();
      }
      if (type == long.class) {
        return number();
      }
      if (type == boolean.class) {
        return random.nextBoolean();
      }
      if (type.isArray()) {
        return array(type.getComponentType());
      }
      return random.nextInt(8) == 0 ? null : reference(type);
    }

    private Object reference(final Class<?> type) {
      if (DatObject.class.isAssignableFrom(type)) {
        return random.nextInt(20) == 0 ? foreign(type) : some(type);
      }
      if (type.isEnum()) {
        return one(Arrays.asList(type.getEnumConstants()));
      }
      if (type == EndpointParameters.class && some(Endpoint.class) instanceof Endpoint endpoint) {
        return random.nextBoolean() ? endpoint.parameters() : record(type);
      }
      if (type == EndpointAttributes.class && random.nextBoolean()) {
        return EndpointAttributes.defaults().withMaxDtos(random.nextInt(5), random.nextInt(5));
      }
      if (type.isRecord()) {
        return record(type);
      }
      if (type == Duration.class) {
        return one(
            List.of(
                Duration.ZERO,
                Duration.ofNanos(1),
                Duration.ofMillis(1),
                Duration.ofSeconds(1),
                Duration.ofNanos(-1),
                Duration.ofSeconds(Long.MIN_VALUE),
                Duration.ofSeconds(Long.MAX_VALUE)));
      }
      if (type == ByteBuffer.class) {
        return one(
            List.of(
                ByteBuffer.allocate(0),
                ByteBuffer.allocate(8),
                ByteBuffer.allocate(4096),
                ByteBuffer.allocateDirect(0),
                ByteBuffer.allocateDirect(64),
                ByteBuffer.allocateDirect(64).position(60),
                ByteBuffer.allocateDirect(8).asReadOnlyBuffer()));
      }
      if (type == EventHandler.class) {
        return handler();
      }
      if (type == NotifyHandler.class) {
        return (NotifyHandler) evd -> inHandler();
      }
      if (type == Concurrency.class) {
        return one(List.of(Concurrency.SINGLE_INSTANCE, Concurrency.many(1), Concurrency.many(3)));
      }
      if (type == Segments.class) {
        return segments();
      }
      if (type == InetAddress.class) {
        return one(
            List.of(
                InetAddress.getLoopbackAddress(),
                ((InterfaceAdapter) some(InterfaceAdapter.class)).address()));
      }
      if (type == InetSocketAddress.class) {
        return one(
            List.of(
                InetSocketAddress.createUnresolved("nowhere", 1),
                new InetSocketAddress(0),
                new InetSocketAddress(
                    ((InterfaceAdapter) some(InterfaceAdapter.class)).address(),
                    random.nextInt(65_536))));
      }
      if (type == Object.class) {
        return one(List.of("an object", 1, this));
      }
      return fail("no arguments of type " + type + " are known here");
    }

    private long number() {
      return switch (random.nextInt(8)) {
        case 0 -> random.nextLong();
        case 1 ->
            one(
                List.of(
                    -1L,
                    0L,
                    (long) Integer.MAX_VALUE,
                    (long) Integer.MIN_VALUE,
                    Long.MAX_VALUE,
                    Long.MIN_VALUE,
                    65_535L,
                    65_536L));
        case 2 -> random.nextInt(1 << 16);
        default -> random.nextInt(9);
      };
    }

    private Object array(final Class<?> of) {
      final Object array = Array.newInstance(of, random.nextInt(4));
      for (int i = 0; i < Array.getLength(array); i++) {
        Array.set(array, i, argument(of));
      }
      return random.nextInt(20) == 0 ? null : array;
    }

    private Object record(final Class<?> type) {
      final RecordComponent[] components = type.getRecordComponents();
      try {
        return type.getDeclaredConstructor(
                Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new))
            .newInstance(Arrays.stream(components).map(each -> argument(each.getType())).toArray());
      } catch (final ReflectiveOperationException e) {
        throw new LinkageError(e.getMessage(), e);
      }
    }

    private Segments segments() {
      final Segments segments = new Segments(4);
      for (int i = random.nextInt(4); i > 0; i--) {
        try {
          segments.add((Lmr) argument(Lmr.class), number(), number());
        } catch (final DatException e) {
          assertThat(e.type()).isNotEqualTo(ReturnType.INTERNAL_ERROR);
        }
      }
      return segments;
    }

    /** An object of somebody else's making. */
    private static Object foreign(final Class<?> type) {
      return Proxy.newProxyInstance(
          type.getClassLoader(),
          new Class<?>[] {type},
          (proxy, method, arguments) ->
              switch (method.getName()) {
                case "toString", "name" -> "foreign";
                case "hashCode" -> 1;
                case "equals" -> proxy == arguments[0];
                default -> null;
              });
    }
  }
}
