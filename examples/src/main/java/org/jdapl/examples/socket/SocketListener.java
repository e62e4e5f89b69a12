package org.jdapl.examples.socket;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jdapl.verbs.CmListenHandler;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.VerbsException;

/** A listener; its service is a TCP port. */
final class SocketListener extends SocketObject implements CmListener {

  private final int backlog;
  private final CmListenHandler handler;
  private final ServerSocketChannel channel;
  private final int service;
  private final Set<SocketConnection> undelivered = new LinkedHashSet<>();
  private int waiting;

  SocketListener(
      final SocketDevice device,
      final int service,
      final int backlog,
      final CmListenHandler handler) {
    super(device, "listener " + service);
    this.backlog = backlog;
    this.handler = handler;
    try {
      channel = ServerSocketChannel.open();
      try {
        channel.bind(new InetSocketAddress(device.address(), service));
        this.service = channel.socket().getLocalPort();
        device.register(channel, SelectionKey.OP_ACCEPT, this::accept);
      } catch (final IOException e) {
        channel.close();
        throw e;
      }
    } catch (final BindException e) {
      throw error("listen", VerbsException.EADDRINUSE, e.getMessage());
    } catch (final IOException e) {
      throw error("listen", VerbsException.EIO, e.toString());
    }
  }

  private void accept() {
    try {
      for (SocketChannel next = channel.accept(); next != null; next = channel.accept()) {
        undelivered.add(SocketConnection.passive(this, next));
      }
    } catch (final IOException e) {
      // closed; or that peer is gone again
    }
  }

  // tag::request[]
  /** A request came. */
  void arrived(final SocketConnection request) {
    if (waiting >= backlog) {
      undelivered.remove(request);
      request.refuse(SocketConnection.NO_ROOM, new byte[0]);
      return;
    }
    waiting++;
    device.later(
        this,
        () -> {
          synchronized (device.lock) {
            if (!undelivered.remove(request)) {
              return; // refused, or gone
            }
          }
          handler.onRequest(request);
        });
  }

  // end::request[]

  /** Answered, or gone. */
  void left(final SocketConnection request, final boolean hasArrived) {
    waiting -= hasArrived ? 1 : 0;
    undelivered.remove(request);
  }

  @Override
  public long service() {
    return service;
  }

  @Override
  void release() {
    SocketConnection.close(channel);
    List.copyOf(undelivered)
        .forEach(request -> request.refuse(SocketConnection.NOBODY_LISTENS, new byte[0]));
  }

  @Override
  public void close() {
    super.close();
    device.awaitRound(); // a channel that a selector knows keeps its port until then
  }
}
