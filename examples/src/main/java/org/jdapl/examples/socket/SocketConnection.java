package org.jdapl.examples.socket;

import java.io.*;
import java.net.*;
import java.nio.ByteBuffer;
import java.util.concurrent.*;
import org.jdapl.verbs.*;

/** A connection, or a request for one: a thread that reads a socket, and one that writes it. */
final class SocketConnection implements CmId, CmRequest {

  static final int NO_ROOM = 3; // IB_CM_REJ_NO_RESOURCES
  static final int NOBODY_LISTENS = 8; // IB_CM_REJ_INVALID_SERVICE_ID
  private static final int ACCEPTED = -1; // no reason to reject
  private static final int ECONNRESET = 104;
  private static final int HANDSHAKE_MILLIS = 5000; // who says nothing is no peer
  private static final Frame END = Frame.answer(0); // no other one has its data

  volatile boolean established; // the reader looks at it without the lock
  int rnrRetries;
  private final SocketDevice device;
  private final SocketListener listener; // of a request
  private final Socket socket;
  private final BlockingQueue<Frame> unsent = new LinkedBlockingQueue<>();
  private SocketQp qp;
  private CmHandler handler;
  private byte[] data; // of a request
  private boolean over;

  SocketConnection(SocketDevice device, SocketListener listener, Socket socket) {
    this.device = device;
    this.listener = listener;
    this.socket = socket;
  }

  void bind(String verb, QueuePair newQp, CmParameters parameters, CmHandler newHandler) {
    SocketQp wanted = device.objects.own(verb, SocketQp.class, newQp);
    if (wanted.connection != null || wanted.failed) {
      throw VerbsException.invalid(verb, "qp " + wanted.number(), "it was connected, or failed");
    }
    qp = wanted;
    qp.connection = device.objects.add(this);
    rnrRetries = parameters.rnrRetryCount();
    handler = newHandler;
  }

  // tag::threads[]
  /** Reads until the socket ends; the active side connects it first. */
  void run(SocketAddress peer) {
    boolean isRefused = false;
    try (socket) { // the writer may never have begun
      if (peer != null) {
        socket.connect(peer, HANDSHAKE_MILLIS);
      }
      socket.setSoTimeout(listener == null ? 0 : HANDSHAKE_MILLIS);
      socket.setTcpNoDelay(true);
      SocketDevice.THREADS.execute(this::write);
      DataInputStream in = new DataInputStream(socket.getInputStream());
      DeviceLimits most = device.limits();
      while (true) {
        Frame frame =
            Frame.read(in, () -> established ? most.maxMessageBytes() : most.connectPrivateData());
        synchronized (device) {
          if (!over) {
            arrived(frame);
          }
        }
      }
    } catch (IOException e) {
      isRefused = e instanceof ConnectException;
    } finally { // also when memory runs out
      CmEventType failure = isRefused ? CmEventType.REJECTED : CmEventType.UNREACHABLE;
      int reason = isRefused ? NOBODY_LISTENS : ECONNRESET;
      synchronized (device) {
        tell(established ? CmEventType.DISCONNECTED : failure, reason);
      }
    }
  }

  /** Who reads must not write: two peers that wait to write, and do not read, wait for ever. */
  private void write() {
    try (socket) {
      OutputStream out = new BufferedOutputStream(socket.getOutputStream());
      for (Frame next = unsent.take(); !next.equals(END); next = unsent.take()) {
        next.write(new DataOutputStream(out));
      }
    } catch (IOException | InterruptedException e) {
      // the reader finds out
    }
  }

  // end::threads[]

  void send(Frame frame) {
    unsent.add(frame);
  }

  // tag::events[]
  private void arrived(Frame frame) throws IOException {
    if (established && frame.opcode() != null) {
      qp.serve(frame);
    } else if (established) {
      qp.answered(frame);
    } else if (data != null) {
      throw new IOException("it asked before");
    } else if (listener != null) {
      socket.setSoTimeout(0);
      data = frame.data();
      listener.arrived(this);
    } else {
      boolean isYes = frame.value() == ACCEPTED;
      CmEventType type = isYes ? CmEventType.ESTABLISHED : CmEventType.REJECTED;
      tell(type, frame.value(), frame.data());
    }
  }

  /** All events but ESTABLISHED are the last one. */
  private void tell(CmEventType type, int status, byte... said) {
    established |= type == CmEventType.ESTABLISHED;
    if (handler != null && !over) {
      ByteBuffer view = ByteBuffer.wrap(said).asReadOnlyBuffer();
      device.later(this, () -> handler.onCmEvent(this, type, status, view));
    }
    if (type != CmEventType.ESTABLISHED) {
      release();
    }
  }

  private void release() {
    if (!over) {
      over = true;
      send(END);
      if (established) {
        qp.fail();
      } else if (qp != null) {
        qp.connection = null; // it may be connected again
      }
    }
  }

  // end::events[]

  // tag::answer[]
  @Override
  public CmId accept(QueuePair newQp, CmParameters parameters, CmHandler newHandler) {
    byte[] reply = device.limits().copyForAccept(device.name(), parameters.privateData());
    synchronized (device) {
      if (!device.requests.containsKey(this)) {
        throw VerbsException.invalid("accept", device.name(), "it was answered before");
      }
      bind("accept", newQp, parameters, newHandler);
      device.requests.remove(this);
      boolean isGone = over; // nobody was told so far
      over = false;
      tell(isGone ? CmEventType.CONNECT_ERROR : CmEventType.ESTABLISHED, isGone ? ECONNRESET : 0);
      send(Frame.answer(ACCEPTED, reply)); // last: the next frame may be a long one
      return this;
    }
  }

  @Override
  public void reject(int status, ByteBuffer bytes) {
    byte[] reply = device.limits().copyForReject(device.name(), bytes);
    synchronized (device) {
      if (device.requests.remove(this) != null) {
        send(Frame.answer(status, reply));
        release();
      }
    }
  }

  // end::answer[]

  @Override
  public InetAddress remoteAddress() {
    return socket.getInetAddress();
  }

  @Override
  public ByteBuffer privateData() {
    return ByteBuffer.wrap(data).asReadOnlyBuffer();
  }

  @Override
  public void disconnect() {
    synchronized (device) {
      if (established) {
        qp.fail();
        send(END); // the reader tells of the end
      }
    }
  }

  @Override
  public void close() {
    device.objects.close(this, this::release);
  }
}
