package org.jdapl.dat;

/** Whether two names stand for the same device (DAT_HA_RELATIONSHIP); see {@link Dat#related}. */
public enum HaRelationship {
  /** They do not: their providers differ. */
  FALSE,
  /** They do: provider and parameters are the same. */
  TRUE,
  /** Only the provider could tell: it is the same, with other parameters. */
  UNKNOWN,
  /** A name has several lines, and they do not agree. */
  CONFLICTING
}
