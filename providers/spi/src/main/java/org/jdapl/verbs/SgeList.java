package org.jdapl.verbs;

/** The scatter-gather elements of a work request (ibv_sge). Confined to one thread at a time. */
public abstract class SgeList {

  private final long[] addresses;
  private final int[] lengths;
  private final int[] lkeys;
  private int count;

  SgeList(final int maxSge) {
    addresses = new long[maxSge];
    lengths = new int[maxSge];
    lkeys = new int[maxSge];
  }

  /** Removes all elements. */
  public void clearSge() {
    count = 0;
  }

  /**
   * Appends an element.
   *
   * @param address where it starts.
   * @param length bytes.
   * @param lkey the key of its region.
   * @throws IndexOutOfBoundsException if there is no room.
   */
  public void addSge(final long address, final int length, final int lkey) {
    final int index = count;
    addresses[index] = address;
    lengths[index] = length;
    lkeys[index] = lkey;
    count = index + 1;
  }

  /** Has the elements of another list; its caller sees to the room. */
  final void copySge(final SgeList from) {
    final int elements = from.count;
    System.arraycopy(from.addresses, 0, addresses, 0, elements);
    System.arraycopy(from.lengths, 0, lengths, 0, elements);
    System.arraycopy(from.lkeys, 0, lkeys, 0, elements);
    count = elements;
  }

  /**
   * The bytes of all elements.
   *
   * @return the sum of their lengths.
   */
  public long length() {
    long sum = 0;
    for (int i = 0; i < count; i++) {
      sum += lengths[i];
    }
    return sum;
  }

  /**
   * How many elements there are.
   *
   * @return the number.
   */
  public int sgeCount() {
    return count;
  }

  /**
   * Where an element starts.
   *
   * @param index 0 up to {@link #sgeCount} - 1.
   * @return the address.
   */
  public long sgeAddress(final int index) {
    return addresses[index];
  }

  /**
   * The length of an element.
   *
   * @param index 0 up to {@link #sgeCount} - 1.
   * @return bytes.
   */
  public int sgeLength(final int index) {
    return lengths[index];
  }

  /**
   * The key of an element's region.
   *
   * @param index 0 up to {@link #sgeCount} - 1.
   * @return the key.
   */
  public int sgeLkey(final int index) {
    return lkeys[index];
  }
}
