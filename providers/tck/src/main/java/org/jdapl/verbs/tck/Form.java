package org.jdapl.verbs.tck;

import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.WorkCompletions;

/** The two forms of pollAndRearm that a user may meet. */
enum Form {
  /** The provider's own, which may be the default. */
  OWN,
  /** The default of the SPI, made of the provider's poll and arm. */
  OF_POLL_AND_ARM;

  CompletionQueue of(final CompletionQueue queue) {
    return this == OWN ? queue : new PollAndArm(queue);
  }

  private record PollAndArm(CompletionQueue queue) implements CompletionQueue {

    @Override
    public Device device() {
      return queue.device();
    }

    @Override
    public int capacity() {
      return queue.capacity();
    }

    @Override
    public int poll(final WorkCompletions into, final int max) {
      return queue.poll(into, max);
    }

    @Override
    public int arm(final ArmKind kind) {
      return queue.arm(kind);
    }

    @Override
    public void close() {
      queue.close();
    }
  }
}
