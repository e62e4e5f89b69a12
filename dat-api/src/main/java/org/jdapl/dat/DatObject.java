package org.jdapl.dat;

/** What all DAT objects have in common. */
public interface DatObject extends AutoCloseable {

  /**
   * The name of the object, unique in this JVM; it stands in every message about the object. Legal
   * in every state.
   *
   * @return a name such as {@code sim0/evd-2}.
   */
  String name();

  /**
   * Releases the object. Closing twice is legal and does nothing more. What each type of object
   * adds to that its own method says.
   */
  @Override
  void close();
}
