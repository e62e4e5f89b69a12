package org.jdapl.verbs;

/**
 * What {@link CompletionQueue#pollAndRearm} found, and so what its caller does next.
 *
 * <table>
 * <caption>The table, batched: asked for m, n completions appended</caption>
 * <tr><th>outcome</th><th>n</th><th>queue</th><th>next</th></tr>
 * <tr><td>SUCCESS</td><td>1..m</td><td>not armed</td><td>call pollAndRearm again</td></tr>
 * <tr><td>COMPLETED</td><td>1..m-1</td><td>armed, drained</td><td>stop</td></tr>
 * <tr><td>POLL_NEEDED</td><td>1..m</td><td>armed, may hold more</td><td>plain poll until empty</td></tr>
 * <tr><td>NOT_DONE</td><td>0</td><td>armed, empty</td><td>stop</td></tr>
 * </table>
 *
 * <p>A provider that knows in one step that the queue is empty and armed may say COMPLETED with n =
 * m. SUCCESS with no completion is for a queue that would not be armed although it is empty: the
 * caller tries again later.
 */
public enum RearmOutcome {
  /** Completions, not armed: call again. */
  SUCCESS,
  /** Completions, then empty and armed: stop. */
  COMPLETED,
  /** Completions, armed, perhaps more: plain poll until empty. */
  POLL_NEEDED,
  /** No completion, armed: stop. */
  NOT_DONE
}
