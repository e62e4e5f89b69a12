/** Contract tests of the DAT API: extend its contracts and say where they run. */
module org.jdapl.tck {
  requires transitive org.jdapl.dat;
  requires transitive org.junit.jupiter.api;
  requires org.assertj.core;

  exports org.jdapl.tck;

  opens org.jdapl.tck;

  provides org.junit.jupiter.api.extension.Extension with
      org.jdapl.tck.LeakCheck;
}
