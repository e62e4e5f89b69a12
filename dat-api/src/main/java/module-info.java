/** The DAT API: what consumers write against. It needs nothing but the JDK. */
module org.jdapl.dat {
  exports org.jdapl.dat;

  uses org.jdapl.dat.DatRuntime;
}
