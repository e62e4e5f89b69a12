package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;

import org.jdapl.verbs.EventChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** Two sides on one channel; what is left after a test is a leak. */
@NeedsNative
@Timeout(120)
abstract class Bed {

  EventChannel channel;
  Side a;
  Side b;

  @BeforeEach
  void open() {
    Fake.reset();
    choose();
    channel = new RdmaCoreProvider().createEventChannel();
    a = Side.open(channel);
    b = Side.open(channel);
  }

  /** Which device it is; one of InfiniBand that has everything, unless a test says otherwise. */
  void choose() {}

  @AfterEach
  void close() {
    a.close();
    b.close();
    channel.close();
    assertThat(Fake.live()).as("objects that live").isEmpty();
    assertThat(Fake.violations()).as("violations").isEmpty();
  }

  /** Runs something on a thread of its own. */
  static void start(final Runnable body) {
    final Thread thread = new Thread(body, "test");
    thread.setDaemon(true);
    thread.start();
  }

  /** Connects the two. */
  void connect() {
    b.listen();
    a.connect(b);
  }
}
