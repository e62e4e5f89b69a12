package org.jdapl.examples.quickstart;

import java.io.PrintWriter;
import java.nio.ByteBuffer;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.Lmr;

/** Accepts who knows the password, and answers on its board. */
final class Server extends Side {

  static final String PASSWORD = "open sesame";
  static final String QUESTION = "Who is there?";
  static final String ANSWER = "The server.";

  Server(
      final PrintWriter out,
      final Plan plan,
      final Evd evd,
      final Endpoint endpoint,
      final Lmr slots,
      final Lmr board) {
    super("server", out, plan, evd, endpoint, slots, board);
  }

  @Override
  public void onRequest(final ConnectionRequestEvent event) {
    final ConnectionRequest request = event.request();
    final String password = text(request.privateData());
    if (!password.equals(PASSWORD)) {
      request.reject(null);
      fail("expected the password \"" + PASSWORD + "\", got \"" + password + "\"");
      return;
    }
    say("hears \"" + password + "\": accepts, and tells where its board is");
    final ByteBuffer whereabouts = ByteBuffer.allocate(Integer.BYTES + Long.BYTES);
    whereabouts.putInt(board.rmrContext()).putLong(board.address()).flip();
    request.accept(endpoint, whereabouts);
  }

  @Override
  long due(final EventStream stream) {
    return stream == EventStream.CONNECTION_REQUEST ? 1 : super.due(stream);
  }

  @Override
  void onEstablished(final ByteBuffer privateData) {}

  @Override
  void onExchanged() {}

  @Override
  void onAsked() {
    expectBoard(QUESTION);
    say("finds \"" + QUESTION + "\" on its board, answers there");
    writeBoard(ANSWER);
    send();
  }

  @Override
  void onRead() {}
}
