package org.jdapl.examples.copy;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/** Why a file could not be used, as people say it. */
final class Reason {

  private Reason() {}

  /** The reason without the name of the file: many of these exceptions have nothing else. */
  static String of(final IOException e) {
    if (e instanceof NoSuchFileException) {
      return "there is no such file";
    }
    if (e instanceof AccessDeniedException) {
      return "permission denied";
    }
    if (e instanceof NotDirectoryException || e instanceof FileSystemLoopException) {
      return "its path does not lead to a file";
    }
    if (e instanceof ClosedChannelException) {
      return "it was closed meanwhile";
    }
    if (e instanceof FileSystemException failure && failure.getReason() != null) {
      return failure.getReason();
    }
    return e.getMessage() == null ? e.toString() : e.getMessage();
  }
}
