package org.jdapl.dat;

import java.util.List;

/**
 * An object that is open, and where it was created; see {@link Dat#openObjects}.
 *
 * @param name the name of the object; one that is no {@link DatObject}, such as a runtime that was
 *     composed, has a name as well.
 * @param createdAt the stack of the call that created it, beginning in the consumer's code; empty
 *     if the consumer did not create it.
 */
@Experimental
public record OpenObject(String name, List<StackTraceElement> createdAt) {

  /**
   * Makes the list unmodifiable.
   *
   * @param name the name of the object.
   * @param createdAt the stack.
   */
  public OpenObject {
    createdAt = List.copyOf(createdAt);
  }

  /**
   * Name and place, in one line.
   *
   * @return a line such as {@code sim0/evd-2 created at org.acme.Server.start(Server.java:40)}.
   */
  @Override
  public String toString() {
    return createdAt.isEmpty() ? name : name + " created at " + createdAt.get(0);
  }
}
