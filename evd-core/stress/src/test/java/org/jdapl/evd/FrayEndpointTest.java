package org.jdapl.evd;

import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;

/** The races of an EVD with an endpoint: a class of its own, for a second processor. */
@Tag("fray")
class FrayEndpointTest extends FrayTest {

  static Stream<String> races() {
    return Race.names().stream().filter(Race::hasEndpoint);
  }
}
