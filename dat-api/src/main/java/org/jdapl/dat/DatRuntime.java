package org.jdapl.dat;

import java.util.List;

/**
 * What stands behind {@link Dat}, found by {@link java.util.ServiceLoader}. Consumers do not use
 * it.
 */
public interface DatRuntime {

  /**
   * What is registered; see {@link Dat#providers}.
   *
   * @return sorted by name.
   */
  List<ProviderInfo> providers();

  /**
   * What in the registry's file registers nothing; see {@link Dat#registryProblems}.
   *
   * @return the messages.
   */
  List<String> registryProblems();

  /**
   * Whether two names stand for the same device; see {@link Dat#related}.
   *
   * @param name the name of an adapter.
   * @param other the name of another one.
   * @return the relation.
   * @throws DatException as {@link Dat#related} says.
   */
  HaRelationship related(String name, String other);

  /**
   * Opens an interface adapter.
   *
   * @param name its name.
   * @return the adapter.
   * @throws DatException as {@link Dat#open(String)} says.
   */
  InterfaceAdapter open(String name);

  /**
   * Opens an interface adapter that is registered for a version and thread safety.
   *
   * @param name its name.
   * @param major its major version.
   * @param minor its minor version, or a lower one.
   * @param threadSafe its thread safety.
   * @return the adapter.
   * @throws DatException as {@link Dat#open(String, int, int, boolean)} says.
   */
  InterfaceAdapter open(String name, int major, int minor, boolean threadSafe);

  /**
   * What is open; see {@link Dat#openObjects}.
   *
   * @return an adapter before its objects.
   */
  @Experimental
  List<OpenObject> openObjects();
}
