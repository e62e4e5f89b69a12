package org.jdapl.rdmacore;

import java.nio.file.Path;

/** Controls the fake libibverbs and librdmacm, which this process found instead of real ones. */
final class Fake {

  static {
    System.load(Path.of(System.getenv("LD_LIBRARY_PATH"), "libibverbs.so.1").toString());
  }

  private Fake() {}

  /** A device that has everything, and no call that fails. */
  static native void reset();

  /** What the device is called, and who made it. */
  static native void identify(String name, int vendor);

  /** Another transport than InfiniBand. */
  static native void speakIwarp();

  /** What the device has, or not. */
  static native void limit(int srqs, int windows, boolean atomics, int inline);

  /**
   * Counts calls from 0, and has one of them fail; 0 for none.
   *
   * @param errno below 0 for a driver that returns it negated and sets no errno.
   */
  static native void failAt(long call, int errno);

  /** Has the next call of a verb fail; see {@link #failAt}. */
  static native void failNext(String verb, int errno);

  /** Has the next call of a verb not return, when it is done, before {@link #resume}. */
  static native void pauseAfter(String verb);

  /** Waits until a call is done that does not return. */
  static native void awaitPause();

  static native void resume();

  /** How many calls there were since then. */
  static native long calls();

  /** The call that failed; empty if it did not come. */
  static native String failed();

  /** Every verb that failed ever because it was told to, a line each. */
  static native String failedEver();

  /** A number for the calls in their order since it was asked for last. */
  static native long sequence();

  /** Every verb that was called ever, a line each. */
  static native String called();

  /** What was done that real libraries punish with a hang, a line each. */
  static native String violations();

  /** Counts an object as gone that lives, because the device would not destroy it. */
  static native void forget(String kind);

  /** The objects that live; empty if none do. */
  static native String live();

  /**
   * What a queue pair was told: timeout, retry_cnt, rnr_retry, min_rnr_timer, max_rd_atomic,
   * max_dest_rd_atomic.
   */
  static native int[] attributes(int number);

  /** Has an asynchronous event happen to a queue pair. */
  static native void raiseQp(int number, int type);

  /** Has an asynchronous event happen to the device, or to a port. */
  static native void raiseDevice(int type, int port);

  /** Has every id told that the device is being removed. */
  static native void removeDevice();
}
