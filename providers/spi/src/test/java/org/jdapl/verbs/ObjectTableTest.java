package org.jdapl.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ObjectTableTest {

  private final Object lock = new Object();
  private final Device device = new BareDevice(new DeviceLimits.Builder().maxPd(2).build());
  private final ObjectTable table = new ObjectTable(device, lock);
  private final List<String> ends = Collections.synchronizedList(new ArrayList<>());

  private ProtectionDomain pd(final String name) {
    return new ProtectionDomain() {
      @Override
      public void close() {
        table.close(this, () -> ends.add(name + (Thread.holdsLock(lock) ? "" : " without lock")));
      }

      @Override
      public String toString() {
        return name;
      }
    };
  }

  private static void assertRefused(final Runnable verb, final int errno, final String... message) {
    assertThatThrownBy(verb::run)
        .isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.errno()).isEqualTo(errno))
        .hasMessageContainingAll(message);
  }

  @Test
  void shouldHaveNoMoreObjectsThanTheLimitSays() {
    final ProtectionDomain first = table.add(pd("a"));
    table.add(pd("b"));
    final ProtectionDomain third = pd("c");
    assertRefused(
        () -> table.add(third), VerbsException.ENOMEM, "alloc_pd", "2 protection domains");
    assertThat(table.isOpen(third)).isFalse();
    first.close();
    assertThat(table.add(third)).isSameAs(third);
  }

  @Test
  void shouldCloseOnceAndHoldingTheLock() {
    final ProtectionDomain pd = table.add(pd("a"));
    pd.close();
    pd.close();
    pd("never open").close();
    assertThat(ends).containsExactly("a");
  }

  @Test
  void shouldNotCloseWhatIsUsed() {
    final ProtectionDomain pd = table.add(pd("a"));
    final Object user = table.add("an id", pd, pd);
    assertRefused(pd::close, VerbsException.EBUSY, "dealloc_pd", "an id uses it");
    table.close(user, () -> ends.add("id"));
    pd.close();
    assertThat(ends).containsExactly("id", "a");
  }

  @Test
  void shouldRefuseWhatIsNotAnOpenObjectOfItsType() {
    final ProtectionDomain pd = table.add(pd("a"));
    assertThat(table.own("verb", ProtectionDomain.class, pd)).isSameAs(pd);
    assertRefused(() -> table.own("verb", QueuePair.class, pd), VerbsException.EINVAL, "verb", "a");
    assertRefused(() -> table.own("verb", Object.class, null), VerbsException.EINVAL, "null");
    assertRefused(() -> table.add("an id", pd("b")), VerbsException.EINVAL, "create_id", "b");
    pd.close();
    assertRefused(() -> table.own("verb", Object.class, pd), VerbsException.EINVAL, "verb", "a");
    table.end();
  }

  @Test
  void shouldCloseTheDeviceWhenNothingIsLeft() {
    final ProtectionDomain pd = table.add(pd("a"));
    assertRefused(table::end, VerbsException.EBUSY, "close_device", "1 protection domains left");
    assertThat(table.isClosed()).isFalse();
    pd.close();
    table.end();
    table.end();
    assertThat(table.isClosed()).isTrue();
    assertRefused(() -> table.add(pd("b")), VerbsException.ENODEV, "alloc_pd", "closed");
    assertRefused(() -> table.own("verb", Object.class, pd), VerbsException.ENODEV, "verb");
  }

  @Test
  void shouldCallNoHandlerOfWhatIsClosed() {
    final ProtectionDomain pd = table.add(pd("a"));
    assertThat(table.call(pd, () -> ends.add("called" + Thread.holdsLock(lock)))).isTrue();
    pd.close();
    assertThat(table.call(pd, () -> ends.add("called late"))).isFalse();
    assertThat(ends).containsExactly("calledfalse", "a");
  }

  @Test
  void shouldRefuseToCloseInsideAHandlerOfTheObject() {
    final ProtectionDomain pd = table.add(pd("a"));
    table.call(pd, () -> assertRefused(pd::close, VerbsException.EBUSY, "inside its own handler"));
    pd.close();
    assertThat(ends).containsExactly("a");
  }

  @Test
  void shouldWaitAtEachCloseForTheHandlersThatRun() throws InterruptedException {
    final ProtectionDomain pd = table.add(pd("a"));
    final CountDownLatch inside = new CountDownLatch(1);
    final CountDownLatch leave = new CountDownLatch(1);
    final Thread handler =
        new Thread(
            () ->
                table.call(
                    pd,
                    () -> {
                      inside.countDown();
                      awaitQuietly(leave);
                      assertRefused(pd::close, VerbsException.EBUSY, "inside its own handler");
                      ends.add("handler");
                    }));
    handler.start();
    inside.await();
    final List<Thread> closers = List.of(closer(pd), closer(pd));
    for (final Thread closer : closers) {
      awaitWaiting(closer);
    }
    assertThat(table.isOpen(pd)).isFalse();
    assertThat(table.call(pd, () -> ends.add("called late"))).isFalse();
    leave.countDown();
    for (final Thread closer : closers) {
      closer.join();
    }
    handler.join();
    assertThat(ends).startsWith("a", "handler").hasSize(4);
  }

  private Thread closer(final ProtectionDomain pd) {
    final Thread closer =
        new Thread(
            () -> {
              pd.close();
              synchronized (lock) {
                ends.add("closed");
              }
            });
    closer.start();
    return closer;
  }

  private static void awaitWaiting(final Thread thread) {
    while (thread.getState() != Thread.State.WAITING) {
      if (thread.getState() == Thread.State.TERMINATED) {
        throw new AssertionError("it did not wait for the handler");
      }
      Thread.onSpinWait();
    }
  }

  private static void awaitQuietly(final CountDownLatch latch) {
    try {
      latch.await();
    } catch (final InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
