package org.jdapl.rdmacore;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Supplier;
import org.jdapl.rdmacore.jni.Layout;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.QpAttributes;

/**
 * A program that creates objects while there is no direct memory, and then a little more each time,
 * until it succeeds: so each of the buffers that an object needs is the one that fails. Nothing may
 * be left of a failure. Needs a low limit of direct memory.
 */
final class ShortOfMemory {

  private static final int COARSE = 1 << 16;
  private static final int FINE = 1 << 9;

  private static final Deque<ByteBuffer> HOARD = new ArrayDeque<>();

  private ShortOfMemory() {}

  private static void take(final int size) {
    try {
      while (true) {
        HOARD.push(Layout.allocate(size));
      }
    } catch (final OutOfMemoryError e) {
      // all that there is
    }
  }

  private static void tryTo(final String kind, final Supplier<AutoCloseable> create)
      throws Exception {
    create.get().close();
    final String before = Fake.live();
    take(COARSE);
    take(FINE);
    int failures = 0;
    AutoCloseable created = null;
    while (created == null) {
      try {
        created = create.get();
      } catch (final OutOfMemoryError e) {
        failures++;
        if (!Fake.live().equals(before)) {
          throw new AssertionError(kind + " left " + Fake.live() + " after " + before, e);
        }
        for (int i = 0; i < 4; i++) {
          HOARD.pop();
        }
      }
    }
    created.close();
    HOARD.clear();
    System.out.println(kind + " failed " + failures + " times");
  }

  /**
   * Creates what needs buffers.
   *
   * @param arguments none.
   */
  public static void main(final String... arguments) throws Exception {
    final EventChannel channel = new RdmaCoreProvider().createEventChannel();
    final Side a = Side.open(channel);
    final QpAttributes attributes = new QpAttributes(a.pd, a.sendCq, a.recvCq, null, 8, 8, 2, 2, 8);
    tryTo("completion queue", () -> a.device.createCq(8, queue -> {}));
    tryTo("shared receive queue", () -> a.device.createSrq(a.pd, 8, 2));
    tryTo("queue pair", () -> a.device.createQp(attributes));
    tryTo("device", () -> new RdmaCoreProvider().open("address=" + Side.ADDRESS, channel));
    a.close();
    channel.close();
    System.out.println(Fake.live().isEmpty() ? "all is well" : "left " + Fake.live());
  }
}
