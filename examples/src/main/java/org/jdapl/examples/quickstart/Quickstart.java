package org.jdapl.examples.quickstart;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.jdapl.dat.EventStream.CONNECTION;
import static org.jdapl.dat.EventStream.CONNECTION_REQUEST;
import static org.jdapl.dat.EventStream.DTO;
import static org.jdapl.dat.EventStream.SOFTWARE;
import static org.jdapl.dat.Privilege.LOCAL_READ;
import static org.jdapl.dat.Privilege.LOCAL_WRITE;
import static org.jdapl.dat.Privilege.REMOTE_READ;
import static org.jdapl.dat.Privilege.REMOTE_WRITE;

import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.jdapl.dat.Dat;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Evd;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.examples.AdapterOption;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Two endpoints, each with one EVD for everything. */
@Command(
    name = "quickstart",
    header = "Two endpoints talk, each with one EVD for everything.",
    description = {
      "Messages both ways, software events of several threads, an RDMA write and a",
      "read, the connection: all of it are events of one EVD on each side. Then it is",
      "checked that each event came once, in order, and one upcall at a time."
    },
    sortOptions = false)
public final class Quickstart implements Callable<Integer> {

  private static final int EVD_LENGTH = 256;
  private static final long SERVICE = 4711;

  @Option(
      names = "--messages",
      paramLabel = "N",
      defaultValue = "1000",
      description = {
        "Messages each way, and software events of each",
        "poster to each side (${DEFAULT-VALUE})."
      })
  private int messages;

  @Option(
      names = "--posters",
      paramLabel = "N",
      defaultValue = "4",
      description = "Threads that post software events (${DEFAULT-VALUE}).")
  private int posters;

  @Mixin private AdapterOption ia;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description = "How long a step may take (${DEFAULT-VALUE}).")
  private int timeout;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    requirePositive("--messages", messages);
    requirePositive("--posters", posters);
    requirePositive("--timeout", timeout);

    final PrintWriter out = spec.commandLine().getOut();
    final List<Side> sides = play(out);
    boolean success = true;
    for (final Side side : sides) {
      final Report report = new Report(side);
      report.print(out);
      out.flush();
      for (final String problem : report.problems()) {
        spec.commandLine().getErr().println("FAILED: " + side.name + ": " + problem);
        success = false;
      }
    }
    return success ? ExitCode.OK : ExitCode.SOFTWARE;
  }

  /** Opens both sides, lets them talk, closes all in reverse order. */
  private List<Side> play(final PrintWriter out) throws Exception {
    final Side.Plan plan = new Side.Plan(messages, posters);
    try (InterfaceAdapter there = Dat.open(ia.name());
        Evd serverEvd = there.createEvd(EVD_LENGTH, DTO, CONNECTION, CONNECTION_REQUEST, SOFTWARE);
        ProtectionZone serverPz = there.createPz();
        Lmr serverSlots = serverPz.createLmr(memory(Side.SLOTS_BYTES), LOCAL_READ, LOCAL_WRITE);
        Lmr serverBoard =
            serverPz.createLmr(memory(Side.BOARD_BYTES), LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE);
        Endpoint serverEndpoint = there.createEndpoint(serverPz, serverEvd, Side.ATTRIBUTES);
        PublicServicePoint servicePoint = there.createPsp(SERVICE, serverEvd);
        InterfaceAdapter here = Dat.open(ia.name());
        Evd clientEvd = here.createEvd(EVD_LENGTH, DTO, CONNECTION, SOFTWARE);
        ProtectionZone clientPz = here.createPz();
        Lmr clientSlots = clientPz.createLmr(memory(Side.SLOTS_BYTES), LOCAL_READ, LOCAL_WRITE);
        Lmr clientBoard = clientPz.createLmr(memory(Side.BOARD_BYTES), LOCAL_READ, LOCAL_WRITE);
        Endpoint clientEndpoint = here.createEndpoint(clientPz, clientEvd, Side.ATTRIBUTES)) {

      final Server server =
          new Server(out, plan, serverEvd, serverEndpoint, serverSlots, serverBoard);
      final Client client =
          new Client(out, plan, clientEvd, clientEndpoint, clientSlots, clientBoard);
      server.say("listens at " + there.address().getHostAddress() + " service " + SERVICE);
      server.start(there.asyncEvd());
      client.start(here.asyncEvd());
      client.connect(there.address(), servicePoint.connQual());

      if (reached(client, client.established, "connected")) {
        postTicks(out, client, server);
      }
      if (reached(client, client.finished, "done") && reached(server, server.finished, "done")) {
        Side.say(out, "both", "got everything, and close");
      }
      return List.of(client, server);
    }
  }

  /** Posts software events from several threads, each of them to both sides. */
  private void postTicks(final PrintWriter out, final Side client, final Side server)
      throws Exception {
    Side.say(out, "posters", posters + " threads post software events to both sides");
    final ExecutorService threads = Executors.newFixedThreadPool(posters);
    try {
      final List<Callable<Long>> tasks =
          IntStream.range(0, posters)
              .<Callable<Long>>mapToObj(poster -> () -> postTicks(poster, client, server))
              .toList();
      long full = 0;
      for (final Future<Long> task : threads.invokeAll(tasks, timeout, SECONDS)) {
        if (task.isCancelled()) {
          client.fail("a thread could not post its software events in " + timeout + " s");
        } else {
          full += task.get();
        }
      }
      Side.say(out, "posters", "are done; a queue was full " + full + " times, they posted again");
    } finally {
      threads.shutdownNow();
    }
  }

  /** Returns how often a queue was full. */
  private long postTicks(final int poster, final Side... sides) throws InterruptedException {
    long full = 0;
    for (int number = 0; number < messages; number++) {
      final Side.Tick tick = new Side.Tick(poster, number);
      for (final Side side : sides) {
        while (side.evd.postSoftwareEvent(tick) == Outcome.QUEUE_FULL) {
          full++;
          if (Thread.interrupted()) {
            throw new InterruptedException("no room for " + tick);
          }
          Thread.yield();
        }
        side.ticksPosted.incrementAndGet();
      }
    }
    return full;
  }

  private boolean reached(final Side side, final CountDownLatch state, final String what)
      throws InterruptedException {
    if (!state.await(timeout, SECONDS)) {
      side.fail("not " + what + " after " + timeout + " seconds");
    }
    return side.failures.isEmpty();
  }

  private static ByteBuffer memory(final int bytes) {
    return ByteBuffer.allocateDirect(bytes);
  }

  private void requirePositive(final String option, final int value) {
    if (value < 1) {
      throw new ParameterException(
          spec.commandLine(), option + " must be at least 1 and is " + value);
    }
  }
}
