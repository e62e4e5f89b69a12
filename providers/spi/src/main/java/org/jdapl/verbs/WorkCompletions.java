package org.jdapl.verbs;

/**
 * A reusable batch of completions (an array of ibv_wc), filled by {@link CompletionQueue#poll}.
 * Confined to one thread at a time.
 */
public final class WorkCompletions {

  private final long[] wrIds;
  private final WcStatus[] statuses;
  private final WcOpcode[] opcodes;
  private final int[] byteLengths;
  private final int[] qpNumbers;
  private final int[] vendorErrors;
  private final boolean[] withImmediate;
  private final int[] immediates;
  private final boolean[] withInvalidate;
  private int size;

  /**
   * An empty batch.
   *
   * @param capacity how many completions it holds, at least 1.
   */
  public WorkCompletions(final int capacity) {
    wrIds = new long[capacity];
    statuses = new WcStatus[capacity];
    opcodes = new WcOpcode[capacity];
    byteLengths = new int[capacity];
    qpNumbers = new int[capacity];
    vendorErrors = new int[capacity];
    withImmediate = new boolean[capacity];
    immediates = new int[capacity];
    withInvalidate = new boolean[capacity];
  }

  /**
   * How many completions it can hold.
   *
   * @return the capacity.
   */
  public int capacity() {
    return wrIds.length;
  }

  /**
   * How many completions it holds.
   *
   * @return the size.
   */
  public int size() {
    return size;
  }

  /** Empties the batch. */
  public void clear() {
    size = 0;
  }

  /**
   * Appends a completion. Called by the provider.
   *
   * @param wrId the id of the work request.
   * @param status its status.
   * @param opcode what it was of; anything, also null, with an error.
   * @param byteLength bytes transferred; anything with an error.
   * @param qpNumber the number of the queue pair.
   * @param vendorError the vendor's error code.
   * @param hasImmediate whether the message carried immediate data; anything with an error.
   * @param immediate immediate data; anything where there is none.
   * @throws IndexOutOfBoundsException if the batch is full.
   */
  public void add(
      final long wrId,
      final WcStatus status,
      final WcOpcode opcode,
      final int byteLength,
      final int qpNumber,
      final int vendorError,
      final boolean hasImmediate,
      final int immediate) {
    final int index = size;
    wrIds[index] = wrId;
    statuses[index] = status;
    opcodes[index] = opcode;
    byteLengths[index] = byteLength;
    qpNumbers[index] = qpNumber;
    vendorErrors[index] = vendorError;
    withImmediate[index] = hasImmediate;
    immediates[index] = immediate;
    withInvalidate[index] = false;
    size = index + 1;
  }

  /**
   * The completion that was appended last is of a receive whose message ended a memory window.
   * Called by the provider.
   *
   * @param rkey the key the window had.
   */
  @Experimental
  public void setInvalidated(final int rkey) {
    immediates[size - 1] = rkey; // as in ibv_wc: a message has one or the other
    withInvalidate[size - 1] = true;
  }

  /**
   * The id of the work request.
   *
   * @param index 0 up to {@link #size} - 1.
   * @return the id.
   */
  public long wrId(final int index) {
    return wrIds[index];
  }

  /**
   * The status.
   *
   * @param index 0 up to {@link #size} - 1.
   * @return the status.
   */
  public WcStatus status(final int index) {
    return statuses[index];
  }

  /**
   * What it was of. Valid with {@link WcStatus#SUCCESS} only.
   *
   * @param index 0 up to {@link #size} - 1.
   * @return the operation.
   */
  public WcOpcode opcode(final int index) {
    return opcodes[index];
  }

  /**
   * Bytes transferred. Valid with {@link WcStatus#SUCCESS} only.
   *
   * @param index 0 up to {@link #size} - 1.
   * @return bytes.
   */
  public int byteLength(final int index) {
    return byteLengths[index];
  }

  /**
   * The number of the queue pair.
   *
   * @param index 0 up to {@link #size} - 1.
   * @return the number.
   */
  public int qpNumber(final int index) {
    return qpNumbers[index];
  }

  /**
   * The vendor's error code.
   *
   * @param index 0 up to {@link #size} - 1.
   * @return the code.
   */
  public int vendorError(final int index) {
    return vendorErrors[index];
  }

  /**
   * Whether the message carried immediate data, which a receive's opcode does not tell. Valid with
   * {@link WcStatus#SUCCESS} only.
   *
   * @param index 0 up to {@link #size} - 1.
   * @return true if {@link #immediate} is valid.
   */
  public boolean hasImmediate(final int index) {
    return withImmediate[index];
  }

  /**
   * Immediate data. Valid with {@link WcStatus#SUCCESS} and where {@link #hasImmediate}.
   *
   * @param index 0 up to {@link #size} - 1.
   * @return the data.
   */
  public int immediate(final int index) {
    return immediates[index];
  }

  /**
   * Whether the message ended a memory window. Valid with {@link WcStatus#SUCCESS} only.
   *
   * @param index 0 up to {@link #size} - 1.
   * @return true if {@link #invalidatedRkey} is valid.
   */
  @Experimental
  public boolean hasInvalidated(final int index) {
    return withInvalidate[index];
  }

  /**
   * The key of the window that the message ended. Valid where {@link #hasInvalidated}.
   *
   * @param index 0 up to {@link #size} - 1.
   * @return the key.
   */
  @Experimental
  public int invalidatedRkey(final int index) {
    return immediates[index];
  }
}
