package org.jdapl.examples.copy;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jdapl.dat.DatException;
import org.jdapl.dat.Privilege;

/**
 * Reads a file and writes it into the receiver's memory.
 *
 * <p>A chunk goes from a slot here to the slot of the same number there, one slot after the other.
 * A slot is free again when its RDMA write completed, so that its memory here may change, and when
 * its credit came, so that its memory there may change.
 */
final class Sender implements AutoCloseable {

  /**
   * What came of it.
   *
   * @param bytes how long the file is.
   * @param nanos from the first read until the file had its name.
   * @param chunks how many RDMA writes it took.
   * @param waits how often no slot was free.
   * @param written the sum of the bytes in the completions of the RDMA writes.
   * @param digest the one of both sides.
   */
  record Result(long bytes, long nanos, long chunks, long waits, long written, String digest) {}

  private static final Duration END_BOUND = Duration.ofSeconds(5);

  private final Source source;
  private final Link link;
  private final Digest digest = new Digest();
  private final boolean[] isWriting = new boolean[Link.SLOTS];
  private final boolean[] isLent = new boolean[Link.SLOTS];
  private long chunks;
  private long waits;
  private volatile long written;
  private Link.Established peer;
  private String receipt;

  Sender(final String ia, final Source source, final Duration patience) {
    this.source = source;
    link = new Link(ia, patience, Privilege.LOCAL_READ);
  }

  /** How many bytes are in the receiver's memory, or were. From any thread. */
  long written() {
    return written;
  }

  InetAddress address() {
    return link.address();
  }

  /** Sends the file to a receiver, and returns when the receiver has all of it. */
  Result send(final InetAddress receiver, final long service)
      throws CopyException, InterruptedException {
    link.connect(receiver, service);
    String problem = "the sender broke down";
    try {
      return send();
    } catch (final CopyException e) {
      problem = e.getMessage();
      throw e;
    } finally {
      if (receipt == null) {
        link.tell(Message.failed(problem));
      }
      end();
    }
  }

  private Result send() throws CopyException, InterruptedException {
    while (peer == null) {
      react(link.take());
    }
    final long start = System.nanoTime();
    long position = 0;
    while (position < source.size()) {
      final int slot = (int) (chunks % Link.SLOTS);
      awaitFree(slot);
      final ByteBuffer chunk = link.slot(slot);
      source.read(chunk);
      digest.add(chunk);
      isWriting[slot] = true;
      isLent[slot] = true;
      link.write(slot, chunk.limit(), peer);
      link.send(Message.chunk(slot, chunk.limit(), position)); // arrives after what was written
      position += chunk.limit();
      chunks++;
    }
    source.expectEnd();
    for (int slot = 0; slot < Link.SLOTS; slot++) {
      while (isBusy(slot)) {
        react(link.take());
      }
    }
    if (written != position) {
      throw new CopyException(
          "the RDMA writes completed with " + written + " bytes, but the file has " + position);
    }
    final String mine = digest.hex();
    link.send(Message.end(position, mine));
    while (receipt == null) {
      react(link.take());
    }
    final long nanos = System.nanoTime() - start;
    if (!receipt.equals(mine)) {
      throw new CopyException("the digest here is " + mine + ", the receiver's is " + receipt);
    }
    return new Result(position, nanos, chunks, waits, written, mine);
  }

  private void awaitFree(final int slot) throws CopyException, InterruptedException {
    for (Link.News news = link.poll(); news != null; news = link.poll()) {
      react(news);
    }
    if (isBusy(slot)) {
      waits++;
      do {
        react(link.take());
      } while (isBusy(slot));
    }
  }

  private boolean isBusy(final int slot) {
    return isWriting[slot] || isLent[slot];
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // only the thread of send writes it
  private void react(final Link.News news) throws CopyException {
    if (news instanceof Link.Established established) {
      peer = established;
    } else if (news instanceof Link.Written done) {
      isWriting[done.slot()] = false;
      written += done.bytes();
    } else if (news instanceof Link.Arrived arrived) {
      react(arrived.message());
    } else if (news instanceof Link.Ended ended) {
      throw new CopyException(ended.why());
    }
  }

  private void react(final Message message) throws CopyException {
    switch (message.kind()) {
      case CREDIT -> {
        if (message.slot() < 0 || message.slot() >= Link.SLOTS) {
          throw new CopyException("the receiver gave back slot " + message.slot());
        }
        isLent[message.slot()] = false;
      }
      case DONE -> receipt = message.text();
      case FAILED -> throw new CopyException(message.text());
      case CHUNK, END -> throw new CopyException("the receiver sent " + message);
    }
  }

  private void end() throws InterruptedException {
    try {
      link.disconnect();
      link.awaitEnd(END_BOUND);
    } catch (final DatException e) {
      // there was no connection
    }
  }

  @Override
  public void close() {
    link.close();
  }
}
