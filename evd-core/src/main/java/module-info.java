/** The event dispatcher: DAT over any verbs provider. */
module org.jdapl.evd {
  requires transitive org.jdapl.dat;
  requires transitive org.jdapl.verbs;
  requires com.lmax.disruptor;
  requires org.jctools.core;
  requires org.slf4j;

  exports org.jdapl.evd;

  uses org.jdapl.verbs.VerbsProvider;

  provides org.jdapl.dat.DatRuntime with
      org.jdapl.evd.EvdRuntime;
}
