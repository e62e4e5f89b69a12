package org.jdapl.rdmacore;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jdapl.rdmacore.jni.Layout;
import org.jdapl.rdmacore.jni.Verbs;
import org.jdapl.verbs.AsyncType;

/**
 * The context that librdmacm opened for a device (ibv_context). All adapters of the device share it
 * and its stream of asynchronous events; whichever of their channels looks first takes an event off
 * and hands it to the adapter it belongs to.
 */
final class RdmaContext {

  private static final Map<Long, RdmaContext> CONTEXTS = new HashMap<>();
  private static final int BATCH = 16;

  private final Long pointer; // boxed once: its removal as a key needs no memory
  private final String name;
  private final boolean iwarp;
  private final ByteBuffer attributes = Layout.allocate(Layout.DeviceAttr.SIZE);
  private final ByteBuffer records = Layout.allocate(BATCH * Layout.Async.SIZE);
  private final long recordsAddress = Verbs.address(records);
  private final List<RdmaDevice> devices = new ArrayList<>(); // under the monitor of this object
  private final Map<RdmaChannel, long[]> tags = new HashMap<>(); // likewise; of one element
  private int opened; // under the monitor of the class

  private RdmaContext(final long pointer) {
    this.pointer = pointer;
    name = Verbs.deviceName(pointer);
    iwarp = Verbs.isIwarp(pointer);
    Results.check(
        Verbs.queryDevice(pointer, Verbs.address(attributes)), "query_device", name, "its limits");
  }

  /** The context of a pointer; {@link #release} must follow. */
  static RdmaContext acquire(final long pointer) {
    synchronized (CONTEXTS) {
      RdmaContext context = CONTEXTS.get(pointer);
      if (context == null) {
        context = new RdmaContext(pointer);
        CONTEXTS.put(pointer, context);
      }
      context.opened++;
      return context;
    }
  }

  /** An adapter does not use it any more; librdmacm closes it when it likes. */
  void release() {
    synchronized (CONTEXTS) {
      if (--opened == 0) {
        CONTEXTS.remove(pointer);
      }
    }
  }

  long pointer() {
    return pointer;
  }

  String name() {
    return name;
  }

  boolean isIwarp() {
    return iwarp;
  }

  /** One of the device's limits, by its offset. */
  int attribute(final int offset) {
    return attributes.getInt(offset);
  }

  /** An adapter's channel is to look at the events too; a channel looks once. */
  synchronized void add(final RdmaDevice device) {
    devices.add(device);
    final RdmaChannel channel = device.channel();
    if (!tags.containsKey(channel)) {
      final long[] tag = new long[1];
      tags.put(channel, tag);
      tag[0] = channel.add(Verbs.asyncFd(pointer), this::drain, name);
    }
  }

  /** Undoes an {@link #add}, also one that came half way; needs no memory. */
  synchronized void remove(final RdmaDevice device) {
    final RdmaChannel channel = device.channel();
    if (!devices.remove(device)) {
      return;
    }
    for (int i = 0; i < devices.size(); i++) {
      if (devices.get(i).channel() == channel) {
        return;
      }
    }
    final long[] tag = tags.remove(channel);
    if (tag != null) {
      channel.remove(tag[0], Verbs.asyncFd(pointer));
    }
  }

  /** Takes events off, and posts each to the channel of the adapter it belongs to. */
  private synchronized int drain() {
    if (devices.isEmpty()) {
      return 0; // the last adapter is gone, and the context may be
    }
    final int count = Verbs.getAsyncEvents(pointer, recordsAddress, BATCH);
    if (Results.isGone(count)) {
      tags.keySet().forEach(channel -> channel.ignore(Verbs.asyncFd(pointer)));
      devices.forEach(device -> device.onDeviceEvent(AsyncType.DEVICE_FATAL, 0));
      return 0;
    }
    Results.check(count, "get_async_event", name, "");
    for (int i = 0; i < count; i++) {
      final int at = i * Layout.Async.SIZE;
      final AsyncType type = type(records.getInt(at + Layout.Async.TYPE));
      if (type == null) {
        continue;
      }
      final long token = records.getLong(at + Layout.Async.TOKEN);
      if (token != 0) {
        if (Registry.OBJECTS.find(token) instanceof RdmaObject object) {
          object.device.postAsync(type, object);
        }
      } else {
        final int port = records.getInt(at + Layout.Async.PORT);
        for (final RdmaDevice device : devices) {
          device.onDeviceEvent(type, port);
        }
      }
    }
    return 0; // what was posted counts when it is done
  }

  /** The type of an ibv_event_type; null for those that nobody needs. */
  private static AsyncType type(final int number) {
    return switch (number) {
      case 0 -> AsyncType.CQ_ERR;
      case 1 -> AsyncType.QP_FATAL;
      case 2 -> AsyncType.QP_REQ_ERR;
      case 3 -> AsyncType.QP_ACCESS_ERR;
      case 4 -> AsyncType.COMM_EST;
      case 8 -> AsyncType.DEVICE_FATAL;
      case 9 -> AsyncType.PORT_ACTIVE;
      case 10 -> AsyncType.PORT_ERR;
      case 14 -> AsyncType.SRQ_ERR;
      case 15 -> AsyncType.SRQ_LIMIT_REACHED;
      case 16 -> AsyncType.QP_LAST_WQE_REACHED;
      default -> null;
    };
  }
}
