package org.jdapl.rdmacore;

import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.VerbsException;

/** A program that opens a device, twice, and says what became of it. */
final class Probe {

  private Probe() {}

  public static void main(final String... arguments) {
    System.out.println("problem: " + new RdmaCoreProvider().problem().map(Problem::reason));
    for (int i = 0; i < 2; i++) {
      System.out.println("open " + i + ": " + open());
    }
  }

  private static String open() {
    final RdmaCoreProvider provider = new RdmaCoreProvider();
    try (EventChannel channel = provider.createEventChannel()) {
      provider.open("address=" + Side.ADDRESS, channel).close();
      return "works";
    } catch (final VerbsException e) {
      return e.getMessage();
    }
  }
}
