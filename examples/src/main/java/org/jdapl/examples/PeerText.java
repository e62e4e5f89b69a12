package org.jdapl.examples;

/** What a peer says, for people to read. */
public final class PeerText {

  private PeerText() {}

  /** A text in one line that does nothing to a terminal but to be shown. */
  public static String printable(final String text) {
    return text.replaceAll("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]", "?");
  }
}
