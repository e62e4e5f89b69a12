package org.jdapl.examples.socket;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcStatus;

/** A connection over a socket; at the passive side it is a request first. */
final class SocketConnection extends SocketObject implements CmId, CmRequest {

  private enum State {
    CONNECTING, // active: until the peer answers
    GREETING, // passive: until the request is here
    REQUESTED,
    ACCEPTED,
    ESTABLISHED,
    DISCONNECTING,
    OVER
  }

  static final int NO_ROOM = 3; // IB_CM_REJ_NO_RESOURCES
  static final int NOBODY_LISTENS = 8; // IB_CM_REJ_INVALID_SERVICE_ID
  private static final int ECONNRESET = 104;
  private static final int EHOSTUNREACH = 113;
  private static final byte[] NOTHING = {};
  private static final int FOR_EVER = 7;
  private static final long RNR_TIMER_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final int UNSENT_BYTES = 4 << 20;
  private static final int FRAMES_AT_ONCE = 64;

  private final SocketListener listener; // of the passive side
  private final SocketChannel channel;
  private final ByteBuffer header = ByteBuffer.allocate(Frame.HEADER_BYTES);
  private final ArrayDeque<Frame> requests = new ArrayDeque<>(); // of the peer, in its order
  private final ArrayDeque<ByteBuffer> unsent = new ArrayDeque<>();
  private Frame incoming;
  private SelectionKey key;
  private State state;
  private SocketQp qp;
  private CmHandler handler;
  private CmParameters parameters;
  private byte[] data = NOTHING; // what the request carries
  private int unsentBytes;
  private int rnrRetries; // the peer's
  private long starvingSince;
  private boolean isLast; // nothing is sent behind what is unsent
  private boolean isGone;
  private boolean isRefusing; // the peer's queue pair is in error, or will be

  private SocketConnection(
      final SocketDevice device,
      final SocketListener listener,
      final SocketChannel channel,
      final State state) {
    super(device, "id");
    this.listener = listener;
    this.channel = channel;
    this.state = state;
  }

  static SocketConnection active(
      final SocketQp qp,
      final CmHandler handler,
      final CmParameters parameters,
      final byte[] data) {
    final SocketChannel channel;
    try {
      channel = SocketChannel.open();
    } catch (final IOException e) {
      throw qp.error("connect", VerbsException.ENOMEM, e.toString());
    }
    final SocketConnection id = new SocketConnection(qp.device, null, channel, State.CONNECTING);
    try {
      id.bind("connect", qp, handler, parameters);
    } catch (final VerbsException e) {
      close(channel);
      throw e;
    }
    id.data = data;
    return id;
  }

  static SocketConnection passive(final SocketListener listener, final SocketChannel channel)
      throws IOException {
    final SocketConnection request =
        new SocketConnection(listener.device, listener, channel, State.GREETING);
    request.register(SelectionKey.OP_READ);
    return request;
  }

  private void bind(
      final String verb,
      final SocketQp newQp,
      final CmHandler newHandler,
      final CmParameters newParameters) {
    newQp.attach(verb, this);
    qp = newQp;
    handler = newHandler;
    parameters = newParameters;
  }

  private void register(final int operations) throws IOException {
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    key = device.register(channel, operations, this::ready);
  }

  void connect(final InetAddress remote, final int service) {
    try {
      if (!remote.isLoopbackAddress()) {
        over(CmEventType.UNREACHABLE, EHOSTUNREACH, NOTHING);
        close(channel);
        return;
      }
      register(SelectionKey.OP_CONNECT);
      if (channel.connect(new InetSocketAddress(remote, service))) {
        greet();
      }
    } catch (final IOException e) {
      lost(e);
    }
  }

  private void greet() {
    key.interestOps(SelectionKey.OP_READ);
    send(Frame.of(Frame.Kind.CONNECT, Frame.MAGIC, parameters.rnrRetryCount(), data));
  }

  /** The socket can be read, or written, or is connected. */
  private void ready() {
    try {
      if (!channel.isConnected()) {
        if (channel.finishConnect()) {
          greet();
        }
        return;
      }
      write();
      for (int i = 0; i < FRAMES_AT_ONCE && read(); i++) {}
    } catch (final IOException e) {
      lost(e);
    }
    if (qp != null) {
      qp.send();
    }
  }

  private boolean read() throws IOException {
    if (incoming == null) {
      if (channel.read(header) < 0) {
        throw new EOFException();
      }
      if (header.hasRemaining()) {
        return false;
      }
      incoming = Frame.decode(header.flip());
    }
    final ByteBuffer rest = incoming.data();
    if (rest.hasRemaining() && channel.read(rest) < 0) {
      throw new EOFException();
    }
    if (rest.hasRemaining()) {
      return false;
    }
    rest.flip();
    final Frame frame = incoming;
    incoming = null;
    header.clear();
    arrived(frame);
    return true;
  }

  private void arrived(final Frame frame) throws ProtocolException {
    switch (frame.kind()) {
      case CONNECT -> {
        if (state != State.GREETING || frame.value() != Frame.MAGIC) {
          throw new ProtocolException("not a peer");
        }
        state = State.REQUESTED;
        rnrRetries = frame.key();
        data = bytes(frame);
        listener.arrived(this);
      }
      case ACCEPT -> accepted(frame);
      case REJECT -> {
        if (state == State.CONNECTING) {
          over(CmEventType.REJECTED, frame.value(), bytes(frame));
        }
      }
      case READY -> establish();
      case SEND, WRITE, READ -> {
        if (state == State.ESTABLISHED && !isRefusing) {
          requests.add(frame);
          serve();
        }
      }
      case ANSWER -> {
        if (qp != null) {
          qp.answered(frame);
        }
      }
    }
  }

  private static byte[] bytes(final Frame frame) {
    final byte[] bytes = new byte[frame.data().remaining()];
    frame.data().get(bytes);
    return bytes;
  }

  private void accepted(final Frame frame) {
    if (state != State.CONNECTING) {
      return;
    }
    if (!qp.isInit()) {
      over(CmEventType.CONNECT_ERROR, VerbsException.EINVAL, NOTHING);
      last();
      return;
    }
    rnrRetries = frame.key();
    state = State.ESTABLISHED;
    qp.connect();
    event(CmEventType.ESTABLISHED, 0, bytes(frame));
    send(Frame.of(Frame.Kind.READY, 0, 0, NOTHING));
  }

  private void establish() {
    if (state == State.ACCEPTED) {
      state = State.ESTABLISHED;
      event(CmEventType.ESTABLISHED, 0, NOTHING);
    }
  }

  // tag::serve[]
  /** Carries out the peer's requests; one that needs a receive waits, and so do those behind it. */
  void serve() {
    while (!requests.isEmpty()) {
      Frame answer = qp.respond(requests.peek());
      if (answer == null) {
        if (rnrRetries == FOR_EVER) {
          return;
        }
        if (device.starving.add(this)) {
          starvingSince = System.nanoTime();
        }
        if (System.nanoTime() - starvingSince < rnrRetries * RNR_TIMER_NANOS) {
          return;
        }
        answer = SocketQp.answer(WcStatus.RNR_RETRY_EXC_ERR);
      }
      device.starving.remove(this);
      requests.remove();
      if (answer.value() != WcStatus.SUCCESS.code()) {
        isRefusing = true;
        requests.clear();
      }
      send(answer);
    }
  }

  // end::serve[]

  boolean hasRoom() {
    return unsentBytes < UNSENT_BYTES;
  }

  void send(final Frame frame) {
    if (!isLast && !isGone) {
      final ByteBuffer bytes = frame.encode();
      unsentBytes += bytes.remaining();
      unsent.add(bytes);
      write();
    }
  }

  /** Sends nothing more, and tells the peer so. */
  private void last() {
    isLast = true;
    write();
  }

  /**
   * Writes what the socket takes; whoever posts does it, which spares a hop between threads. An
   * interrupt closes only a channel that blocks.
   */
  private void write() {
    if (isGone || !channel.isConnected()) {
      return;
    }
    try {
      while (!unsent.isEmpty()) {
        unsentBytes -= channel.write(unsent.peek());
        if (unsent.peek().hasRemaining()) {
          key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
          device.wakeup();
          return;
        }
        unsent.remove();
      }
      key.interestOps(SelectionKey.OP_READ);
      if (isLast) {
        channel.shutdownOutput();
      }
    } catch (final IOException e) {
      unsent.clear(); // a read will tell of the end
      unsentBytes = 0;
    }
  }

  // tag::lost[]
  /** There is no socket any more: the peer closed it, died, or talks nonsense. */
  private void lost(final IOException cause) {
    isGone = true;
    close(channel);
    requests.clear();
    device.starving.remove(this);
    switch (state) {
      case CONNECTING -> {
        if (cause instanceof ConnectException) {
          over(CmEventType.REJECTED, NOBODY_LISTENS, NOTHING);
        } else {
          over(CmEventType.UNREACHABLE, ECONNRESET, NOTHING);
        }
      }
      case GREETING -> listener.left(this, false);
      case REQUESTED -> listener.left(this, true); // it may still be answered
      case ACCEPTED -> over(CmEventType.CONNECT_ERROR, ECONNRESET, NOTHING);
      case ESTABLISHED, DISCONNECTING -> over(CmEventType.DISCONNECTED, 0, NOTHING);
      case OVER -> {}
    }
  }

  private void over(final CmEventType type, final int status, final byte[] privateData) {
    state = State.OVER;
    qp.disconnect();
    event(type, status, privateData);
  }

  // end::lost[]

  private void event(final CmEventType type, final int status, final byte[] privateData) {
    device.later(
        this,
        () ->
            handler.onCmEvent(this, type, status, ByteBuffer.wrap(privateData).asReadOnlyBuffer()));
  }

  boolean isOver() {
    return closed || state == State.OVER;
  }

  @Override
  public InetAddress remoteAddress() {
    return device.address();
  }

  @Override
  public ByteBuffer privateData() {
    return ByteBuffer.wrap(data).asReadOnlyBuffer();
  }

  @Override
  public CmId accept(
      final QueuePair with, final CmParameters newParameters, final CmHandler newHandler) {
    final byte[] reply = device.privateData("accept", newParameters.privateData());
    synchronized (device.lock) {
      checkRequested("accept");
      bind("accept", device.own("accept", SocketQp.class, with), newHandler, newParameters);
      state = State.ACCEPTED;
      device.add(this);
      qp.connect();
      if (isGone) {
        lost(new EOFException());
      } else {
        listener.left(this, true);
        send(Frame.of(Frame.Kind.ACCEPT, 0, newParameters.rnrRetryCount(), reply));
      }
      return this;
    }
  }

  @Override
  public void reject(final int status, final ByteBuffer privateData) {
    final byte[] reply = device.privateData("reject", privateData);
    synchronized (device.lock) {
      checkRequested("reject");
      if (!isGone) {
        listener.left(this, true);
      }
      refuse(status, reply);
    }
  }

  private void checkRequested(final String verb) {
    if (state != State.REQUESTED) {
      throw error(verb, VerbsException.EINVAL, "the request was answered already");
    }
  }

  /** The answer is no. */
  void refuse(final int status, final byte[] reply) {
    state = State.OVER;
    send(Frame.of(Frame.Kind.REJECT, status, 0, reply));
    last();
  }

  @Override
  public void disconnect() {
    synchronized (device.lock) {
      if (state == State.ACCEPTED || state == State.ESTABLISHED) {
        state = State.DISCONNECTING;
        qp.disconnect();
        last();
      }
    }
  }

  @Override
  public void notifyEstablished() {
    synchronized (device.lock) {
      establish();
    }
  }

  @Override
  void release() {
    state = State.OVER;
    qp.disconnect();
    last();
    if (!channel.isConnected()) {
      close(channel);
    }
  }

  static void close(final Closeable channel) {
    try {
      channel.close();
    } catch (final IOException e) {
      // nothing is left to do
    }
  }
}
