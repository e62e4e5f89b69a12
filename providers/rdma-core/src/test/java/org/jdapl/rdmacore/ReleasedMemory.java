package org.jdapl.rdmacore;

import java.nio.ByteBuffer;
import java.util.Set;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.SendRequest;

/**
 * A program that posts inline data of a region whose memory was released under it: by an arena of
 * Java 22, or by a resource scope of Java 17, an incubator. With the memory the process may end.
 */
final class ReleasedMemory {

  private static final int BYTES = 256 << 20; // of its own mapping, which goes with it

  /** Memory that ends when it is told. */
  private record Scope(Object owner, ByteBuffer buffer) {

    static Scope open() throws ReflectiveOperationException {
      if (Runtime.version().feature() >= 22) {
        final Class<?> arena = Class.forName("java.lang.foreign.Arena");
        final Object owner = arena.getMethod("ofShared").invoke(null);
        final Object segment = arena.getMethod("allocate", long.class).invoke(owner, (long) BYTES);
        return new Scope(owner, buffer("java.lang.foreign.MemorySegment", segment));
      }
      final Class<?> scope = Class.forName("jdk.incubator.foreign.ResourceScope");
      final Object owner = scope.getMethod("newSharedScope").invoke(null);
      final Object segment =
          Class.forName("jdk.incubator.foreign.MemorySegment")
              .getMethod("allocateNative", long.class, scope)
              .invoke(null, (long) BYTES, owner);
      return new Scope(owner, buffer("jdk.incubator.foreign.MemorySegment", segment));
    }

    private static ByteBuffer buffer(final String type, final Object segment)
        throws ReflectiveOperationException {
      return (ByteBuffer) Class.forName(type).getMethod("asByteBuffer").invoke(segment);
    }

    void close() throws ReflectiveOperationException {
      final String type =
          owner instanceof AutoCloseable && Runtime.version().feature() >= 22
              ? "java.lang.foreign.Arena"
              : "jdk.incubator.foreign.ResourceScope";
      Class.forName(type).getMethod("close").invoke(owner);
    }
  }

  private ReleasedMemory() {}

  /**
   * Posts.
   *
   * @param arguments none.
   */
  public static void main(final String... arguments) throws Exception {
    final EventChannel channel = new RdmaCoreProvider().createEventChannel();
    final Side a = Side.open(channel);
    a.qp.modifyToError();
    final Scope scope = Scope.open();
    final MemoryRegion region = a.device.regMr(a.pd, scope.buffer(), Set.of());
    final SendRequest send = new SendRequest(1);
    send.addSge(region.address() + 8, 16, region.lkey());
    send.inline = true;
    System.out.println("before: " + a.qp.postSend(send));
    scope.close();
    System.out.println("after: " + a.qp.postSend(send));
    region.close();
    a.close();
    channel.close();
  }
}
