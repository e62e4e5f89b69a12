package org.jdapl.examples.socket;

import org.jdapl.tck.Bench;
import org.jdapl.tck.ConnectionContract;
import org.jdapl.tck.ErrorContract;
import org.jdapl.tck.EventContract;
import org.jdapl.tck.EventThreadsContract;
import org.jdapl.tck.MergeContract;
import org.jdapl.tck.PrivateDataContract;
import org.jdapl.tck.TeardownContract;
import org.jdapl.tck.TeardownThreadsContract;
import org.jdapl.tck.UpcallContract;
import org.jdapl.tck.WaitContract;
import org.junit.jupiter.api.Nested;

/** The contract of the API over the socket provider, which has no shared receive queues. */
class SocketContractTest {

  @Nested
  class Connection extends ConnectionContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }

  @Nested
  class Error extends ErrorContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }

  @Nested
  class Event extends EventContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }

  @Nested
  class EventThreads extends EventThreadsContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }

  @Nested
  class Merge extends MergeContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }

  @Nested
  class PrivateData extends PrivateDataContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }

  @Nested
  class Teardown extends TeardownContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }

  @Nested
  class TeardownThreads extends TeardownThreadsContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }

  @Nested
  class Upcall extends UpcallContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }

  @Nested
  class Wait extends WaitContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }
}
