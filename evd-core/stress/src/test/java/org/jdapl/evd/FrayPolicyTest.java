package org.jdapl.evd;

import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;

/** The races with a change of policy that no other class has. */
@Tag("fray")
class FrayPolicyTest extends FrayTest {

  static Stream<String> races() {
    return Race.names().stream().filter(race -> !race.matches(ENDPOINT) && race.matches(POLICY));
  }
}
