package org.jdapl.dat;

import java.util.List;

/**
 * What stands behind {@link Dat}, found by {@link java.util.ServiceLoader}. Consumers do not use
 * it.
 */
public interface DatRuntime {

  /**
   * The names {@link #open} knows.
   *
   * @return the names, sorted.
   */
  List<String> providers();

  /**
   * Opens an interface adapter.
   *
   * @param name its name.
   * @return the adapter.
   * @throws DatException as {@link Dat#open} says.
   */
  InterfaceAdapter open(String name);

  /**
   * What is open; see {@link Dat#openObjects}.
   *
   * @return an adapter before its objects.
   */
  List<OpenObject> openObjects();
}
