package org.jdapl.verbs;

/** How long the private data is that a device shows, beside what the peer gave. */
public enum PrivateDataLength {
  /** As long as what the peer gave. */
  EXACT,
  /** Zeros may follow what the peer gave: messages of the connection manager have a fixed size. */
  PADDED,
  /** Not known. */
  UNKNOWN
}
