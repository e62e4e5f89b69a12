/** The verbs SPI: what a provider of RDMA verbs implements. It needs nothing but the JDK. */
module org.jdapl.verbs {
  exports org.jdapl.verbs;
}
