package consumer;

import java.util.ServiceLoader;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.VerbsProvider;

/** A program of another package, which finds the provider as a module and opens a device. */
public final class ModulePathProbe {

  private ModulePathProbe() {}

  /**
   * Opens the device of each provider.
   *
   * @param parameters what to open.
   */
  public static void main(final String... parameters) {
    for (final VerbsProvider provider : ServiceLoader.load(VerbsProvider.class)) {
      try (EventChannel channel = provider.createEventChannel()) {
        provider.open(parameters[0], channel).close();
      }
      System.out.println(provider.getClass().getModule().getName() + " works");
    }
  }
}
