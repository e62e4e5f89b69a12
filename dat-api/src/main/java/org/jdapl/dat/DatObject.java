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
   * What kind of object it is (dat_get_handle_type). Legal in every state.
   *
   * @return the type; it stays the same.
   */
  HandleType type();

  /**
   * The adapter it belongs to (dat_pz_query; the ia_handle of each query). Legal in every state.
   *
   * @return the adapter; of an adapter, itself.
   */
  InterfaceAdapter adapter();

  /**
   * What the consumer attached to the object (dat_get_consumer_context). Legal in every state, from
   * any thread.
   *
   * @return the object of the last {@link #context(Object)}; null at first.
   */
  Object context();

  /**
   * Attaches an object of the consumer's own, in place of the one before
   * (dat_set_consumer_context). It is passed on by reference, and kept for as long as this object
   * is. Legal in every state, from any thread; who reads it sees what was written to it before.
   *
   * @param context the consumer's object; null for none.
   */
  void context(Object context);

  /**
   * Releases the object. Closing twice is legal and does nothing more. What each type of object
   * adds to that its own method says.
   */
  @Override
  void close();
}
