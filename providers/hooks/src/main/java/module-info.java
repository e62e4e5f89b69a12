/** Fault plans and traces: providers that stand before any other provider. */
module org.jdapl.hooks {
  requires transitive org.jdapl.verbs;

  exports org.jdapl.hooks;
}
