package org.jdapl.evd;

import org.jdapl.dat.DatObject;
import org.jdapl.dat.HandleType;
import org.jdapl.dat.InterfaceAdapter;

/** What all DAT objects have: a type, a name, and the consumer's context. */
abstract class ObjectBase implements DatObject {

  /** The name, also where a subclass shows more of itself in its messages. */
  final String name;

  private final HandleType type;
  private volatile Object context;

  ObjectBase(final HandleType type, final String name) {
    this.type = type;
    this.name = name;
  }

  @Override
  public final HandleType type() {
    return type;
  }

  abstract IaImpl ia();

  @Override
  public final InterfaceAdapter adapter() {
    return ia();
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final Object context() {
    return context;
  }

  @Override
  public final void context(final Object value) {
    context = value;
  }

  @Override
  public String toString() {
    return name;
  }
}
