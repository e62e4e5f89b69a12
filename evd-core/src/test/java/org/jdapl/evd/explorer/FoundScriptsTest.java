package org.jdapl.evd.explorer;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What random consumers found once, or led to: run again, over more than one seed. */
class FoundScriptsTest {

  private static final int SEEDS = 50;

  @ParameterizedTest
  @ValueSource(
      strings = {
        // A message comes to the EVD of a CNO while another endpoint there is being closed.
        "evd 0 63 0; evd 0 63 0; cno 0 0 0; use-cno 0 1 0; upcall 1 0 0; lmr 0 0 0; psp 1 0 0;"
            + "endpoint 1 1 1; endpoint 0 1 1; endpoint 0 1 1; receive 1 0 0; receive 2 0 0;"
            + "connect 1 0 3; run 2 0 0; run 11 0 0; await-cno 0 0 0; dequeue 0 3 0;"
            + "await-cno 0 0 0; dequeue 0 3 0; send 0 1 1; close-endpoint 2 1 1; turn 3 0 0;"
            + "await-cno#1 0 0 0; dequeue 0 3 0; await-cno#1 0 0 3; run 0 0 0",
        // An EVD gets a CNO when it holds what ON_NEW held back.
        "evd 0 63 0; post 0 1 0; upcall 0 0 3; disable 0 0 0; cno 0 0 0; use-cno 0 1 0;"
            + "await-cno 0 0 0",
      })
  void shouldKeepTheContract(final String actions) {
    for (int seed = 0; seed < SEEDS; seed++) {
      final String script = seed + " | 1 | 1 | arm=strong |  | " + actions;
      assertThat(ScriptRun.run(Script.parse(script))).as(script).isNull();
    }
  }
}
