package org.jdapl.dat;

/** How many upcalls of one EVD may run at once. */
public final class Concurrency {

  /** One at a time (DAT_UPCALL_SINGLE_INSTANCE): the serializer. */
  public static final Concurrency SINGLE_INSTANCE = new Concurrency(1);

  private final int limit;

  private Concurrency(final int limit) {
    this.limit = limit;
  }

  /**
   * Up to a number at once (DAT_UPCALL_MANY): each event goes to exactly one upcall, in the order
   * of hand-out; upcalls may overtake each other after that.
   *
   * @param limit how many, 1 to 1023.
   * @return the concurrency.
   * @throws DatException INVALID_PARAMETER (INVALID_ARG1) if the limit is outside of that.
   */
  public static Concurrency many(final int limit) {
    if (limit < 1 || limit > 1023) {
      throw new DatException(
          ReturnType.INVALID_PARAMETER,
          ReturnSubtype.INVALID_ARG1,
          "Concurrency.many: limit " + limit + " is outside 1..1023");
    }
    return new Concurrency(limit);
  }

  /**
   * How many upcalls may run at once.
   *
   * @return at least 1.
   */
  public int limit() {
    return limit;
  }

  /**
   * Whether upcalls may overlap, and an event is handed out before its upcall runs.
   *
   * @return false for {@link #SINGLE_INSTANCE} only.
   */
  public boolean isMany() {
    return this != SINGLE_INSTANCE;
  }

  @Override
  public String toString() {
    return isMany() ? "MANY(" + limit + ")" : "SINGLE_INSTANCE";
  }
}
