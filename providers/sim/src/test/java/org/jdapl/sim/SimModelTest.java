package org.jdapl.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ServiceLoader;
import org.jdapl.verbs.ArmHint;
import org.jdapl.verbs.ArmModel;
import org.jdapl.verbs.ArmedAfterHint;
import org.jdapl.verbs.Declaration;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.LastWqe;
import org.jdapl.verbs.NotificationConcurrency;
import org.jdapl.verbs.PrivateDataLength;
import org.jdapl.verbs.SecondArm;
import org.jdapl.verbs.SolicitedSupport;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.VerbsProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SimModelTest {

  private static final SimModel ALL =
      SimModel.DEFAULT
          .withArm(ArmModel.UNKNOWN)
          .withHint(SimModel.Hint.WITHOUT_ARM)
          .withSecondArm(SecondArm.OVERWRITES)
          .withDelivery(Delivery.CHANNEL)
          .withConcurrency(NotificationConcurrency.CONCURRENT)
          .withNotifiesInsideVerbs(true)
          .withSolicited(SolicitedSupport.NO_ERRORS)
          .withLastWqe(LastWqe.NEVER)
          .withSweepsDestroyed(true)
          .withReusesQpNumbers(false)
          .withNativePollAndRearm(false)
          .withLatency(1, 2)
          .withCmLatency(3, 3);

  @Test
  void shouldReadWhatItPrints() {
    assertThat(SimModel.parse(ALL.toString())).isEqualTo(ALL).hasSameHashCodeAs(ALL);
    assertThat(SimModel.parse("")).isEqualTo(SimModel.DEFAULT).isNotEqualTo(ALL);
    assertThat(SimModel.parse(" arm=strong\t latency=5 ").toString())
        .contains("arm=strong")
        .contains("latency=5..5");
  }

  @Test
  void shouldDeclareWhatItDoes() {
    assertThat(ALL.declaration())
        .isEqualTo(
            new Declaration(
                ArmModel.UNKNOWN,
                ArmHint.EXACT,
                ArmedAfterHint.NO,
                SecondArm.OVERWRITES,
                NotificationConcurrency.CONCURRENT,
                true,
                SolicitedSupport.NO_ERRORS,
                LastWqe.NEVER,
                PrivateDataLength.EXACT));
    assertThat(SimModel.DEFAULT.withHint(SimModel.Hint.MAYBE).declaration())
        .extracting(Declaration::hint, Declaration::armedAfterHint)
        .containsExactly(ArmHint.MAYBE, ArmedAfterHint.YES);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "arm=feeble | arm=feeble: expected one of weak, strong, unknown",
        "hint=1 | hint=1: expected one of none, exact, maybe, without-arm",
        "sweep=maybe | sweep=maybe: expected yes or no",
        "latency=9..1 | latency=9..1: expected nanoseconds",
        "latency=x | latency=x: expected nanoseconds",
        "colour=red | colour=red: no such key; there are arm, hint",
        "arm | arm=: expected one of",
      })
  void shouldNameKeyAndValueAndWhatIsAllowedWhenWrong(final String text, final String message) {
    assertThatThrownBy(() -> new SimProvider().open(text, null))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining(message);
  }

  @Test
  void shouldBeFoundByTheServiceLoader() {
    getClass().getModule().addUses(VerbsProvider.class); // the tests live in the module they test
    assertThat(ServiceLoader.load(VerbsProvider.class))
        .filteredOn(provider -> provider.name().equals("sim"))
        .hasSize(1)
        .allMatch(provider -> provider.delivery() == Delivery.PUSH);
  }
}
