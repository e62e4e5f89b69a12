package org.jdapl.verbs;

/** Told of asynchronous events. */
@FunctionalInterface
public interface AsyncHandler {

  /**
   * Called by the provider. The dispatcher's handler never blocks and never throws.
   *
   * @param type what happened.
   * @param element what it happened to; see {@link AsyncType}.
   */
  void onAsync(AsyncType type, Object element);
}
