package org.jdapl.verbs.tck;

import org.jdapl.verbs.MwType;
import org.junit.jupiter.api.Nested;

/**
 * What a provider must do. A small subclass says where it runs, and has all of the tests; options
 * that are not declared are skipped.
 */
public abstract class ProviderTck extends LocalProviderTck {

  /** The contract of the verbs SPI. */
  protected ProviderTck() {}

  @Nested
  class Connections extends ConnectionTck {
    @Override
    protected TckBed bed() {
      return ProviderTck.this.bed();
    }
  }

  @Nested
  class Transfers extends TransferTck {
    @Override
    protected TckBed bed() {
      return ProviderTck.this.bed();
    }
  }

  @Nested
  class SharedReceives extends SharedReceiveTck {
    @Override
    protected TckBed bed() {
      return ProviderTck.this.bed();
    }
  }

  @Nested
  class Atomics extends AtomicTck {
    @Override
    protected TckBed bed() {
      return ProviderTck.this.bed();
    }
  }

  @Nested
  class WindowsOfType1 extends WindowTck {
    WindowsOfType1() {
      super(MwType.TYPE_1);
    }

    @Override
    protected TckBed bed() {
      return ProviderTck.this.bed();
    }
  }

  @Nested
  class WindowsOfType2 extends WindowTck {
    WindowsOfType2() {
      super(MwType.TYPE_2);
    }

    @Override
    protected TckBed bed() {
      return ProviderTck.this.bed();
    }
  }
}
