package org.jdapl.rdmacore;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;

/** The contract of the API on soft-RoCE: {@link DatContractTest} in a guest. */
@NeedsGuest
class DatContractIT {

  private static final int FEWEST = 60;

  @TestFactory
  Stream<DynamicNode> onSoftRoce() throws Exception {
    return new GuestTests("contract", FEWEST).run(DatContractTest.class.getDeclaredClasses());
  }

  @TestFactory
  Stream<DynamicNode> onSoftRoceWithJniChecked() throws Exception {
    return new GuestTests("contract-jni", FEWEST, "-Xcheck:jni")
        .run(DatContractTest.class.getDeclaredClasses());
  }

  @TestFactory
  Stream<DynamicNode> notOnSoftRoce() {
    return GuestTests.left();
  }
}
