package org.jdapl.examples.copy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;

/** The file that is read. It must keep the size it had when it was opened. */
final class Source implements AutoCloseable {

  private final String name;
  private final ReadableByteChannel channel;
  private final long size;
  private final FileAttribute<?>[] permissions;
  private long position;

  Source(
      final String name,
      final ReadableByteChannel channel,
      final long size,
      final FileAttribute<?>... permissions) {
    this.name = name;
    this.permissions = permissions;
    this.channel = channel;
    this.size = size;
  }

  static Source open(final Path path) throws CopyException {
    try {
      final BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
      if (attributes.isDirectory()) {
        throw new CopyException("cannot read " + path + ": it is a directory; name a file");
      }
      if (!attributes.isRegularFile()) { // before it is opened: that may wait, or do something
        throw new CopyException("cannot read " + path + ": it is not a regular file");
      }
      final FileAttribute<?>[] permissions = permissions(path);
      final FileChannel channel = FileChannel.open(path, StandardOpenOption.READ);
      try {
        return new Source(path.toString(), channel, channel.size(), permissions);
      } catch (final IOException e) {
        channel.close();
        throw e;
      }
    } catch (final IOException e) {
      throw failed(path.toString(), e);
    }
  }

  private static FileAttribute<?>[] permissions(final Path path) throws IOException {
    if (!path.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      return new FileAttribute<?>[0];
    }
    return new FileAttribute<?>[] {
      PosixFilePermissions.asFileAttribute(Files.getPosixFilePermissions(path))
    };
  }

  private static CopyException failed(final String name, final IOException e) {
    return new CopyException("cannot read " + name + ": " + Reason.of(e), e);
  }

  long size() {
    return size;
  }

  /** What a copy is to be created with, so that only those can read it who can read this. */
  FileAttribute<?>[] permissions() {
    return permissions.clone();
  }

  /** Fills a buffer from its start with what comes next, and flips it: as much as there is room. */
  void read(final ByteBuffer to) throws CopyException {
    to.clear().limit((int) Math.min(to.capacity(), size - position));
    while (to.hasRemaining()) {
      if (read0(to) < 0) {
        throw new CopyException(
            name
                + " became shorter while it was read: "
                + size
                + " bytes at first, then "
                + (position + to.position()));
      }
    }
    to.flip();
    position += to.limit();
  }

  /** To be called at the end: there must be nothing more. */
  void expectEnd() throws CopyException {
    if (read0(ByteBuffer.allocate(1)) > 0) {
      throw new CopyException(
          name + " became longer while it was read: " + size + " bytes at first, then more");
    }
  }

  private int read0(final ByteBuffer to) throws CopyException {
    try {
      return channel.read(to);
    } catch (final IOException e) {
      throw failed(name, e);
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (final IOException e) {
      // it was only read
    }
  }
}
