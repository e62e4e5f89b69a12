package org.jdapl.hooks;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jdapl.verbs.AsyncHandler;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.BindRequest;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmListenHandler;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.CqHandler;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.MemoryWindow;
import org.jdapl.verbs.NanoClock;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.SharedReceiveQueue;
import org.jdapl.verbs.VerbsProvider;

/**
 * A provider before another one: each verb called and each event passes here. Every object of the
 * provider behind is represented by a proxy, so that a verb the SPI gets later passes here too.
 */
abstract class Interposer implements VerbsProvider {

  private static final Set<Class<?>> OBJECTS =
      Set.of(
          Device.class,
          ProtectionDomain.class,
          MemoryRegion.class,
          MemoryWindow.class,
          CompletionQueue.class,
          SharedReceiveQueue.class,
          QueuePair.class,
          CmListener.class,
          CmRequest.class,
          CmId.class);

  private static final Method OPEN;

  static {
    try {
      OPEN = VerbsProvider.class.getMethod("open", String.class, EventChannel.class);
    } catch (final NoSuchMethodException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final VerbsProvider behind;
  private final Map<Object, Hooked> objects = Collections.synchronizedMap(new IdentityHashMap<>());

  Interposer(final VerbsProvider behind) {
    this.behind = behind;
  }

  /** An object of the provider behind, and what stands for it here. */
  class Hooked implements InvocationHandler {

    final Class<?> type;

    /** The device it belongs to, itself if it is one; null for the provider. */
    final Hooked device;

    /** What the user of this provider has. */
    final Object proxy;

    /** What the user wants to be told of asynchronous events by, if it is a device. */
    private volatile AsyncHandler asyncHandler;

    private volatile Object object; // null while the verb that creates it runs

    Hooked(final Class<?> type, final Hooked device) {
      this.type = type;
      this.device = type == Device.class ? this : device;
      proxy =
          Proxy.newProxyInstance(Interposer.class.getClassLoader(), new Class<?>[] {type}, this);
    }

    final Object behind() {
      return object;
    }

    private Interposer owner() {
      return Interposer.this;
    }

    @Override
    public final Object invoke(final Object self, final Method method, final Object[] arguments)
        throws Throwable {
      if (method.getDeclaringClass() == Object.class) {
        return switch (method.getName()) {
          case "equals" -> self == arguments[0];
          case "hashCode" -> System.identityHashCode(self);
          default -> toString();
        };
      }
      if (isMadeOfOthers(method)) {
        return InvocationHandler.invokeDefault(self, method, arguments);
      }
      final Verb verb = Verb.of(method);
      final Call call = new Call(verb, this, method, arguments);
      return verb == null ? onQuestion(call) : onVerb(call);
    }

    /** The name in messages. */
    @Override
    public final String toString() {
      if (type == VerbsProvider.class) {
        return name();
      }
      return object instanceof Device opened ? opened.name() : String.valueOf(object);
    }
  }

  /** A call of a method of an object. */
  final class Call {

    /** Null if it is no verb. */
    final Verb verb;

    final Hooked self;
    final Object[] arguments;
    final Method method;

    private Call(
        final Verb verb, final Hooked self, final Method method, final Object[] arguments) {
      this.verb = verb;
      this.self = self;
      this.method = method;
      this.arguments = arguments == null ? new Object[0] : arguments;
    }

    /** Calls the provider behind. */
    Object proceed() {
      final Class<?> returned = method.getReturnType();
      final Hooked created = // before its handler may be called
          verb != null && OBJECTS.contains(returned) ? create(returned, self.device) : null;
      final Object[] inward = new Object[arguments.length];
      for (int i = 0; i < inward.length; i++) {
        inward[i] = inward(arguments[i], method.getParameterTypes()[i], self, created);
      }
      final Object result = call(inward);
      if (created != null) {
        created.object = result;
        objects.put(result, created);
        return created.proxy;
      }
      if (verb != null && verb.destroys()) {
        objects.remove(self.object);
      }
      return outward(result, returned, self);
    }

    private Object call(final Object[] inward) {
      try {
        return method.invoke(self.object, inward);
      } catch (final InvocationTargetException e) {
        if (e.getCause() instanceof Error error) {
          throw error;
        }
        throw (RuntimeException) e.getCause(); // the SPI declares no other
      } catch (final IllegalAccessException e) {
        throw new AssertionError(method + " is not public", e);
      }
    }
  }

  /** An event on its way to a handler. */
  static final class Event {

    /** What it happened to. */
    final Hooked source;

    /** Which kind of event it is in a plan. */
    final String kind;

    /** Its own name in a plan. */
    final String name;

    /** More of it, to be read. */
    final String detail;

    private final Runnable call;

    private Event(
        final Hooked source,
        final String kind,
        final String name,
        final String detail,
        final Runnable call) {
      this.source = source;
      this.kind = kind;
      this.name = name;
      this.detail = detail;
      this.call = call;
    }

    void deliver() {
      call.run();
    }
  }

  /**
   * A verb is called.
   *
   * @return what its caller gets.
   */
  abstract Object onVerb(Call call);

  /**
   * What only tells something is called.
   *
   * @return what its caller gets.
   */
  Object onQuestion(final Call call) {
    return call.proceed();
  }

  /** An event is to be delivered. Its caller is the provider. */
  abstract void onEvent(Event event);

  /** Whether a default method of the SPI does this one by calling others here. */
  boolean isMadeOfOthers(final Method method) {
    return false;
  }

  /** The clock of a device. */
  NanoClock clock(final NanoClock clockBehind) {
    return clockBehind;
  }

  /** What stands for a channel behind. */
  EventChannel behind(final EventChannel channel) {
    return channel;
  }

  Hooked create(final Class<?> type, final Hooked device) {
    return new Hooked(type, device);
  }

  /** What stands for an object of the provider behind. */
  final Hooked hooked(final Class<?> type, final Object object, final Hooked device) {
    synchronized (objects) {
      return objects.computeIfAbsent(
          object,
          key -> {
            final Hooked hooked = create(type, device);
            hooked.object = key;
            return hooked;
          });
    }
  }

  /** What stands behind something the user of this provider has. */
  static Hooked hooked(final Object proxy) {
    return (Hooked) Proxy.getInvocationHandler(proxy);
  }

  @Override
  public final String name() {
    return behind.name();
  }

  @Override
  public final Delivery delivery() {
    return behind.delivery();
  }

  @Override
  public EventChannel createEventChannel() {
    return behind.createEventChannel();
  }

  @Override
  public final Device open(final String parameters, final EventChannel channel) {
    final Hooked provider = create(VerbsProvider.class, null);
    provider.object = behind;
    final Device device =
        (Device)
            onVerb(
                new Call(
                    Verb.OPEN_DEVICE, provider, OPEN, new Object[] {parameters, behind(channel)}));
    opened(hooked(device), channel);
    return device;
  }

  /** A device was opened. */
  void opened(final Hooked device, final EventChannel channel) {}

  private Object outward(final Object result, final Class<?> type, final Hooked from) {
    if (type == NanoClock.class) {
      return clock((NanoClock) result);
    }
    return result != null && OBJECTS.contains(type)
        ? hooked(type, result, from.device).proxy
        : result;
  }

  private Object inward(
      final Object argument, final Class<?> type, final Hooked self, final Hooked created) {
    if (argument == null) {
      return null;
    }
    if (type == CqHandler.class) {
      return (CqHandler) cq -> onEvent(notification(created, (CqHandler) argument));
    }
    if (type == CmHandler.class) {
      return (CmHandler)
          (id, event, status, data) -> {
            created.object = id;
            onEvent(cmEvent(created, event, status, data, (CmHandler) argument));
          };
    }
    if (type == CmListenHandler.class) {
      return (CmListenHandler)
          request -> onEvent(request(request, created, (CmListenHandler) argument));
    }
    if (type == AsyncHandler.class) {
      self.asyncHandler = (AsyncHandler) argument;
      return (AsyncHandler) (event, element) -> onEvent(async(event, elementHooked(element, self)));
    }
    if (argument instanceof QpAttributes attributes) {
      return behind(attributes);
    }
    if (argument instanceof BindRequest request) {
      return behind(request);
    }
    return behind(argument);
  }

  /** The object behind, if it is one of here. */
  @SuppressWarnings("unchecked")
  private <T> T behind(final T argument) {
    return argument != null
            && Proxy.isProxyClass(argument.getClass())
            && Proxy.getInvocationHandler(argument) instanceof Hooked hooked
            && hooked.owner() == this
        ? (T) hooked.object
        : argument;
  }

  private QpAttributes behind(final QpAttributes of) {
    return new QpAttributes(
        behind(of.pd()),
        behind(of.sendCq()),
        behind(of.recvCq()),
        behind(of.srq()),
        of.maxSendWr(),
        of.maxRecvWr(),
        of.maxSendSge(),
        of.maxRecvSge(),
        of.maxInline());
  }

  private BindRequest behind(final BindRequest of) {
    final BindRequest request = new BindRequest();
    request.wrId = of.wrId;
    request.signaled = of.signaled;
    request.fence = of.fence;
    request.window = behind(of.window);
    request.region = behind(of.region);
    request.address = of.address;
    request.length = of.length;
    request.access = of.access;
    return request;
  }

  /** A notification of a completion queue. */
  final Event notification(final Hooked cq, final CqHandler handler) {
    return new Event(
        cq,
        Fault.NOTIFICATION,
        Fault.NOTIFICATION,
        "",
        () -> handler.onNotification((CompletionQueue) cq.proxy));
  }

  final Event cmEvent(
      final Hooked id,
      final CmEventType type,
      final int status,
      final ByteBuffer data,
      final CmHandler handler) {
    final ByteBuffer kept =
        ByteBuffer.allocate(data.remaining()).put(data.duplicate()).flip().asReadOnlyBuffer();
    return new Event(
        id,
        Fault.CM,
        Fault.word(type),
        (status == 0 ? "" : " status=" + status) + bytes(kept),
        () -> handler.onCmEvent((CmId) id.proxy, type, status, kept.duplicate()));
  }

  private Event request(
      final CmRequest request, final Hooked listener, final CmListenHandler handler) {
    final Hooked asked = create(CmRequest.class, listener.device);
    asked.object = request;
    final InetAddress from = request.remoteAddress();
    return new Event(
        listener,
        Fault.CM,
        Fault.REQUEST,
        " from " + from + bytes(request.privateData()),
        () -> handler.onRequest((CmRequest) asked.proxy));
  }

  static String bytes(final ByteBuffer data) {
    return data == null || !data.hasRemaining() ? "" : " (" + data.remaining() + " bytes)";
  }

  /** An asynchronous event of an object of a device. */
  final Event async(final AsyncType type, final Hooked element) {
    return new Event(
        element,
        Fault.ASYNC,
        Fault.word(type),
        "",
        () -> {
          final AsyncHandler handler = element.device.asyncHandler;
          if (handler != null) {
            handler.onAsync(type, element.proxy);
          }
        });
  }

  private Hooked elementHooked(final Object element, final Hooked device) {
    final Hooked known = objects.get(element);
    if (known != null) {
      return known;
    }
    for (final Class<?> type :
        List.of(CompletionQueue.class, QueuePair.class, SharedReceiveQueue.class)) {
      if (type.isInstance(element)) {
        return hooked(type, element, device);
      }
    }
    return device;
  }
}
