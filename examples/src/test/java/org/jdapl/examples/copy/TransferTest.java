package org.jdapl.examples.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.Dat;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sender and receiver, when one of them is not what it should be. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class TransferTest {

  private static final long SERVICE = 5_000;
  private static final int SLOT = Link.SLOT_BYTES;

  @TempDir private Path directory;

  /** What is read, instead of a file: so many zeros, then the end or a failure. */
  private static final class Zeros implements ReadableByteChannel {

    private final String failure;
    private long left;

    Zeros(final long size, final String failure) {
      left = size;
      this.failure = failure;
    }

    @Override
    public int read(final ByteBuffer to) throws IOException {
      if (left == 0 && failure != null) {
        throw new IOException(failure);
      }
      final int count = (int) Math.min(to.remaining(), left);
      to.put(new byte[count]);
      left -= count;
      return count == 0 ? -1 : count;
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }

  /** A receiver on a thread of its own; completes with its failure, or null. */
  private static CompletableFuture<CopyException> receive(final Receiver receiver) {
    return CompletableFuture.supplyAsync(
        () -> catchThrowableOfType(CopyException.class, receiver::receive));
  }

  private Target target() throws CopyException {
    final Target target = new Target(directory.resolve("target"), false);
    target.open();
    return target;
  }

  /** What sender and receiver say when the source is not as long as it was, or fails. */
  private void expectFailure(final Zeros read, final long size, final String... words)
      throws Exception {
    try (Target target = target();
        Receiver receiver = new Receiver("sim", SERVICE, target, Link.PATIENCE);
        Sender sender = new Sender("sim", new Source("zeros", read, size), Link.PATIENCE)) {
      final CompletableFuture<CopyException> received = receive(receiver);

      assertThat(
              catchThrowableOfType(
                  CopyException.class, () -> sender.send(receiver.address(), SERVICE)))
          .hasMessageContainingAll(words);
      assertThat(received.get()).hasMessageContainingAll(words); // it was told
    }
    assertThat(directory).isEmptyDirectory();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, SLOT, 40L * SLOT})
  void shouldSayThatTheSourceBecameShorter(final long size) throws Exception {
    expectFailure(
        new Zeros(size, null), size + 1, "zeros became shorter", size + 1 + " bytes", "" + size);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, SLOT, 40L * SLOT})
  void shouldSayThatTheSourceBecameLonger(final long size) throws Exception {
    expectFailure(new Zeros(size + 1, null), size, "zeros became longer", size + " bytes");
  }

  @Test
  void shouldSayThatTheSourceCannotBeRead() throws Exception {
    expectFailure(
        new Zeros(20L * SLOT, "Input/output error"), 50L * SLOT, "zeros", "Input/output error");
  }

  /** Plays the sender by hand, and returns what it is told at the end. */
  private CopyException play(final Play play) throws Exception {
    final CopyException failure;
    try (Target target = target();
        Receiver receiver = new Receiver("sim", SERVICE, target, Link.PATIENCE);
        Link link = new Link("sim", Link.PATIENCE, Privilege.LOCAL_READ)) {
      final CompletableFuture<CopyException> received = receive(receiver);
      link.connect(receiver.address(), SERVICE);
      play.with(link, (Link.Established) link.take());
      final Message answer = answer(link);
      assertThat(answer.kind()).isEqualTo(Message.Kind.FAILED);
      link.disconnect();
      failure = received.get();
      assertThat(answer.text()).isEqualTo(failure.getMessage());
    }
    assertThat(directory).isEmptyDirectory();
    return failure;
  }

  /** The first message that is no credit. */
  private static Message answer(final Link link) throws InterruptedException {
    while (true) {
      if (link.take() instanceof Link.Arrived arrived
          && arrived.message().kind() != Message.Kind.CREDIT) {
        return arrived.message();
      }
    }
  }

  private interface Play {
    void with(Link link, Link.Established peer) throws Exception;
  }

  @Test
  void shouldCompareTheDigests() throws Exception {
    assertThat(
            play(
                (link, peer) -> {
                  link.write(0, 10, peer);
                  link.send(Message.chunk(0, 10, 0));
                  link.send(Message.end(10, "e3b0c442"));
                }))
        .hasMessageContainingAll("digest", "e3b0c442", "01d448af"); // of ten zeros
  }

  @Test
  void shouldMissWhatDidNotCome() throws Exception {
    assertThat(play((link, peer) -> link.send(Message.end(10, "e3b0c442"))))
        .hasMessageContainingAll("sent 10 bytes", "0 came");
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, Link.SLOTS, Integer.MAX_VALUE})
  void shouldRefuseASlotThatIsNotThere(final int slot) throws Exception {
    assertThat(play((link, peer) -> link.send(Message.chunk(slot, 1, 0))))
        .hasMessageContaining("slot=" + slot);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, SLOT + 1})
  void shouldRefuseALengthThatDoesNotFit(final int length) throws Exception {
    assertThat(play((link, peer) -> link.send(Message.chunk(0, length, 0))))
        .hasMessageContaining("length=" + length);
  }

  @Test
  void shouldRefuseAChunkOutOfOrder() throws Exception {
    assertThat(play((link, peer) -> link.send(Message.chunk(0, 1, 5))))
        .hasMessageContainingAll("position=5", "expected position 0");
  }

  @Test
  void shouldShowWhatAPeerSaysInOneLine() throws Exception {
    assertThat(
            play(
                (link, peer) ->
                    link.send(Message.failed("\u001b[31mno\r\nall is well, \u009b0m\0"))))
        .hasMessage("?[31mno??all is well, ?0m?");
  }

  @Test
  void shouldTakeOneSenderOnly() throws Exception {
    try (Target target = target();
        Receiver receiver = new Receiver("sim", SERVICE, target, Link.PATIENCE);
        Link first = new Link("sim", Link.PATIENCE, Privilege.LOCAL_READ);
        Link second = new Link("sim", Link.PATIENCE, Privilege.LOCAL_READ)) {
      first.connect(receiver.address(), SERVICE);
      assertThat(first.take()).isInstanceOf(Link.Established.class);

      second.connect(receiver.address(), SERVICE);

      assertThat(second.take()).asString().contains("PEER_REJECTED");
    }
  }

  @Test
  void shouldRejectWhoIsNoSender() throws Exception {
    try (Target target = target();
        Receiver receiver = new Receiver("sim", SERVICE, target, Link.PATIENCE);
        InterfaceAdapter stranger = Dat.open("sim");
        Evd evd = stranger.createEvd(64, EventStream.DTO, EventStream.CONNECTION);
        ProtectionZone pz = stranger.createPz();
        Endpoint endpoint = stranger.createEndpoint(pz, evd, EndpointAttributes.defaults())) {
      final CompletableFuture<ConnectionEvent> answer = new CompletableFuture<>();
      evd.upcall(
          new EventHandler() {
            @Override
            public void onConnection(final ConnectionEvent event) {
              answer.complete(event.copy());
            }
          });
      endpoint.connect(
          receiver.address(), SERVICE, Duration.ofSeconds(5), ByteBuffer.wrap(new byte[] {1}));

      assertThat(answer.get().kind()).isEqualTo(ConnectionEvent.Kind.PEER_REJECTED);
    }
  }

  @Test
  void shouldEndWhenTheSenderIsGone() throws Exception {
    try (Target target = target();
        Receiver receiver = new Receiver("sim", SERVICE, target, Link.PATIENCE)) {
      final CompletableFuture<CopyException> received = receive(receiver);
      try (Link link = new Link("sim", Link.PATIENCE, Privilege.LOCAL_READ)) {
        link.connect(receiver.address(), SERVICE);
        link.take();
        link.send(Message.chunk(0, 1, 0));
      }
      assertThat(received.get()).hasMessageContaining("the connection ended");
    }
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void shouldEndWhenTheReceiverIsGone() throws Exception {
    try (Sender sender =
        new Sender("sim", new Source("zeros", new Zeros(1, null), 1), Link.PATIENCE)) {
      final Link link =
          new Link("sim", Link.PATIENCE, Privilege.LOCAL_WRITE, Privilege.REMOTE_WRITE);
      link.listen(SERVICE);
      final CompletableFuture<CopyException> sent =
          CompletableFuture.supplyAsync(
              () ->
                  catchThrowableOfType(
                      CopyException.class, () -> sender.send(link.address(), SERVICE)));
      assertThat(link.take()).isInstanceOf(Link.Arrived.class);
      link.close();
      assertThat(sent.get()).hasMessageContaining("the connection ended");
    }
  }

  @Test
  void shouldGiveUpASilentReceiver() throws Exception {
    try (Link link = new Link("sim", Link.PATIENCE, Privilege.LOCAL_WRITE, Privilege.REMOTE_WRITE);
        Sender sender =
            new Sender("sim", new Source("zeros", new Zeros(1, null), 1), Duration.ofSeconds(1))) {
      link.listen(SERVICE); // accepts, and gives no credit

      assertThatThrownBy(() -> sender.send(link.address(), SERVICE))
          .isInstanceOf(CopyException.class)
          .hasMessage("the peer was silent for 1 s");
    }
  }

  @Test
  void shouldGiveUpASilentSender() throws Exception {
    try (Target target = target();
        Receiver receiver = new Receiver("sim", SERVICE, target, Duration.ofSeconds(1));
        Link link = new Link("sim", Link.PATIENCE, Privilege.LOCAL_READ)) {
      link.connect(receiver.address(), SERVICE);
      assertThat(link.take()).isInstanceOf(Link.Established.class);

      assertThatThrownBy(receiver::receive)
          .isInstanceOf(CopyException.class)
          .hasMessage("the peer was silent for 1 s");
      assertThat(answer(link)).isEqualTo(Message.failed("the peer was silent for 1 s"));
    }
    assertThat(directory).isEmptyDirectory();
  }

  /** What a peer sends without credits waits in its own queue, not in the inbox. */
  @Test
  void shouldTakeNoMoreThanItHasReceivesFor() throws Exception {
    try (Link receiver =
        new Link("sim", Link.PATIENCE, Privilege.LOCAL_WRITE, Privilege.REMOTE_WRITE)) {
      receiver.listen(SERVICE);
      try (Link sender = new Link("sim", Link.PATIENCE, Privilege.LOCAL_READ)) {
        sender.connect(receiver.address(), SERVICE);
        assertThat(sender.take()).isInstanceOf(Link.Established.class);
        for (int slot = 0; slot < 10 * Link.MESSAGES; slot++) {
          sender.send(Message.chunk(slot, 0, 0)); // the later ones break the connection
        }
      }

      int arrived = 0;
      while (!(receiver.take() instanceof Link.Ended)) {
        arrived++;
      }
      assertThat(arrived).isBetween(1, Link.MESSAGES);
    }
  }
}
