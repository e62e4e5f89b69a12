package org.jdapl.verbs.tck;

import java.time.Duration;
import java.util.List;
import java.util.ServiceLoader;
import org.jdapl.verbs.VerbsProvider;

/**
 * The contract over a provider that is named by system properties, so that a provider on the class
 * path is tested without a class of its own, by any launcher of JUnit:
 *
 * <pre>
 * java -Dtck.provider=rdma-core -Dtck.first=address=192.0.2.1 \
 *     -jar junit-platform-console-standalone.jar execute -cp JARS \
 *     -c org.jdapl.verbs.tck.NamedProviderTck
 * </pre>
 *
 * <table>
 * <caption>The properties</caption>
 * <tr><td>tck.provider</td><td>the {@link VerbsProvider#name}; needed</td></tr>
 * <tr><td>tck.first</td><td>parameters of the device that connects; empty unless given</td></tr>
 * <tr><td>tck.second</td><td>of the device that listens; as the first unless given</td></tr>
 * <tr><td>tck.await</td><td>milliseconds to wait for what must come; 10000</td></tr>
 * <tr><td>tck.silence</td><td>milliseconds to look that nothing comes; 50</td></tr>
 * <tr><td>tck.test</td><td>milliseconds a test has; 60000</td></tr>
 * </table>
 */
public final class NamedProviderTck extends ProviderTck {

  private static final String PROVIDER = "tck.provider";

  /** Created by JUnit. */
  public NamedProviderTck() {}

  @Override
  protected TckBed bed() {
    final String first = System.getProperty("tck.first", "");
    return TckBed.of(provider())
        .withDevices(first, System.getProperty("tck.second", first))
        .withTimes(
            Duration.ofMillis(Long.getLong("tck.await", 10_000)),
            Duration.ofMillis(Long.getLong("tck.silence", 50)),
            Duration.ofMillis(Long.getLong("tck.test", 60_000)));
  }

  private static VerbsProvider provider() {
    final List<VerbsProvider> found =
        ServiceLoader.load(VerbsProvider.class).stream().map(ServiceLoader.Provider::get).toList();
    final String name = System.getProperty(PROVIDER);
    return found.stream()
        .filter(provider -> provider.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "-D"
                        + PROVIDER
                        + "="
                        + name
                        + ": expected one of "
                        + found.stream().map(VerbsProvider::name).toList()
                        + "; a provider is found by META-INF/services, if its jar is on the class"
                        + " path"));
  }
}
