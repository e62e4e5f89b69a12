package org.jdapl.rdmacore;

import java.util.List;
import java.util.stream.Stream;
import org.jdapl.guests.GuestTests;
import org.jdapl.guests.NeedsGuest;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;

/** The contract of providers on soft-RoCE, and what its errors come to, in a guest. */
@NeedsGuest
class VerbsIT {

  private static final int FEWEST = 60;

  @TestFactory
  Stream<DynamicNode> onSoftRoce() throws Exception {
    return new GuestTests(VerbsIT.class, "verbs", List.of("-a", Side.ADDRESS))
        .run(FEWEST, SoftRoce.class, SoftRoceContract.class);
  }
}
