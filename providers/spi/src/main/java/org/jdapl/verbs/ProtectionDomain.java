package org.jdapl.verbs;

/** A protection domain (ibv_pd): what belongs to different domains cannot be used together. */
public interface ProtectionDomain extends AutoCloseable {

  /**
   * Releases the domain (ibv_dealloc_pd).
   *
   * @throws VerbsException with EBUSY if something belongs to it.
   */
  @Override
  void close();
}
