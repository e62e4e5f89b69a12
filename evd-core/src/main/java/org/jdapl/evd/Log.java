package org.jdapl.evd;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The loggers of the core: one that throws loses its message, and nothing else.
 *
 * <p>Between the core and the logger is a proxy, so a layout that shows the caller (%class,
 * %method, %line) shows the proxy. The core does not use the fluent calls ({@code atInfo()} and its
 * like): of a logger that throws there they would return null.
 */
final class Log {

  private Log() {}

  static Logger of(final Class<?> name) {
    final Logger logger = LoggerFactory.getLogger(name);
    return (Logger)
        Proxy.newProxyInstance(
            Logger.class.getClassLoader(),
            new Class<?>[] {Logger.class},
            (proxy, method, arguments) -> {
              try {
                return method.invoke(logger, arguments);
              } catch (final InvocationTargetException e) {
                return method.getReturnType() == boolean.class ? false : null;
              }
            });
  }
}
