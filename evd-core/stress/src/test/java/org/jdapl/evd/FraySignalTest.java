package org.jdapl.evd;

import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;

/** The races with a provider that signals. */
@Tag("fray")
class FraySignalTest extends FrayTest {

  static Stream<String> races() {
    return Race.names().stream().filter(race -> race.contains("SIGNAL"));
  }
}
