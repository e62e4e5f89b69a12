package org.jdapl.hooks;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.MemoryWindow;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.SharedReceiveQueue;
import org.jdapl.verbs.VerbsProvider;

/** The verbs by their names in messages, and the methods of the SPI that are them. */
enum Verb {
  OPEN_DEVICE(VerbsProvider.class, "open"),
  CLOSE_DEVICE(Device.class, "close"),
  ALLOC_PD(Device.class, "allocPd"),
  DEALLOC_PD(ProtectionDomain.class, "close"),
  REG_MR(Device.class, "regMr"),
  DEREG_MR(MemoryRegion.class, "close"),
  ALLOC_MW(Device.class, "allocMw"),
  DEALLOC_MW(MemoryWindow.class, "close"),
  CREATE_CQ(Device.class, "createCq"),
  POLL_CQ(CompletionQueue.class, "poll"),
  REQ_NOTIFY_CQ(CompletionQueue.class, "arm"),
  POLL_AND_REARM_CQ(CompletionQueue.class, "pollAndRearm"),
  RESIZE_CQ(CompletionQueue.class, "resize"),
  DESTROY_CQ(CompletionQueue.class, "close"),
  CREATE_SRQ(Device.class, "createSrq"),
  POST_SRQ_RECV(SharedReceiveQueue.class, "postRecv"),
  MODIFY_SRQ(SharedReceiveQueue.class, "armLimit"),
  DESTROY_SRQ(SharedReceiveQueue.class, "close"),
  CREATE_QP(Device.class, "createQp"),
  POST_SEND(QueuePair.class, "postSend"),
  POST_RECV(QueuePair.class, "postRecv"),
  BIND_MW(QueuePair.class, "postBind"),
  MODIFY_QP(QueuePair.class, "modifyToError"),
  DESTROY_QP(QueuePair.class, "close"),
  LISTEN(Device.class, "listen"),
  DESTROY_LISTENER(CmListener.class, "close"),
  CONNECT(Device.class, "connect"),
  ACCEPT(CmRequest.class, "accept"),
  REJECT(CmRequest.class, "reject"),
  DISCONNECT(CmId.class, "disconnect"),
  RDMA_NOTIFY(CmId.class, "notifyEstablished"),
  DESTROY_ID(CmId.class, "close");

  private static final Map<Method, Verb> BY_METHOD = new HashMap<>();

  static {
    for (final Verb verb : values()) {
      Arrays.stream(verb.type.getDeclaredMethods())
          .filter(method -> verb.is(method.getName()))
          .forEach(method -> BY_METHOD.put(method, verb));
    }
  }

  private final Class<?> type;
  private final String method;

  Verb(final Class<?> type, final String method) {
    this.type = type;
    this.method = method;
  }

  /** Whether a method is it, for one request or for several. */
  private boolean is(final String name) {
    return name.equals(method) || name.equals(method + "s");
  }

  /** The verb a method is; null if it only tells something. */
  static Verb of(final Method method) {
    return BY_METHOD.get(method);
  }

  /** Whether it ends an object. */
  boolean destroys() {
    return method.equals("close");
  }

  /** Whether it returns an errno. */
  boolean returnsErrno() {
    return switch (this) {
      case POST_SEND, POST_RECV, BIND_MW, POST_SRQ_RECV -> true;
      default -> false;
    };
  }

  /** The name, such as {@code post_send}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
