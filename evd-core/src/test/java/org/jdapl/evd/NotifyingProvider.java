package org.jdapl.evd;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.CqHandler;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.VerbsProvider;

/** Another provider, of which a test says what becomes of its notifications. One thread. */
abstract class NotifyingProvider implements VerbsProvider {

  /** A completion queue that is open. */
  record Queue(CqHandler handler, CompletionQueue cq) {

    void tell() {
      handler.onNotification(cq);
    }
  }

  private final VerbsProvider real;
  private final List<Queue> open = new ArrayList<>();

  NotifyingProvider(final VerbsProvider real) {
    this.real = real;
  }

  /**
   * A queue notifies.
   *
   * @param all the open queues of all devices, this one among them.
   */
  abstract void onNotification(Queue queue, List<Queue> all);

  @Override
  public String name() {
    return real.name();
  }

  @Override
  public Delivery delivery() {
    return real.delivery();
  }

  @Override
  public EventChannel createEventChannel() {
    return real.createEventChannel();
  }

  @Override
  public Device open(final String parameters, final EventChannel channel) {
    final Device device = real.open(parameters, channel);
    return proxy(
        Device.class,
        (proxy, method, arguments) ->
            switch (method.getName()) {
              case "createCq" -> createCq(device, (int) arguments[0], (CqHandler) arguments[1]);
              case "createQp" -> device.createQp(unwrapped((QpAttributes) arguments[0]));
              default -> invoke(method, device, arguments);
            });
  }

  /** What the core has in place of a queue; the device wants the queue. */
  private interface Wrapped extends CompletionQueue {
    CompletionQueue behind();
  }

  private CompletionQueue createCq(
      final Device device, final int entries, final CqHandler handler) {
    final CompletionQueue cq =
        device.createCq(
            entries, told -> onNotification(new Queue(handler, told), List.copyOf(open)));
    final Queue queue = new Queue(handler, cq);
    open.add(queue);
    return proxy(
        Wrapped.class,
        (proxy, method, arguments) -> {
          if (method.getName().equals("behind")) {
            return cq;
          }
          if (method.getName().equals("close")) {
            open.remove(queue);
          }
          return invoke(method, cq, arguments);
        });
  }

  private static QpAttributes unwrapped(final QpAttributes of) {
    return new QpAttributes(
        of.pd(),
        ((Wrapped) of.sendCq()).behind(),
        ((Wrapped) of.recvCq()).behind(),
        of.srq(),
        of.maxSendWr(),
        of.maxRecvWr(),
        of.maxSendSge(),
        of.maxRecvSge(),
        of.maxInline());
  }

  private static <T> T proxy(final Class<T> type, final InvocationHandler calls) {
    return type.cast(
        Proxy.newProxyInstance(
            NotifyingProvider.class.getClassLoader(), new Class<?>[] {type}, calls));
  }

  private static Object invoke(final Method method, final Object of, final Object... arguments)
      throws Throwable {
    try {
      return method.invoke(of, arguments);
    } catch (final InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
