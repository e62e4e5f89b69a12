package org.jdapl.hooks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.MemoryWindow;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.SharedReceiveQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FaultPlanTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "drop notification@3",
        "drop notification@1+",
        "delay established@2=5ms; duplicate device-fatal@1",
        "refuse post_send@7=ENOMEM; refuse rdma_notify@1=EIO; misreport any@4=EIO",
        "hang destroy_qp@2; hang destroy_qp@3=20us",
        "answer connect@1=unreachable; blind poll_cq@9; surplus poll_cq@1=4",
        "invent poll_cq@4; invent poll_cq@5=-7; garble failed-completion@1",
        "overflow poll_cq@3; notify destroy_cq@1=1s; silence create_qp@2=10",
        "lose any@100; fabric post_send@12=link-down sim1",
      })
  void shouldPrintWhatItWasParsedFrom(final String text) {
    final FaultPlan plan = FaultPlan.parse(text);
    assertThat(plan).hasToString(text);
    assertThat(FaultPlan.parse(plan.toString())).isEqualTo(plan);
  }

  @Test
  void shouldIgnoreSpacesAroundFaults() {
    assertThat(FaultPlan.parse("  drop cm@1;blind   poll_cq@2 "))
        .hasToString("drop cm@1; blind poll_cq@2");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "dropp cm@1 | 'dropp cm@1': there is no 'dropp'; expected one of drop delay duplicate",
        "drop@3 | 'drop@3': expected ACTION TARGET@NTH",
        "drop cm | 'drop cm': expected ACTION TARGET@NTH",
        "drop cm@0 | 'drop cm@0': the first one is 1",
        "drop post_send@1 | 'drop' is not for 'post_send': expected one of addr-error async cm",
        "refuse cm@1=EIO | 'refuse' is not for 'cm': expected one of accept alloc_mw alloc_pd any",
        "refuse post_send@1 | 'refuse post_send@1': expected =ERRNO, one of EACCES EADDRINUSE",
        "refuse post_send@1=5 | 'refuse post_send@1=5': expected =ERRNO",
        "delay cm@1 | 'delay cm@1': expected =TIME, such as 5ms",
        "delay cm@1=5 | 'delay cm@1=5': expected =TIME, such as 5ms",
        "drop cm@1=5ms | 'drop cm@1=5ms': expected nothing after the number",
        "answer connect@1=established | expected =EVENT, one of addr-error",
        "drop cm@1;; drop cm@2 | a semicolon without a fault",
        "silence create_qp@1=x | expected nothing, or =COUNT, a number",
        "fabric any@1 | expected =TEXT",
      })
  void shouldSayWhatIsWrongAndWhatIsExpected(final String text, final String message) {
    assertThatThrownBy(() -> FaultPlan.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .message()
        .containsIgnoringCase(message);
  }

  @Test
  void shouldBeTheSamePlanForTheSameSeed() {
    for (long seed = 0; seed < 1000; seed++) {
      final FaultPlan plan = FaultPlan.random(seed, 5);
      assertThat(plan.size()).isEqualTo(5);
      assertThat(FaultPlan.random(seed, 5)).isEqualTo(plan);
      assertThat(FaultPlan.parse(plan.toString())).isEqualTo(plan);
    }
    assertThat(FaultPlan.random(1, 5)).isNotEqualTo(FaultPlan.random(2, 5));
  }

  @Test
  void shouldShrinkByOneFault() {
    final FaultPlan plan = FaultPlan.parse("drop cm@1; drop cm@2; drop cm@3");
    assertThat(plan.without(1)).hasToString("drop cm@1; drop cm@3");
    assertThat(plan.without(0).without(0).without(0)).isEqualTo(FaultPlan.NONE);
  }

  /** What a method of the SPI is that is no verb: a question, a setting, or made of other verbs. */
  private static final Set<String> NO_VERBS =
      Set.of(
          "name",
          "declaration",
          "limits",
          "address",
          "clock",
          "onAsync",
          "device",
          "capacity",
          "number",
          "capabilities",
          "maxInline",
          "length",
          "lkey",
          "rkey",
          "service",
          "remoteAddress",
          "privateData",
          "readsIn",
          "readsOut");

  @Test
  void shouldKnowEachVerbOfTheSpi() {
    final Set<Method> unknown = new HashSet<>();
    Stream.of(
            Device.class,
            ProtectionDomain.class,
            MemoryRegion.class,
            MemoryWindow.class,
            CompletionQueue.class,
            SharedReceiveQueue.class,
            QueuePair.class,
            CmListener.class,
            CmRequest.class,
            CmId.class)
        .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
        .filter(method -> !Modifier.isStatic(method.getModifiers()))
        .filter(method -> Verb.of(method) == null && !NO_VERBS.contains(method.getName()))
        .forEach(unknown::add);
    assertThat(unknown).as("verbs that cannot be named in a plan: add them to Verb").isEmpty();
    assertThat(List.of(Verb.values()))
        .allSatisfy(
            verb -> assertThat(FaultPlan.parse("refuse " + verb + "@1=EIO").faults()).hasSize(1));
  }
}
