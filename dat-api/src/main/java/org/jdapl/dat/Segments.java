package org.jdapl.dat;

/**
 * A reusable list of memory segments (an array of DAT_LMR_TRIPLET). A post reads it before it
 * returns, and it may be used again then. Confined to one thread at a time.
 */
public final class Segments {

  private final Lmr[] lmrs;
  private final long[] offsets;
  private final long[] lengths;
  private int count;

  /**
   * An empty list.
   *
   * @param capacity how many segments it has room for.
   */
  public Segments(final int capacity) {
    if (capacity < 0) {
      throw new DatException(
          ReturnType.INVALID_PARAMETER,
          ReturnSubtype.INVALID_ARG1,
          "Segments: the capacity " + capacity + " is below 0");
    }
    lmrs = new Lmr[capacity];
    offsets = new long[capacity];
    lengths = new long[capacity];
  }

  /**
   * Removes all segments.
   *
   * @return this.
   */
  public Segments clear() {
    count = 0;
    return this;
  }

  /**
   * Appends a segment.
   *
   * @param lmr the region.
   * @param offset where it starts in the region, in bytes.
   * @param length how long it is, in bytes.
   * @return this.
   * @throws DatException INVALID_PARAMETER if there is no room.
   */
  public Segments add(final Lmr lmr, final long offset, final long length) {
    if (count == lmrs.length) {
      throw new DatException(
          ReturnType.INVALID_PARAMETER,
          ReturnSubtype.NO_SUBTYPE,
          "Segments.add: it has room for " + count + " segments and holds as many");
    }
    lmrs[count] = lmr;
    offsets[count] = offset;
    lengths[count] = length;
    count++;
    return this;
  }

  /**
   * How many segments it holds.
   *
   * @return the number.
   */
  public int count() {
    return count;
  }

  /**
   * The region of a segment.
   *
   * @param index 0 up to {@link #count} - 1.
   * @return the region.
   */
  public Lmr lmr(final int index) {
    return lmrs[index];
  }

  /**
   * Where a segment starts.
   *
   * @param index 0 up to {@link #count} - 1.
   * @return bytes from the start of the region.
   */
  public long offset(final int index) {
    return offsets[index];
  }

  /**
   * How long a segment is.
   *
   * @param index 0 up to {@link #count} - 1.
   * @return bytes.
   */
  public long length(final int index) {
    return lengths[index];
  }
}
