package org.jdapl.rdmacore;

import org.jdapl.tck.Bench;
import org.jdapl.tck.ConnectionContract;
import org.jdapl.tck.ErrorContract;
import org.jdapl.tck.EventContract;
import org.jdapl.tck.EventThreadsContract;
import org.jdapl.tck.MergeContract;
import org.jdapl.tck.PostContract;
import org.jdapl.tck.PrivateDataContract;
import org.jdapl.tck.QueryContract;
import org.jdapl.tck.RetryContract;
import org.jdapl.tck.RmrContract;
import org.jdapl.tck.SharedReceiveContract;
import org.jdapl.tck.TeardownContract;
import org.jdapl.tck.TeardownThreadsContract;
import org.jdapl.tck.TransferContract;
import org.jdapl.tck.UpcallContract;
import org.jdapl.tck.UpcallThreadsContract;
import org.jdapl.tck.WaitContract;
import org.jdapl.tck.WaitThreadsContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Timeout;

/** The contract of the API, with this provider below. */
@NeedsNative
@Timeout(120)
class DatContractTest {

  @Nested
  class Events extends EventContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }

  @Nested
  class Connections extends ConnectionContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }

  @Nested
  class Errors extends ErrorContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }

  @Nested
  class Merging extends MergeContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }

  @Nested
  class Posts extends PostContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }

  @Nested
  class Transfers extends TransferContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }

  @Nested
  class Retries extends RetryContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }

  @Nested
  class SentAlong extends PrivateDataContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }

  @Nested
  class Queries extends QueryContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }

  @Nested
  class Windows extends RmrContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }

  @Nested
  class SharedReceives extends SharedReceiveContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }

  @Nested
  class Teardown extends TeardownContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }

  @Nested
  class Upcalls extends UpcallContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }

  @Nested
  class EventThreads extends EventThreadsContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }

  @Nested
  class TeardownThreads extends TeardownThreadsContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }

  @Nested
  class UpcallThreads extends UpcallThreadsContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }

  @Nested
  class Waiting extends WaitContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }

  @Nested
  class WaitingThreads extends WaitThreadsContract {
    @Override
    protected Bench bench() {
      return new RdmaBench();
    }
  }
}
