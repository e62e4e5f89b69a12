package org.jdapl.rdmacore;

import java.nio.file.Path;

/** Controls the fake libibverbs and librdmacm, which this process found instead of real ones. */
final class Fake {

  static {
    System.load(Path.of(System.getenv("LD_LIBRARY_PATH"), "libibverbs.so.1").toString());
  }

  private Fake() {}

  /** Counts calls from 0, and has one of them fail; 0 for none. */
  static native void failAt(long call, int errno);

  /** How many calls there were since then. */
  static native long calls();

  /** The call that failed; empty if it did not come. */
  static native String failed();

  /** Every verb that was called ever, a line each. */
  static native String called();

  /** What was done that real libraries punish with a hang, a line each. */
  static native String violations();

  /** The objects that live; empty if none do. */
  static native String live();

  /** Has an asynchronous event happen to a queue pair. */
  static native void raiseQp(int number, int type);

  /** Has an asynchronous event happen to the device, or to a port. */
  static native void raiseDevice(int type, int port);

  /** Has every id told that the device is being removed. */
  static native void removeDevice();
}
