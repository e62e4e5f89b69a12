package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jdapl.dat.DatException;
import org.jdapl.dat.HandleType;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.junit.jupiter.api.Test;

/** DAT's numbers, which are written on the wire of other programs: their logs and their tables. */
class ReturnCodesTest {

  @Test
  void shouldHaveEachTypeOfDatInOrder() {
    final List<Integer> numbers = Stream.of(ReturnType.values()).map(ReturnType::number).toList();

    assertThat(numbers.subList(0, 0x18)).isEqualTo(upTo(0x17));
    assertThat(numbers.subList(0x18, numbers.size())).containsExactly(0x1000, 0x3FFF);
  }

  @Test
  void shouldHaveEachSubtypeOfDatInOrder() {
    assertThat(Stream.of(ReturnSubtype.values()).map(ReturnSubtype::number).toList())
        .isEqualTo(upTo(102));
  }

  @Test
  void shouldHaveEachTypeOfHandleInOrder() {
    assertThat(Stream.of(HandleType.values()).map(HandleType::number).toList()).isEqualTo(upTo(11));
  }

  private static List<Integer> upTo(final int last) {
    return IntStream.rangeClosed(0, last).boxed().toList();
  }

  /** All of them: two that changed places would be found by nothing else. */
  @Test
  void shouldGiveTheNumbersOfDatToTheNamesOfDat() {
    assertThat(Stream.of(ReturnType.values()).map(Enum::name))
        .containsExactlyElementsOf(
            names(
                "SUCCESS ABORT CONN_QUAL_IN_USE INSUFFICIENT_RESOURCES INTERNAL_ERROR"
                    + " INVALID_HANDLE INVALID_PARAMETER INVALID_STATE LENGTH_ERROR"
                    + " MODEL_NOT_SUPPORTED PROVIDER_NOT_FOUND PRIVILEGES_VIOLATION"
                    + " PROTECTION_VIOLATION QUEUE_EMPTY QUEUE_FULL TIMEOUT_EXPIRED"
                    + " PROVIDER_ALREADY_REGISTERED PROVIDER_IN_USE INVALID_ADDRESS"
                    + " INTERRUPTED_CALL CONN_QUAL_UNAVAILABLE RESERVED_LMR PORT_IN_USE"
                    + " COMM_NOT_SUPPORTED EXTENSION_BASE NOT_IMPLEMENTED"));
    assertThat(Stream.of(ReturnSubtype.values()).map(Enum::name))
        .containsExactlyElementsOf(
            names(
                "NO_SUBTYPE SUB_INTERRUPTED",
                "RESOURCE_: MEMORY DEVICE TEP TEVD PROTECTION_DOMAIN MEMORY_REGION ERROR_HANDLER"
                    + " CREDITS SRQ",
                "INVALID_HANDLE_: IA EP LMR RMR PZ PSP RSP CR CNO EVD_CR EVD_REQUEST EVD_RECV"
                    + " EVD_CONN EVD_ASYNC SRQ CSP",
                "INVALID_HANDLE: 1 2 3 4 5 6 7 8 9 10",
                "INVALID_ARG: 1 2 3 4 5 6 7 8 9 10",
                "INVALID_STATE_EP_: UNCONNECTED ACTCONNPENDING PASSCONNPENDING TENTCONNPENDING"
                    + " CONNECTED DISCONNECTED RESERVED COMPLPENDING DISCPENDING PROVIDERCONTROL"
                    + " NOTREADY RECV_WATERMARK PZ EVD_REQUEST EVD_RECV EVD_CONNECT UNCONFIGURED"
                    + " UNCONFRESERVED UNCONFPASSIVE UNCONFTENTATIVE",
                "INVALID_STATE_CNO_: IN_USE DEAD",
                "INVALID_STATE_EVD_: OPEN ENABLED DISABLED WAITABLE UNWAITABLE IN_USE"
                    + " CONFIG_NOTIFY CONFIG_SOLICITED CONFIG_THRESHOLD WAITER ASYNC",
                "INVALID_STATE_: IA_IN_USE LMR_IN_USE LMR_FREE PZ_IN_USE PZ_FREE SRQ_OPERATIONAL"
                    + " SRQ_ERROR SRQ_IN_USE",
                "PRIVILEGES_: READ WRITE RDMA_READ RDMA_WRITE",
                "PROTECTION_: READ WRITE RDMA_READ RDMA_WRITE",
                "INVALID_ADDRESS_: UNSUPPORTED UNREACHABLE MALFORMED",
                "NAME_NOT_REGISTERED MAJOR_NOT_FOUND MINOR_NOT_FOUND THREAD_SAFETY_NOT_FOUND"));
    assertThat(Stream.of(HandleType.values()).map(Enum::name))
        .containsExactlyElementsOf(names("CR EP EVD IA LMR PSP PZ RMR RSP CNO SRQ CSP"));
  }

  /** Names, each group with what they begin with before a colon. */
  private static List<String> names(final String... groups) {
    final List<String> names = new ArrayList<>();
    for (final String group : groups) {
      final int colon = group.indexOf(": ");
      final String prefix = colon < 0 ? "" : group.substring(0, colon);
      for (final String name : group.substring(colon < 0 ? 0 : colon + 2).split(" ", -1)) {
        names.add(prefix + name);
      }
    }
    return names;
  }

  @Test
  void shouldExplainEachInWordsOfItsOwn() {
    assertThat(Stream.of(ReturnType.values()).map(ReturnType::text))
        .doesNotHaveDuplicates()
        .noneMatch(String::isBlank);
    assertThat(Stream.of(ReturnSubtype.values()).map(ReturnSubtype::text))
        .doesNotHaveDuplicates()
        .noneMatch(String::isBlank);
  }

  @Test
  void shouldMakeThe32BitsOfDat() {
    assertThat(
            new DatException(
                    ReturnType.INVALID_STATE, ReturnSubtype.INVALID_STATE_EVD_WAITER, "in use")
                .code())
        .isEqualTo(0x8007004E);
    assertThat(
            new DatException(ReturnType.NOT_IMPLEMENTED, ReturnSubtype.NO_SUBTYPE, "not yet")
                .code())
        .isEqualTo(0xBFFF0000);
  }
}
