package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

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

  /** The ends of DAT's groups: a name that is missing or twice moves all behind it. */
  @Test
  void shouldGiveTheNumbersOfDatToTheNamesOfDat() {
    assertThat(ReturnType.PROTECTION_VIOLATION.number()).isEqualTo(0xC);
    assertThat(ReturnType.CONN_QUAL_UNAVAILABLE.number()).isEqualTo(0x14);
    assertThat(ReturnType.COMM_NOT_SUPPORTED.number()).isEqualTo(0x17);
    assertThat(ReturnSubtype.RESOURCE_SRQ.number()).isEqualTo(10);
    assertThat(ReturnSubtype.INVALID_HANDLE_CSP.number()).isEqualTo(26);
    assertThat(ReturnSubtype.INVALID_HANDLE10.number()).isEqualTo(36);
    assertThat(ReturnSubtype.INVALID_ARG10.number()).isEqualTo(46);
    assertThat(ReturnSubtype.INVALID_STATE_EP_UNCONFTENTATIVE.number()).isEqualTo(66);
    assertThat(ReturnSubtype.INVALID_STATE_EVD_ASYNC.number()).isEqualTo(79);
    assertThat(ReturnSubtype.INVALID_STATE_SRQ_IN_USE.number()).isEqualTo(87);
    assertThat(ReturnSubtype.PROTECTION_RDMA_WRITE.number()).isEqualTo(95);
    assertThat(ReturnSubtype.INVALID_ADDRESS_MALFORMED.number()).isEqualTo(98);
    assertThat(HandleType.CNO.number()).isEqualTo(9);
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
