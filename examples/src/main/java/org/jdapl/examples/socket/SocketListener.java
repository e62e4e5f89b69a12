package org.jdapl.examples.socket;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.locks.LockSupport;
import org.jdapl.verbs.*;

/** A listener: a thread that accepts sockets. */
record SocketListener(
    SocketDevice device, ServerSocket server, long service, int backlog, CmListenHandler handler)
    implements CmListener {

  void run() {
    synchronized (server) { // a port stays taken while somebody waits in accept
      while (!server.isClosed()) {
        try {
          SocketConnection next = new SocketConnection(device, this, server.accept());
          SocketDevice.THREADS.execute(() -> next.run(null));
        } catch (IOException e) {
          LockSupport.parkNanos(1_000_000); // it was closed, or no descriptor is left so far
        }
      }
    }
  }

  // tag::request[]
  /** Delivers a request, or refuses it; called with the lock. */
  void arrived(SocketConnection request) {
    boolean isOpen = device.objects.isOpen(this);
    device.requests.put(request, this);
    if (isOpen && device.requests.values().stream().filter(this::equals).count() <= backlog) {
      device.handlers.execute(() -> deliver(request));
    } else {
      request.reject(isOpen ? SocketConnection.NO_ROOM : SocketConnection.NOBODY_LISTENS, null);
    }
  }

  private void deliver(SocketConnection request) {
    if (!device.objects.call(this, () -> handler.onRequest(request))) {
      request.reject(SocketConnection.NOBODY_LISTENS, null);
    }
  }

  // end::request[]

  @Override
  public void close() {
    device.objects.close(this, this::release);
    synchronized (server) {
      return; // the thread has let go of the port
    }
  }

  private void release() {
    try {
      server.close();
    } catch (IOException e) {
      // it is closed all the same
    }
  }
}
