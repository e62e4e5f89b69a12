package org.jdapl.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 2, unit = TimeUnit.MINUTES)
class MainTest {

  @Test
  void shouldHearHello() {
    final Run run = Run.of("hello");

    assertThat(run.status()).as(run::toString).isZero();
    assertThat(run.out().lines()).containsExactly("bob heard: Hello!");
  }

  @Test
  void shouldSayWhetherADeviceWorksAndWhatToDo() {
    final Run run = Run.of("doctor");

    assertThat(run.err()).isEmpty();
    if (run.status() == 0) {
      assertThat(run.out()).contains("ok    objects", "A device works");
    } else {
      assertThat(run.status()).isEqualTo(1);
      assertThat(run.out()).contains("FAIL  ", "to do: ", "No device works.");
    }
  }

  @Test
  void shouldHelp() {
    final Run run = Run.of("--help");

    assertThat(run.status()).isZero();
    assertThat(run.out()).contains("Usage: examples/run");
    assertThat(commands()).allMatch(command -> run.out().contains("  " + command));
  }

  @ParameterizedTest
  @MethodSource("commands")
  void shouldHelpWithEveryCommand(final String command) {
    final Run run = Run.of(command, "--help");

    assertThat(run.status()).isZero();
    assertThat(run.out()).contains("Usage: examples/run " + command);
    assertThat(run.out().lines()).allMatch(line -> line.length() < 80);
    assertThat(run.err()).isEmpty();
  }

  static Stream<String> commands() {
    return Main.commandLine().getSubcommands().keySet().stream();
  }

  @ParameterizedTest
  @ValueSource(strings = {"quickstart --bad", "hello world", "doctor color=red", "nosuch", "--bad"})
  void shouldSayWrongUseInOneLine(final String arguments) {
    final Run run = Run.of(arguments.split(" "));

    assertThat(run.status()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err().lines()).singleElement().asString().contains("--help");
  }

  @Test
  void shouldNameAnUnknownCommand() {
    assertThat(Run.of("nosuch").err()).startsWith("Unknown command 'nosuch'");
  }
}
