/** The simulated provider: a device and a fabric in one JVM, without native code. */
module org.jdapl.sim {
  requires transitive org.jdapl.verbs;

  exports org.jdapl.sim;

  provides org.jdapl.verbs.VerbsProvider with
      org.jdapl.sim.SimProvider;
}
