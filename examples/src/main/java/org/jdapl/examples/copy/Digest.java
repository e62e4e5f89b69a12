package org.jdapl.examples.copy;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The SHA-256 digest of a file, chunk by chunk. */
final class Digest {

  private final MessageDigest sha256;

  Digest() {
    try {
      sha256 = MessageDigest.getInstance("SHA-256");
    } catch (final NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** Adds a buffer from its position to its limit, which are left alone. */
  void add(final ByteBuffer chunk) {
    sha256.update(chunk.duplicate());
  }

  /** The digest in hexadecimal; to be asked once, at the end. */
  String hex() {
    return HexFormat.of().formatHex(sha256.digest());
  }
}
