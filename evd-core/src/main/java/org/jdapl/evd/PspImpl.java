package org.jdapl.evd;

import org.jdapl.dat.HandleType;
import org.jdapl.dat.PublicServicePoint;

/** A public service point. */
final class PspImpl extends SpImpl implements PublicServicePoint {

  PspImpl(final String name, final IaImpl ia, final EvdImpl evd, final long connQual) {
    super(HandleType.PSP, name, ia, evd, connQual);
  }
}
