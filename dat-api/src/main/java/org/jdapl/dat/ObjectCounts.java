package org.jdapl.dat;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * How many objects are open. One that was closed counts until its close is over. All are 0 after
 * the last adapter of a runtime was closed.
 *
 * @param adapters interface adapters of the runtime; those that {@link Dat#open} opened have one
 *     each.
 * @param evds EVDs of the adapter, without its own async EVD.
 * @param cnos CNOs of the adapter.
 * @param protectionZones protection zones of the adapter.
 * @param lmrs memory regions of the adapter.
 * @param rmrs remote memory regions of the adapter.
 * @param sharedReceiveQueues shared receive queues of the adapter.
 * @param endpoints endpoints of the adapter.
 * @param servicePoints service points of the adapter.
 * @param connectionRequests connection requests of the adapter that were not answered.
 */
@Experimental
public record ObjectCounts(
    int adapters,
    int evds,
    int cnos,
    int protectionZones,
    int lmrs,
    int rmrs,
    int sharedReceiveQueues,
    int endpoints,
    int servicePoints,
    int connectionRequests) {

  /**
   * What is open, in one line, without what is zero.
   *
   * @return a line such as {@code open: 1 adapters, 2 EVDs, 1 endpoints}.
   */
  @Override
  public String toString() {
    final int[] counts = {
      adapters,
      evds,
      cnos,
      protectionZones,
      lmrs,
      rmrs,
      sharedReceiveQueues,
      endpoints,
      servicePoints,
      connectionRequests
    };
    final List<String> kinds =
        List.of(
            "adapters",
            "EVDs",
            "CNOs",
            "protection zones",
            "memory regions",
            "remote memory regions",
            "shared receive queues",
            "endpoints",
            "service points",
            "connection requests");
    final String open =
        IntStream.range(0, counts.length)
            .filter(i -> counts[i] != 0)
            .mapToObj(i -> counts[i] + " " + kinds.get(i))
            .collect(Collectors.joining(", "));
    return "open: " + (open.isEmpty() ? "nothing" : open);
  }
}
