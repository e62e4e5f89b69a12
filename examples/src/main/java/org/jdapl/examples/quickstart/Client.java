package org.jdapl.examples.quickstart;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Lmr;

/** Connects, writes on the server's board and reads the answer there, and disconnects. */
final class Client extends Side {

  private int rmrContext;
  private long boardAddress;

  Client(
      final PrintWriter out,
      final Plan plan,
      final Evd evd,
      final Endpoint endpoint,
      final Lmr slots,
      final Lmr board) {
    super("client", out, plan, evd, endpoint, slots, board);
  }

  void connect(final InetAddress server, final long service) {
    say("asks " + server.getHostAddress() + " service " + service + " for a connection");
    endpoint.connect(server, service, Duration.ofSeconds(30), UTF_8.encode(Server.PASSWORD));
  }

  @Override
  void onEstablished(final ByteBuffer privateData) {
    rmrContext = privateData.getInt();
    boardAddress = privateData.getLong();
    say("learns where the server's board is, and sends the first messages");
  }

  @Override
  void onExchanged() {
    say("sent and got " + plan.messages() + " messages");
    say("writes on the server's board by RDMA, and asks it to look");
    writeBoard(Server.QUESTION);
    rdmaWrite(rmrContext, boardAddress);
    send(); // arrives after what was written
  }

  @Override
  void onAsked() {
    rdmaRead(rmrContext, boardAddress);
  }

  @Override
  void onRead() {
    expectBoard(Server.ANSWER);
    say("reads \"" + Server.ANSWER + "\" there by RDMA, and disconnects");
    endpoint.disconnect(Endpoint.Disconnect.GRACEFUL);
  }
}
