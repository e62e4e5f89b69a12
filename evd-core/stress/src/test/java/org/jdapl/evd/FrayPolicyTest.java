package org.jdapl.evd;

import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;

/** The races of an EVD without endpoint whose policy changes: a class of its own, for balance. */
@Tag("fray")
class FrayPolicyTest extends FrayTest {

  static Stream<String> races() {
    return Race.names().stream()
        .filter(race -> !Race.hasEndpoint(race) && Race.changesPolicy(race));
  }
}
