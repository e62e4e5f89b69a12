package org.jdapl.dat;

/**
 * Misuse, or a failure of the provider: DAT's return code as an exception. The message names the
 * object, the value, and what was expected; the cause, if any, is the provider's.
 */
public final class DatException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private static final int CLASS_ERROR = 0x80000000;

  private final ReturnType type;
  private final ReturnSubtype subtype;

  /**
   * An error.
   *
   * @param type DAT's type.
   * @param subtype DAT's subtype.
   * @param message the object, the value, what was expected, and what to do.
   */
  public DatException(final ReturnType type, final ReturnSubtype subtype, final String message) {
    this(type, subtype, message, null);
  }

  /**
   * An error with a cause.
   *
   * @param type DAT's type.
   * @param subtype DAT's subtype.
   * @param message the object, the value, what was expected, and what to do.
   * @param cause the provider's failure, or null.
   */
  public DatException(
      final ReturnType type,
      final ReturnSubtype subtype,
      final String message,
      final Throwable cause) {
    super(
        subtype == ReturnSubtype.NO_SUBTYPE
            ? type + ": " + message
            : type + "/" + subtype + ": " + message,
        cause);
    this.type = type;
    this.subtype = subtype;
  }

  /**
   * The type of the error.
   *
   * @return DAT's type.
   */
  public ReturnType type() {
    return type;
  }

  /**
   * The subtype of the error.
   *
   * @return DAT's subtype; NO_SUBTYPE where DAT has none.
   */
  public ReturnSubtype subtype() {
    return subtype;
  }

  /**
   * The error as DAT's 32 bits (DAT_RETURN): the class in the two highest bits, always that of an
   * error; the number of the type in the 14 below; the number of the subtype in the 16 lowest.
   *
   * @return the code; as a signed number it is negative.
   */
  public int code() {
    return CLASS_ERROR | type.number() << 16 | subtype.number();
  }
}
