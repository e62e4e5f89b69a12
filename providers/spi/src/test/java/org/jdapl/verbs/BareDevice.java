package org.jdapl.verbs;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Set;

/** A device that has limits and nothing else. */
final class BareDevice extends AbstractDevice {

  BareDevice(final DeviceLimits limits) {
    super("bare0", Declaration.weakest(), limits, InetAddress.getLoopbackAddress());
  }

  @Override
  public ProtectionDomain allocPd() {
    throw VerbsException.unsupported("alloc_pd", name());
  }

  @Override
  public MemoryRegion regMr(
      final ProtectionDomain pd, final ByteBuffer buffer, final Set<Access> access) {
    throw VerbsException.unsupported("reg_mr", name());
  }

  @Override
  public CompletionQueue createCq(final int entries, final CqHandler handler) {
    throw VerbsException.unsupported("create_cq", name());
  }

  @Override
  public QueuePair createQp(final QpAttributes attributes) {
    throw VerbsException.unsupported("create_qp", name());
  }

  @Override
  public CmListener listen(final long service, final int backlog, final CmListenHandler handler) {
    throw VerbsException.unsupported("listen", name());
  }

  @Override
  public CmId connect(
      final QueuePair qp,
      final InetAddress remote,
      final long service,
      final CmParameters parameters,
      final CmHandler handler) {
    throw VerbsException.unsupported("connect", name());
  }

  @Override
  public void close() {
    // it has nothing
  }
}
