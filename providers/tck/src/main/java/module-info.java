/** Contract tests of the verbs SPI, to extend, for writers of providers. */
module org.jdapl.verbs.tck {
  requires transitive org.jdapl.verbs;
  requires transitive org.junit.jupiter.api;

  exports org.jdapl.verbs.tck;

  opens org.jdapl.verbs.tck;

  uses org.jdapl.verbs.VerbsProvider;
}
