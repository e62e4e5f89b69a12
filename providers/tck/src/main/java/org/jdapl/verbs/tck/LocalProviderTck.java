package org.jdapl.verbs.tck;

import org.junit.jupiter.api.Nested;

/**
 * What a provider must do without a peer: completions, arming, its event channel, and the ends of
 * objects. To start with; {@link ProviderTck} is all.
 */
public abstract class LocalProviderTck {

  /** The part of the contract that needs no peer. */
  protected LocalProviderTck() {}

  /**
   * Says where the next test runs.
   *
   * @return a bed; the test opens its devices and closes them.
   */
  protected abstract TckBed bed();

  @Nested
  class Completions extends CompletionTck {
    @Override
    protected TckBed bed() {
      return LocalProviderTck.this.bed();
    }
  }

  @Nested
  class Arming extends ArmingTck {
    @Override
    protected TckBed bed() {
      return LocalProviderTck.this.bed();
    }
  }

  @Nested
  class Ends extends TeardownTck {
    @Override
    protected TckBed bed() {
      return LocalProviderTck.this.bed();
    }
  }

  @Nested
  class Channels extends EventChannelTck {
    @Override
    protected TckBed bed() {
      return LocalProviderTck.this.bed();
    }
  }
}
