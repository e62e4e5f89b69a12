/** The provider for real devices: libibverbs and librdmacm through JNI. */
module org.jdapl.rdmacore {
  requires transitive org.jdapl.verbs;

  exports org.jdapl.rdmacore;

  provides org.jdapl.verbs.VerbsProvider with
      org.jdapl.rdmacore.RdmaCoreProvider;
}
