package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jdapl.guests.GuestTests;
import org.jdapl.guests.NeedsGuest;
import org.jdapl.tck.Bench;
import org.jdapl.tck.Contract;
import org.jdapl.tck.TransferContract;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.platform.commons.support.ReflectionSupport;

/** The contract of the API on soft-RoCE: {@link DatContractTest} in a guest. */
@NeedsGuest
class DatContractIT {

  private static final int FEWEST = 60;

  /** Not over the fake libraries, which count no retries and align no atomics. */
  static final class Transfers extends TransferContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }

  @TestFactory
  Stream<DynamicNode> onSoftRoce() throws Exception {
    return new GuestTests(DatContractIT.class, "dat", List.of("-a", Side.ADDRESS))
        .run(FEWEST, DatContractTest.class, Transfers.class);
  }

  @Test
  void shouldRunEachContractOrSayWhyNot() {
    final Set<String> known = new TreeSet<>(GuestTests.leftOut(DatContractIT.class).keySet());
    known.add(Transfers.class.getSuperclass().getName());
    for (final Class<?> test : DatContractTest.class.getDeclaredClasses()) {
      known.add(test.getSuperclass().getName());
    }
    assertThat(
            ReflectionSupport.findAllClassesInPackage(
                Contract.class.getPackageName(),
                type -> type.getSuperclass() == Contract.class,
                type -> true))
        .isNotEmpty()
        .extracting(Class::getName)
        .isSubsetOf(known);
  }

  @TestFactory
  Stream<DynamicNode> notOnSoftRoce() {
    return GuestTests.left(DatContractIT.class);
  }
}
