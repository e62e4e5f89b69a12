package org.jdapl.evd.explorer;

import java.util.ArrayList;
import java.util.List;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.PublicServicePoint;

/** An adapter, and what a run has on it. */
final class AdapterBook {

  final InterfaceAdapter adapter;
  final AuditedProvider.Watched device;
  final ProtectionZone pz;
  final Cell cell;
  final List<Lmr> lmrs = new ArrayList<>();
  final List<PublicServicePoint> psps = new ArrayList<>();

  /** How often it said that its device is gone. */
  int catastrophes;

  /** Whether an EVD was closed that could not tell what it held. */
  boolean isIncomplete;

  boolean closed;

  /** Until when its abrupt close waits for what is open. */
  long closesUntil;

  AdapterBook(
      final InterfaceAdapter adapter, final AuditedProvider.Watched device, final Cell cell) {
    this.cell = cell;
    this.adapter = adapter;
    this.device = device;
    pz = adapter.createPz();
  }
}
