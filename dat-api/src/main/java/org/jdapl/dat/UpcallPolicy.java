package org.jdapl.dat;

/** How an EVD tells its consumer of events (DAT_UPCALL_POLICY). */
public enum UpcallPolicy {
  /** Not at all: events wait until they are dequeued. */
  DISABLED,
  /** By upcalls that get the events, one at a time. */
  SINGLE_INSTANCE,
  /** By one upcall that gets no event; then not at all until enabled again. */
  NOTIFY,
  /** By upcalls that get the events, several at a time. */
  MANY
}
