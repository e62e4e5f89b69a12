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
import java.nio.file.attribute.FileAttribute;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The file that is written: under another name in the same directory, until it is complete. It then
 * gets its name in one step, so that nobody ever sees half of it.
 *
 * <p>Unless a file may be replaced, that step is a hard link, which fails if the name is taken; the
 * other name is removed then. Where there are no hard links, it is a move, and a file that another
 * process creates at the very moment is replaced.
 */
final class Target implements AutoCloseable {

  private enum State {
    NEW,
    OPEN,
    COMPLETE,
    DISCARDED
  }

  /** How much may wait to be forced: the last force must not take long, the sender waits for it. */
  private static final long UNFORCED_BYTES = 64 << 20;

  private final Path path;
  private final Path directory;
  private final boolean force;

  // Guarded by this; a discard may come from another thread at any time.
  private State state = State.NEW;
  private Path partial;

  private volatile FileChannel channel;
  private long unforced; // only who writes knows

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
      throw exists();
    }
  }

  private CopyException exists() {
    return new CopyException("cannot write " + path + ": it exists; --force replaces it");
  }

  private CopyException failed(final IOException e) {
    return new CopyException("cannot write " + path + ": " + Reason.of(e), e);
  }

  /**
   * Creates the partial file.
   *
   * @param permissions of the file, less those of the umask; left out where there are none.
   */
  synchronized void open(final FileAttribute<?>... permissions) throws CopyException {
    if (state != State.NEW) {
      throw new CopyException("cannot write " + path + ": given up before it began");
    }
    final boolean isPosix =
        directory.getFileSystem().supportedFileAttributeViews().contains("posix");
    while (state == State.NEW) {
      final String name = ".copy-%016x".formatted(ThreadLocalRandom.current().nextLong());
      partial = directory.resolve(name);
      try {
        channel =
            FileChannel.open(
                partial,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                isPosix ? permissions : new FileAttribute<?>[0]);
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
        unforced += channel.write(from, position + from.position() - start);
      }
      if (unforced >= UNFORCED_BYTES) {
        channel.force(false);
        unforced = 0;
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
      channel.force(true); // else a crash might leave the name without the bytes
      channel.close(); // may report what could not be written
      name();
    } catch (final IOException e) {
      throw failed(e);
    }
    state = State.COMPLETE;
    removePartial();
  }

  private void name() throws CopyException, IOException {
    if (!force) {
      try {
        Files.createLink(path, partial);
        return;
      } catch (final FileAlreadyExistsException e) {
        throw exists();
      } catch (final IOException | UnsupportedOperationException e) {
        check(); // there are no links here; or what else is wrong will be found soon
      }
    }
    Files.move(partial, path, StandardCopyOption.ATOMIC_MOVE);
  }

  private void removePartial() {
    try {
      Files.deleteIfExists(partial);
    } catch (final IOException e) {
      System.err.println("cannot remove " + partial + ": " + Reason.of(e));
    }
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
      removePartial();
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
