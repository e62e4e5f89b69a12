package org.jdapl.dat;

/**
 * What the registry has under a name (DAT_PROVIDER_INFO); see {@link Dat#providers}.
 *
 * @param name what {@link Dat#open} calls the adapter.
 * @param major the major version of the API it is for.
 * @param minor the minor version of the API it is for; consumers of lower ones get it as well.
 * @param threadSafe whether it is for consumers that ask for thread safety, or for the others.
 * @param isDefault whether it is for consumers that name no version.
 */
public record ProviderInfo(
    String name, int major, int minor, boolean threadSafe, boolean isDefault) {

  /**
   * All of it, in the words of {@code dat.conf}.
   *
   * @return a line such as {@code sim u2.0 threadsafe default}.
   */
  @Override
  public String toString() {
    return name
        + " u"
        + major
        + "."
        + minor
        + (threadSafe ? " threadsafe" : " nonthreadsafe")
        + (isDefault ? " default" : " nondefault");
  }
}
