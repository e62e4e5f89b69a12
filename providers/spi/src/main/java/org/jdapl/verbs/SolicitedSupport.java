package org.jdapl.verbs;

/** What a provider makes of {@link ArmKind#SOLICITED}. */
public enum SolicitedSupport {
  /** A solicited receive or any error raises the notification. */
  FULL,
  /** Errors do not count as solicited. */
  NO_ERRORS,
  /** Not supported. */
  UNSUPPORTED
}
