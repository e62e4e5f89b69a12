package org.jdapl.dat;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What is open on an interface adapter, what its open EVDs counted, and the dispatchers that serve
 * them. {@link #toString} is made to be printed.
 *
 * @param ia the name of the adapter.
 * @param open how many objects are open.
 * @param dispatchers the dispatchers; adapters may share them.
 * @param evds the EVDs, the adapter's own async EVD last.
 */
@Experimental
public record IaStatistics(
    String ia,
    ObjectCounts open,
    List<DispatcherStatistics> dispatchers,
    List<EvdStatistics> evds) {

  /**
   * Makes the lists unmodifiable.
   *
   * @param ia the name of the adapter.
   * @param open how many objects are open.
   * @param dispatchers the dispatchers.
   * @param evds the EVDs.
   */
  public IaStatistics {
    dispatchers = List.copyOf(dispatchers);
    evds = List.copyOf(evds);
  }

  /**
   * All of it, one line each.
   *
   * @return lines without a line end after the last.
   */
  @Override
  public String toString() {
    return Stream.of(Stream.of(open), dispatchers.stream(), evds.stream())
        .flatMap(lines -> lines)
        .map(line -> "  " + line)
        .collect(Collectors.joining("\n", ia + ":\n", ""));
  }
}
