package org.jdapl.sim;

/** How long something takes: drawn each time from a range. */
record Latency(SimFabric fabric, long minNanos, long maxNanos) {

  boolean isZero() {
    return maxNanos == 0;
  }

  long draw() {
    return minNanos == maxNanos ? minNanos : fabric.random(minNanos, maxNanos + 1);
  }
}
