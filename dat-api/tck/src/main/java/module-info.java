/**
 * Contract tests of the DAT API, to extend, for writers of runtimes; and a check for leaks in the
 * tests of consumers.
 */
module org.jdapl.tck {
  requires transitive org.jdapl.dat;
  requires transitive org.junit.jupiter.api;
  requires org.assertj.core;

  exports org.jdapl.tck;

  opens org.jdapl.tck;

  provides org.junit.jupiter.api.extension.Extension with
      org.jdapl.tck.LeakCheck;
}
