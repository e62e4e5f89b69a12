package org.jdapl.rdmacore;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;

/** The provider's own interface on soft-RoCE: {@link SoftRoce} in a guest. */
@NeedsGuest
class VerbsIT {

  private static final int FEWEST = 8;

  @TestFactory
  Stream<DynamicNode> onSoftRoceWithJniChecked() throws Exception {
    return new GuestTests("verbs", FEWEST, "-Xcheck:jni").run(SoftRoce.class);
  }
}
