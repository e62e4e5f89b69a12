package org.jdapl.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

@Timeout(value = 2, unit = TimeUnit.MINUTES)
class ExamplesTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void quickstartGetsEveryEventOnceAndInOrder() {
    assertThat(run("quickstart", "--messages", "50")).as(() -> "" + out + err).isZero();

    assertThat(err.toString()).isEmpty();
    assertThat(out.toString())
        .contains("server   finds \"" + Server.QUESTION + "\"")
        .contains("client   reads \"" + Server.ANSWER + "\"");
    // 51 sends and 51 receives, 16 receives flushed at the end; the client's RDMA write and read.
    assertThat(row("DTO")).containsExactly("120 120 0", "118 118 0");
    assertThat(row("CONNECTION")).containsExactly("2 2 0", "2 2 0");
    assertThat(row("CONNECTION_REQUEST")).containsExactly("0 0 0", "1 1 0");
    assertThat(row("SOFTWARE")).containsExactly("200 200 0", "200 200 0");
    assertThat(row("all")).containsExactly("322 322 0", "321 321 0");
    assertThat(row("most upcalls at once")).containsOnly("1 (must be 1)").hasSize(2);
    assertThat(row("lost")).containsOnly("0 (must be 0)").hasSize(2);
    assertThat(row("order violations")).containsOnly("0 (must be 0)").hasSize(2);
  }

  @Test
  void helloIsHeard() {
    assertThat(run("hello")).as(err::toString).isZero();

    assertThat(out.toString().lines()).containsExactly("bob heard: Hello!");
  }

  @Test
  void doctorSaysWhetherADeviceWorksAndWhatToDo() {
    final int status = run("doctor");

    assertThat(err.toString()).isEmpty();
    if (status == 0) {
      assertThat(out.toString()).contains("ok    objects", "A device works");
    } else {
      assertThat(status).isEqualTo(1);
      assertThat(out.toString()).contains("FAIL  ", "to do: ", "No device works.");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "quickstart", "hello", "doctor"})
  void helpIsThereForEveryCommand(final String command) {
    assertThat(run((command + " --help").strip().split(" "))).isZero();

    assertThat(out.toString()).contains("Usage: examples/run");
    assertThat(err.toString()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "quickstart --bad",
        "quickstart --messages none",
        "quickstart --messages 0",
        "quickstart --posters -1",
        "hello world",
        "doctor color=red",
        "nosuch",
        "--bad"
      })
  void wrongUseIsOneLineAndStatus2(final String arguments) {
    assertThat(run(arguments.split(" "))).isEqualTo(2);

    assertThat(out.toString()).isEmpty();
    assertThat(err.toString().lines()).singleElement().asString().contains("--help");
  }

  @Test
  void unknownCommandIsNamed() {
    run("nosuch");

    assertThat(err.toString()).startsWith("Unknown command 'nosuch'");
  }

  @Test
  void adapterThatDoesNotExistIsOneLineAndStatus1() {
    assertThat(run("quickstart", "--ia", "nosuch")).isEqualTo(1);

    assertThat(err.toString().lines())
        .singleElement()
        .asString()
        .contains("NAME_NOT_REGISTERED", "'nosuch'", "sim");
  }

  private int run(final String... arguments) {
    final CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(out, true));
    commandLine.setErr(new PrintWriter(err, true));
    return commandLine.execute(arguments);
  }

  /** What stands in the rows of that name, the client's first. */
  private List<String> row(final String name) {
    return out.toString()
        .lines()
        .filter(line -> line.matches("  \\Q" + name + "\\E +\\d.*"))
        .map(line -> line.substring(2 + name.length()).strip().replaceAll(" +", " "))
        .toList();
  }
}
