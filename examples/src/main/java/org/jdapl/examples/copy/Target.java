package org.jdapl.examples.copy;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The file that is written: under another name in the same directory, until it is complete. It then
 * gets its name in one step, so that nobody ever sees half of it.
 */
final class Target implements AutoCloseable {

  private enum State {
    NEW,
    OPEN,
    COMPLETE,
    DISCARDED
  }

  private final Path path;
  private final Path directory;
  private final boolean force;

  // Guarded by this; a discard may come from another thread at any time.
  private State state = State.NEW;
  private Path partial;

  private volatile FileChannel channel;

  /**
   * Looks, and changes nothing yet.
   *
   * @param force whether to replace a file that is there.
   */
  Target(final Path path, final boolean force) throws CopyException {
    this.path = path;
    this.force = force;
    directory = path.toAbsolutePath().getParent();
    check();
    if (!Files.isDirectory(directory)) {
      throw new CopyException(
          "cannot write "
              + path
              + ": there is no directory "
              + (path.getParent() == null ? directory : path.getParent()));
    }
  }

  private void check() throws CopyException {
    final BasicFileAttributes attributes;
    try {
      // A symbolic link is what would be replaced, not what it leads to.
      attributes = Files.readAttributes(path, BasicFileAttributes.class, NOFOLLOW_LINKS);
    } catch (final NoSuchFileException e) {
      return;
    } catch (final IOException e) {
      throw failed(e);
    }
    if (attributes.isDirectory() || Files.isDirectory(path)) {
      throw new CopyException("cannot write " + path + ": it is a directory; name a file in it");
    }
    if (!attributes.isRegularFile() && !attributes.isSymbolicLink()) {
      throw new CopyException("cannot write " + path + ": it is not a regular file");
    }
    if (!force) {
      throw new CopyException("cannot write " + path + ": it exists; --force replaces it");
    }
  }

  private CopyException failed(final IOException e) {
    return new CopyException("cannot write " + path + ": " + Reason.of(e), e);
  }

  /** Creates the partial file. */
  synchronized void open() throws CopyException {
    if (state != State.NEW) {
      throw new CopyException("cannot write " + path + ": given up before it began");
    }
    while (state == State.NEW) {
      final String name = ".copy-%016x".formatted(ThreadLocalRandom.current().nextLong());
      partial = directory.resolve(name);
      try {
        channel =
            FileChannel.open(partial, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        state = State.OPEN;
      } catch (final FileAlreadyExistsException e) {
        // takes another name
      } catch (final IOException e) {
        throw failed(e);
      }
    }
  }

  /** Writes all of a buffer. */
  void write(final ByteBuffer from, final long position) throws CopyException {
    final int start = from.position();
    try {
      while (from.hasRemaining()) {
        channel.write(from, position + from.position() - start);
      }
    } catch (final IOException e) {
      throw failed(e);
    }
  }

  /** Gives the complete file its name. */
  synchronized void complete() throws CopyException {
    if (state != State.OPEN) {
      throw new CopyException("cannot write " + path + ": given up before it was complete");
    }
    check();
    try {
      channel.close(); // may report what could not be written
      Files.move(partial, path, StandardCopyOption.ATOMIC_MOVE);
    } catch (final IOException e) {
      throw failed(e);
    }
    state = State.COMPLETE;
  }

  /**
   * Removes what was written, unless it is complete. From any thread, at any time.
   *
   * @return whether it was not complete.
   */
  synchronized boolean discard() {
    if (state == State.OPEN) {
      try {
        channel.close();
      } catch (final IOException e) {
        // nobody will read it
      }
      try {
        Files.deleteIfExists(partial);
      } catch (final IOException e) {
        System.err.println("cannot remove " + partial + ": " + Reason.of(e));
      }
    }
    if (state != State.COMPLETE) {
      state = State.DISCARDED;
    }
    return state == State.DISCARDED;
  }

  @Override
  public void close() {
    discard();
  }
}
