package org.jdapl.rdmacore.jni;

/** epoll and eventfd; see {@link Verbs}. */
public final class Poller {

  /** How many tags one wait writes at most. */
  public static final int MAX = 16;

  private Poller() {}

  /** epoll_create1. */
  public static native int create();

  /** eventfd. */
  public static native int createWakeup();

  /** Has a descriptor looked at, level triggered. */
  public static native int add(int epoll, int fd, long tag);

  /** Has a descriptor not looked at any more. */
  public static native int remove(int epoll, int fd);

  /** Sets O_NONBLOCK. */
  public static native int setNonBlocking(int fd);

  /** Waits until a descriptor is ready, and writes the tags of those that are; how many. */
  public static native int await(int epoll, long into, int timeoutMillis);

  /** Makes an eventfd ready. */
  public static native int wake(int fd);

  /** Makes an eventfd not ready. */
  public static native void clearWakeup(int fd);

  /** close. */
  public static native int close(int fd);
}
