package org.jdapl.examples.copy;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jdapl.dat.Privilege;

/** Lets a sender write into its memory, and writes that into a file. */
final class Receiver implements AutoCloseable {

  private static final Duration END_BOUND = Duration.ofSeconds(5);

  private final Target target;
  private final Link link;
  private final long service;
  private final Digest digest = new Digest();
  private long position;
  private boolean isComplete;

  Receiver(final String ia, final long wanted, final Target target, final Duration patience) {
    this.target = target;
    link = new Link(ia, patience, Privilege.LOCAL_WRITE, Privilege.REMOTE_WRITE);
    try {
      service = link.listen(wanted);
    } catch (final RuntimeException e) {
      link.close();
      throw e;
    }
  }

  InetAddress address() {
    return link.address();
  }

  /** Where it listens. */
  long service() {
    return service;
  }

  /** How many bytes came. */
  long received() {
    return position;
  }

  /** Receives one file, from the first sender that comes, and returns when it has its name. */
  void receive() throws CopyException, InterruptedException {
    String problem = "the receiver broke down";
    try {
      while (!isComplete) {
        react(link.take());
      }
    } catch (final CopyException e) {
      problem = e.getMessage();
      throw e;
    } finally {
      if (!isComplete) {
        link.tell(Message.failed(problem));
      }
      link.awaitEnd(END_BOUND); // the sender ends it, when it heard the last message
    }
  }

  private void react(final Link.News news) throws CopyException, InterruptedException {
    if (news instanceof Link.Arrived arrived) {
      react(arrived.message());
    } else if (news instanceof Link.Ended ended) {
      throw new CopyException(ended.why());
    }
  }

  private void react(final Message message) throws CopyException, InterruptedException {
    switch (message.kind()) {
      case CHUNK -> {
        write(message);
        link.send(Message.credit(message.slot()));
      }
      case END -> {
        complete(message);
        link.send(Message.done(message.text()));
      }
      case FAILED -> throw new CopyException(message.text());
      case CREDIT, DONE -> throw new CopyException("the sender sent " + message);
    }
  }

  private void write(final Message message) throws CopyException {
    if (message.slot() < 0
        || message.slot() >= Link.SLOTS
        || message.length() < 0
        || message.length() > Link.SLOT_BYTES
        || message.position() != position) {
      throw new CopyException("the sender sent " + message + "; expected position " + position);
    }
    final ByteBuffer chunk = link.slot(message.slot()).limit(message.length());
    digest.add(chunk);
    target.write(chunk, position);
    position += message.length();
  }

  private void complete(final Message end) throws CopyException {
    if (end.position() != position) {
      throw new CopyException(
          "the sender sent " + end.position() + " bytes, " + position + " came here");
    }
    final String mine = digest.hex();
    if (!end.text().equals(mine)) {
      throw new CopyException("the digest here is " + mine + ", the sender's is " + end.text());
    }
    target.complete();
    isComplete = true;
  }

  /** Gives up, if it has not ended by itself. From any thread. */
  void stop() {
    link.end("the sender is gone");
  }

  @Override
  public void close() {
    link.close();
  }
}
