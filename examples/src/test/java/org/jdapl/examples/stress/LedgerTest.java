package org.jdapl.examples.stress;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** One poster, flow 0, and one end, flows 1 (receives) and 2 (requests). */
class LedgerTest {

  private final Account account = new Account(true);
  private final Ledger ledger = new Ledger("evd", account, 1, 1);

  private void record(final long sequence, final int kind, final int flow, final long number) {
    ledger.record(sequence, kind, flow, flow == 0 ? 0 : 1, number);
  }

  private void assertBreach(final String what) {
    assertThat(account.breaches()).singleElement().asString().contains(what);
  }

  @Test
  void shouldAcceptEventsThatAreRecordedInAnotherOrderThanTheyWereHandedOut() {
    record(2, Ledger.NUMBER, 0, 2);
    record(0, Ledger.NUMBER, 0, 0);
    assertThat(ledger.check()).isEqualTo(1);
    record(1, Ledger.NUMBER, 0, 1);

    assertThat(ledger.check()).isEqualTo(3);
    assertThat(account.breaches()).isEmpty();
  }

  @Test
  void shouldFindAnEventThatIsMissing() {
    record(0, Ledger.NUMBER, 0, 0);
    record(1, Ledger.NUMBER, 0, 2);
    assertBreach("number 2 where 1 was due");
  }

  @Test
  void shouldFindDisorder() {
    record(0, Ledger.NUMBER, 0, 1);
    assertBreach("number 1 where 0 was due");
  }

  @Test
  void shouldFindASequenceThatComesAgain() {
    record(0, Ledger.NUMBER, 0, 0);
    record(0, Ledger.NUMBER, 0, 1);
    assertBreach("sequence 0 came again");
  }

  @Test
  void shouldFindASequenceThatComesTwiceAtOnce() {
    record(1, Ledger.NUMBER, 0, 0);
    record(1, Ledger.NUMBER, 0, 1);
    assertBreach("sequence 1 came twice");
  }

  @Test
  void shouldNotMissSuppressedSuccesses() {
    record(0, Ledger.ESTABLISHED, 1, 0);
    for (int number = 0; number < 4; number++) {
      record(1 + number, Ledger.SUCCESS, 2, number);
    }
    assertThat(End.isSuppressed(4)).isTrue();
    record(5, Ledger.SUCCESS, 2, 5);
    assertThat(account.breaches()).isEmpty();
    record(6, Ledger.SUCCESS, 2, 7);
    assertBreach("number 7 where 6 was due");
  }

  @Test
  void shouldFindASuccessBeforeItsConnection() {
    record(0, Ledger.SUCCESS, 1, 0);
    assertBreach("outside of its connection");
  }

  @Test
  void shouldFindASuccessAfterTheEnd() {
    record(0, Ledger.ESTABLISHED, 1, 0);
    record(1, Ledger.TERMINAL, 1, 0);
    record(2, Ledger.NUMBER, 1, 0); // a flush may follow
    assertThat(account.breaches()).isEmpty();
    record(3, Ledger.SUCCESS, 1, 1);
    assertBreach("outside of its connection");
  }

  @Test
  void shouldFindTwoEnds() {
    record(0, Ledger.ESTABLISHED, 1, 0);
    record(1, Ledger.TERMINAL, 1, 0);
    record(2, Ledger.TERMINAL, 1, 0);
    assertBreach("ended twice");
  }

  @Test
  void shouldFindAnEventOfAnEarlierLife() {
    ledger.record(0, Ledger.NUMBER, 2, 2, 0);
    ledger.record(1, Ledger.NUMBER, 2, 1, 0);
    assertBreach("an event of a closed endpoint");
  }
}
