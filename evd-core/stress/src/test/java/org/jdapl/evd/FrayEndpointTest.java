package org.jdapl.evd;

import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;

/** The races with the close of an endpoint, but for those of {@link FraySignalTest}. */
@Tag("fray")
class FrayEndpointTest extends FrayTest {

  static Stream<String> races() {
    return Race.names().stream()
        .filter(race -> race.contains("ENDPOINT_CLOSE") && !race.contains("SIGNAL"));
  }
}
