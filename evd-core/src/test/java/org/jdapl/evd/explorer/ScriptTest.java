package org.jdapl.evd.explorer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Scripts are values, and the same one gives the same run. */
class ScriptTest {

  private static final String HEAD = "1 | 1 | 1 | arm=weak |  | ";

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 42, 138, Long.MAX_VALUE})
  void shouldReadWhatItPrints(final long seed) {
    final Script script = Script.random(seed);
    assertThat(Script.parse(script.toString())).isEqualTo(script).hasToString(script.toString());
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 2, 7, 42, 77, 138, 234, 559, 6826})
  void shouldRunTheSameWayTwice(final long seed) {
    final Script script = Script.random(seed);
    assertThat(trace(script)).isEqualTo(trace(script)).isNotEmpty();
  }

  /** Without the identities of objects. */
  private static List<String> trace(final Script script) {
    return ScriptRun.trace(script).stream().map(line -> line.replaceAll("@[0-9a-f]+", "")).toList();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1 | 1 | 1 | arm=weak | ",
        HEAD + "fly 1 2 3",
        HEAD + "send 1 2",
        HEAD + "send x 2 3"
      })
  void shouldRefuseWhatIsNoScript(final String text) {
    assertThatThrownBy(() -> Script.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageMatching("(?s)'.*'.*(expected|is not a number).*");
  }

  @Test
  void shouldKeepWhatIsNeededWhenItIsShrunk() {
    final Script script =
        Script.parse(
            "1 | 1 | 1 | arm=weak | drop cm@1; drop notification@3; lose any@2 |"
                + " evd 0 0 0; send 1 0 0; post 0 0 0; send 2 0 0; run 0 0 0; read 0 0 0; run 1 0 0");
    final Script small =
        ScriptShrinker.shrink(
            script,
            candidate ->
                candidate.toString().contains("notification")
                        && candidate.toString().contains("send 2")
                        && candidate.toString().contains("read")
                    ? "O1: lost"
                    : candidate.toString().contains("send") ? "O2: another" : null);

    assertThat(small.plan()).hasToString("drop notification@3");
    assertThat(small.actions())
        .extracting(Action::toString)
        .containsExactly("send 2 0 0", "read 0 0 0");
  }
}
