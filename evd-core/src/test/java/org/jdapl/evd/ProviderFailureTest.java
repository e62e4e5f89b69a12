package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.ObjectCounts;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.VerbsProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(HandBed.Closing.class)
class ProviderFailureTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  @Test
  void required_R03_aProvidersFailureKeepsItsCause() {
    final DatException refused = failToOpen(VerbsException.ENODEV);

    assertThat(refused).hasMessageContainingAll("fails", "open_device", "no such device", "fan0");
    assertThat(refused.getCause()).isInstanceOf(VerbsException.class);
    assertThat(((VerbsException) refused.getCause()).errno()).isEqualTo(VerbsException.ENODEV);
    assertThat(((VerbsException) refused.getCause()).verb()).isEqualTo("open_device");
  }

  @ParameterizedTest
  @CsvSource({
    VerbsException.ENOMEM + ", INSUFFICIENT_RESOURCES",
    VerbsException.EADDRINUSE + ", CONN_QUAL_IN_USE",
    VerbsException.EOPNOTSUPP + ", MODEL_NOT_SUPPORTED",
    VerbsException.EINVAL + ", INTERNAL_ERROR"
  })
  void required_R03_itsErrnoGivesTheType(final int errno, final ReturnType type) {
    assertThat(failToOpen(errno).type()).isEqualTo(type);
  }

  @ParameterizedTest
  @ValueSource(strings = {"post_send", "post_recv"})
  void required_R03_soDoesAPostThatTheProviderThrowsOutOf(final String verb) {
    final InterceptedBed bed = new InterceptedBed();
    bed.connected();
    bed.provider.refuse(verb);
    final DatException refused =
        catchThrowableOfType(
            DatException.class,
            () -> {
              final var unused =
                  verb.equals("post_send")
                      ? bed.endpoint.postSend(bed.lmr, 0, 8, 1)
                      : bed.endpoint.postReceive(bed.lmr, 0, 8, 1);
            });

    assertThat(refused).hasMessageContainingAll(bed.endpoint.name(), verb, "the test says no");
    assertThat(refused.getCause()).isInstanceOf(VerbsException.class);
  }

  /** Its EVD is closed: it is the adapter's event. */
  @Test
  void required_P04_aQueueThatCannotBeDestroyedIsToldOf() {
    final InterceptedBed bed = new InterceptedBed();
    bed.connected();
    final var unused = bed.endpoint.closeAsync(LONG);
    bed.settle();
    final var calls = bed.provider.refuse("destroy_cq");
    final CompletionStage<DrainReport> closed = bed.evd.closeAsync(LONG);
    bed.settle();

    bed.provider.hook = verb -> {};
    assertThat(closed.toCompletableFuture()).isCompletedWithValueMatching(DrainReport::complete);
    final List<String> told = new ArrayList<>();
    bed.ia.asyncEvd().drain(InterceptedBed.on(event -> told.add(event.toString())), 10);
    assertThat(told)
        .singleElement(STRING)
        .contains("PROVIDER_INTERNAL_ERROR", bed.evd.name(), "destroy_cq");
    assertThat(calls).contains("destroy_cq");
  }

  /** A device that had no more room for queues crashed its consumers, each of which took some. */
  @ParameterizedTest
  @CsvSource({
    "alloc_pd, dealloc_pd, RESOURCE_PROTECTION_DOMAIN",
    "reg_mr, dereg_mr, RESOURCE_MEMORY_REGION",
    "create_cq, destroy_cq, RESOURCE_TEVD",
    "create_qp, destroy_qp, RESOURCE_TEP",
    "listen, close_listener, NO_SUBTYPE"
  })
  void required_R03_aDeviceWithoutRoomIsInsufficientResourcesAndNothingIsLeft(
      final String verb, final String opposite, final ReturnSubtype subtype) {
    final InterceptedProvider provider = new InterceptedProvider();
    final Map<String, Integer> calls = new HashMap<>();
    provider.hook =
        called -> {
          if (called.equals(verb)
              && calls.getOrDefault(verb, 0) - calls.getOrDefault(opposite, 0) == 3) {
            throw new VerbsException(verb, "hooked", VerbsException.ENOMEM, "only 3");
          }
          calls.merge(called, 1, Integer::sum);
        };
    try (Jdapl jdapl = Jdapl.with(provider).clock(new HandClock()).byHand().start()) {
      final InterfaceAdapter ia = jdapl.open();
      final Deque<DatObject> opened = new ArrayDeque<>();
      for (int round = 0; round < 2; round++) { // with what was given back, it is all there again
        final DatException refused =
            catchThrowableOfType(DatException.class, () -> openAsMuchAsThereIs(ia, opened));
        assertThat(refused.type()).isEqualTo(ReturnType.INSUFFICIENT_RESOURCES);
        assertThat(refused.subtype()).isEqualTo(subtype);
        assertThat(refused).hasMessageContaining("only 3");
        assertThat(opened).hasSizeBetween(15, 19);
        while (!opened.isEmpty()) {
          opened.pop().close();
        }
        assertThat(ia.statistics().open())
            .isEqualTo(new ObjectCounts(1, 0, 0, 0, 0, 0, 0, 0, 0, 0));
      }
      ia.close();
    }

    for (final String[] pair :
        new String[][] {
          {"alloc_pd", "dealloc_pd"},
          {"reg_mr", "dereg_mr"},
          {"create_cq", "destroy_cq"},
          {"create_qp", "destroy_qp"},
          {"listen", "close_listener"}
        }) {
      assertThat(calls.get(pair[0])).as(pair[0]).isEqualTo(calls.get(pair[1])).isPositive();
    }
    assertThat(calls).containsEntry("close_device", 1);
  }

  private static void openAsMuchAsThereIs(
      final InterfaceAdapter ia, final Deque<DatObject> opened) {
    for (int service = 1; ; service++) {
      final ProtectionZone pz = ia.createPz();
      opened.push(pz);
      opened.push(pz.createLmr(ByteBuffer.allocateDirect(8), Privilege.LOCAL_READ));
      final Evd evd =
          ia.createEvd(32, EventStream.DTO, EventStream.CONNECTION, EventStream.CONNECTION_REQUEST);
      opened.push(evd);
      opened.push(ia.createEndpoint(pz, evd, EndpointAttributes.defaults()));
      opened.push(ia.createPsp(service, evd));
    }
  }

  static Stream<Arguments> verbsOfOpen() {
    return Stream.of("open_device", "on_async")
        .flatMap(verb -> Stream.of(Unexpected.values()).map(kind -> Arguments.of(verb, kind)));
  }

  @ParameterizedTest
  @MethodSource("verbsOfOpen")
  void required_R01_anOpenThatTheProviderThrowsOutOfLeavesNothing(
      final String verb, final Unexpected failure) {
    final InterceptedProvider provider = new InterceptedProvider();
    try (Jdapl jdapl = Jdapl.with(provider).clock(new HandClock()).byHand().capacity(2).start()) {
      final List<String> done = new ArrayList<>();
      provider.hook =
          called -> {
            done.add(called);
            if (called.equals(verb)) {
              failure.accept(verb);
            }
          };
      for (int i = 0; i < 3; i++) { // more than it has room for
        final DatException refused = catchThrowableOfType(DatException.class, jdapl::open);
        assertThat(refused.type()).isEqualTo(ReturnType.INTERNAL_ERROR);
        assertThat(refused).hasMessageContainingAll("hooked", verb);
        assertThat(refused.getCause()).hasMessageContaining("as the test says");
      }
      assertThat(done.stream().filter("close_device"::equals))
          .hasSize(verb.equals("open_device") ? 0 : 3);
      provider.hook = called -> {};
      assertThat(jdapl.adapters()).isZero();
      jdapl.open().close();
    }
  }

  /** A memory error would be one; here its name cannot be made. */
  @Test
  void required_R01_anEvdThatCannotBeMadeLeavesItsRoom() throws ReflectiveOperationException {
    final Field numbers = IaImpl.class.getDeclaredField("numbers");
    numbers.setAccessible(true);
    try (Jdapl jdapl =
        Jdapl.with(new InterceptedProvider()).clock(new HandClock()).byHand().capacity(2).start()) {
      final InterfaceAdapter ia = jdapl.open();
      final Object before = numbers.get(ia);
      numbers.set(ia, null);
      assertThatThrownBy(() -> ia.createEvd(1, EventStream.SOFTWARE))
          .isInstanceOf(NullPointerException.class);
      numbers.set(ia, before);

      ia.createEvd(1, EventStream.SOFTWARE).close();
      ia.close();
    }
  }

  private static DatException failToOpen(final int errno) {
    final VerbsProvider provider =
        new VerbsProvider() {
          @Override
          public String name() {
            return "fails";
          }

          @Override
          public Device open(final String parameters, final EventChannel channel) {
            throw new VerbsException("open_device", "fan0", errno, "there is only fan1");
          }
        };
    try (Jdapl jdapl = Jdapl.with(provider).byHand().start()) {
      return catchThrowableOfType(DatException.class, jdapl::open);
    }
  }
}
