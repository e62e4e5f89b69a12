package org.jdapl.rdmacore;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.evd.Jdapl;
import org.jdapl.tck.Bench;
import org.jdapl.verbs.VerbsProvider;

/** The contract tests' bench over this provider, with threads; each adapter has its own runtime. */
final class RdmaBench implements Bench {

  private static final long BOUND = TimeUnit.MINUTES.toNanos(1);
  private static final long SILENCE = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long NAP = TimeUnit.MICROSECONDS.toNanos(50);

  private final List<Jdapl> runtimes = new ArrayList<>();
  private final List<InterfaceAdapter> adapters = new ArrayList<>();

  private final VerbsProvider provider;

  RdmaBench() {
    this(new RdmaCoreProvider());
  }

  /** With another provider before the real one. */
  RdmaBench(final VerbsProvider provider) {
    this.provider = provider;
  }

  @Override
  public InterfaceAdapter open() {
    final Jdapl runtime = Jdapl.with(provider).parameters("address=" + Side.ADDRESS).start();
    runtimes.add(runtime);
    final InterfaceAdapter adapter = runtime.open();
    adapters.add(adapter);
    return adapter;
  }

  @Override
  public boolean runUntil(final BooleanSupplier condition) {
    final long deadline = System.nanoTime() + BOUND;
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        return false;
      }
      LockSupport.parkNanos(NAP);
    }
    return true;
  }

  @Override
  public void settle() {
    final long deadline = System.nanoTime() + SILENCE;
    while (System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(NAP);
    }
  }

  @Override
  public boolean isVirtual() {
    return false;
  }

  @Override
  public String replay() {
    return provider.toString();
  }

  @Override
  public void close() {
    adapters.forEach(adapter -> adapter.closeAbruptly(Duration.ofSeconds(6)));
    runtimes.forEach(Jdapl::close);
  }
}
