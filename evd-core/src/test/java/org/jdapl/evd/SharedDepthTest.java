package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Endpoint.Disconnect;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.dat.Segments;
import org.jdapl.dat.SharedReceiveQueue;
import org.jdapl.dat.UpcallPolicy;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.jdapl.verbs.LastWqe;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The depth of a shared receive queue while its endpoints come and die in the middle of messages,
 * and it is resized: each receive that was posted was handed out, or is in the report of an
 * endpoint, or is open; once. -Djdapl.seed=SEED runs one seed, -Djdapl.seeds=COUNT the first ones.
 */
@Tag("explorer")
class SharedDepthTest {

  private static final long SEEDS = Long.getLong("jdapl.seeds", 20_000);
  private static final int STEPS = 30;
  private static final int MOST = 24;
  private static final Duration BOUND = Duration.ofSeconds(60);

  @Test
  void required_T04_theDepthOfASharedQueueIsConserved() {
    final Long one = Long.getLong("jdapl.seed");
    final long first = one == null ? 0 : one;
    final long end = one == null ? SEEDS : one + 1;
    long deaths = 0;
    long delivered = 0;
    long reported = 0;
    for (long seed = first; seed < end; seed++) {
      try (Run run = new Run(seed)) {
        run.steps();
        run.rest();
        deaths += run.reports.size();
        delivered += run.handedOut.size();
        reported += run.reported.size();
      }
    }
    System.out.printf(
        "shared depth: seeds %d to %d, %d endpoints died, %d receives handed out, %d reported%n",
        first, end - 1, deaths, delivered, reported);
    if (one == null) {
      assertThat(deaths).as("endpoints that died").isGreaterThan(SEEDS);
      assertThat(delivered).as("receives that were handed out").isGreaterThan(SEEDS);
      assertThat(reported).as("receives in reports").isPositive();
    }
  }

  /** One seed. */
  private static final class Run implements AutoCloseable, EventHandler {

    final Set<Long> handedOut = new TreeSet<>();
    final Set<Long> reported = new TreeSet<>();
    final List<CompletableFuture<DrainReport>> reports = new ArrayList<>();

    /** What a handler would throw, nobody would hear of. */
    private final List<String> problems = new ArrayList<>();

    private final long seed;
    private final Random random;
    private final Jdapl jdapl;
    private final InterfaceAdapter server;
    private final Evd evd;
    private final ProtectionZone pz;
    private final Lmr memory;
    private final SharedReceiveQueue srq;
    private final PublicServicePoint door;
    private final List<Endpoint> endpoints = new ArrayList<>();
    private final InterfaceAdapter client;
    private final Evd clientEvd;
    private final ProtectionZone clientPz;
    private final Lmr clientMemory;
    private final List<Endpoint> clients = new ArrayList<>();
    private long posted;

    Run(final long seed) {
      this.seed = seed;
      random = new Random(seed * 0x9E37_79B9_7F4A_7C15L);
      final SimFabric fabric = SimFabric.virtual(seed);
      final SimModel model =
          SimModel.DEFAULT
              .withLatency(0, random.nextInt(3000))
              .withLastWqe(List.of(LastWqe.values()).get(random.nextInt(3)));
      jdapl = Jdapl.with(fabric.provider(model)).byHand().clock(fabric.clock()).start();
      server = jdapl.open();
      evd = evd(server);
      pz = server.createPz();
      memory = pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
      srq = server.createSrq(pz, 1 + random.nextInt(MOST), 1);
      door = server.createPsp(7, evd);
      evd.upcall(this);
      client = jdapl.open();
      clientEvd = evd(client);
      clientPz = client.createPz();
      clientMemory = clientPz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
      clientEvd.upcall(new EventHandler() {});
    }

    private static Evd evd(final InterfaceAdapter of) {
      return of.createEvd(
          512, EventStream.DTO, EventStream.CONNECTION, EventStream.CONNECTION_REQUEST);
    }

    @Override
    public void onRequest(final ConnectionRequestEvent event) {
      final Endpoint endpoint =
          server.createEndpoint(
              pz, evd, evd, evd, srq, EndpointAttributes.defaults().withMaxDtos(0, 4));
      endpoints.add(endpoint);
      event.request().accept(endpoint, null);
    }

    @Override
    public void onCompletion(final DtoCompletion event) {
      if (event.operation().isReceive()) {
        once(handedOut, event.cookie(), "was handed out");
      }
    }

    private void once(final Set<Long> among, final long cookie, final String how) {
      if (cookie < 0 || cookie >= posted) {
        problems.add(cookie + " " + how + ", and was not posted");
      }
      if (handedOut.contains(cookie) || reported.contains(cookie)) {
        problems.add(cookie + " " + how + ", and had an outcome");
      }
      among.add(cookie);
    }

    void steps() {
      post(random.nextInt(MOST));
      for (int i = 0; i < STEPS; i++) {
        step();
        final AtomicInteger left = new AtomicInteger(random.nextInt(30));
        jdapl.runUntil(() -> left.getAndDecrement() <= 0, BOUND); // in the middle of something
      }
    }

    private void step() {
      switch (random.nextInt(15)) {
        case 0, 1 -> connect();
        case 2, 3 -> post(1 + random.nextInt(4));
        case 4, 5, 6, 7 -> send();
        case 8 -> disconnect();
        case 9 -> die(endpoints);
        case 10 -> die(clients);
        case 11, 12, 13 -> toggle();
        default -> resize();
      }
    }

    /** What completes while nobody is told is in the reports of those that die meanwhile. */
    private void toggle() {
      if (evd.policy() == UpcallPolicy.DISABLED) {
        evd.upcall(this);
      } else {
        evd.disable();
      }
    }

    private void connect() {
      final Endpoint endpoint =
          client.createEndpoint(
              clientPz,
              clientEvd,
              EndpointAttributes.defaults().withMaxDtos(1, 8).withRetries(1, random.nextInt(3)));
      clients.add(endpoint);
      endpoint.connect(server.address(), 7, BOUND, null);
      if (evd.policy() != UpcallPolicy.DISABLED && random.nextInt(4) > 0) {
        until(() -> endpoint.state() != EndpointState.ACTIVE_CONNECTION_PENDING);
      }
    }

    private void post(final int count) {
      for (int i = 0; i < count; i++) {
        posted++; // it may complete before the post returns
        if (srq.postReceive(memory, 0, 8, posted - 1) != Outcome.SUCCESS) {
          posted--;
          assertThat(srq.openReceives()).as("%s: refused", this).isEqualTo(srq.maxReceives());
          return;
        }
      }
    }

    private Endpoint any(final List<Endpoint> of) {
      return of.isEmpty() ? null : of.get(random.nextInt(of.size()));
    }

    private void send() {
      final Endpoint from = any(clients);
      final Segments message = new Segments(1).add(clientMemory, 0, 8);
      for (int i = 1 + random.nextInt(5); i > 0 && from != null; i--) {
        if (from.state() == EndpointState.CONNECTED) {
          if (random.nextInt(3) > 0) {
            from.postSend(message, 0, null, CompletionFlags.DEFAULT);
          } else {
            from.postRdmaWriteImmed(
                message, memory.rmrContext(), memory.address(), i, 0, null, random.nextInt(2));
          }
        }
      }
    }

    private void disconnect() {
      final Endpoint which = any(random.nextBoolean() ? clients : endpoints);
      if (which != null && which.state() == EndpointState.CONNECTED) {
        which.disconnect(random.nextBoolean() ? Disconnect.ABRUPT : Disconnect.GRACEFUL);
      }
    }

    private void die(final List<Endpoint> of) {
      if (!of.isEmpty()) {
        close(of.remove(random.nextInt(of.size())));
      }
    }

    private void close(final Endpoint endpoint) {
      final CompletableFuture<DrainReport> report =
          endpoint.closeAsync(BOUND).toCompletableFuture();
      if (endpoint.adapter() == server) {
        reports.add(report.thenApply(this::noted));
      }
    }

    private DrainReport noted(final DrainReport report) {
      if (!report.complete()) {
        problems.add(report + " is not complete");
      }
      for (final DrainReport.Request request : report.requests()) {
        if (request.queue() == DrainReport.Queue.RECEIVE) {
          once(reported, request.cookie(), "is in a report");
        }
      }
      return report;
    }

    private void resize() {
      final int to = 1 + random.nextInt(MOST);
      if (to >= srq.openReceives()) {
        srq.resize(to);
      }
    }

    /** All endpoints die; then the books are closed. */
    void rest() {
      door.close();
      evd.upcall(this);
      clients.forEach(this::close);
      until(() -> server.statistics().open().connectionRequests() == 0);
      endpoints.forEach(this::close);
      until(() -> reports.stream().allMatch(CompletableFuture::isDone));
      reports.forEach(CompletableFuture::join);

      assertThat(problems).as("%s", this).isEmpty();
      final int open = srq.openReceives();
      assertThat((long) handedOut.size() + reported.size() + open)
          .as("%s: %d posted, each has an outcome or is open", this, posted)
          .isEqualTo(posted);
      final long before = posted;
      post(MOST + 1);
      assertThat(posted - before)
          .as("%s: room for the rest", this)
          .isEqualTo(srq.maxReceives() - open);
      srq.close();
    }

    private void until(final BooleanSupplier condition) {
      assertThat(jdapl.runUntil(condition, BOUND)).as("%s: it hangs", this).isTrue();
    }

    @Override
    public void close() {
      client.closeAbruptly(BOUND);
      server.closeAbruptly(BOUND);
      jdapl.close();
    }

    @Override
    public String toString() {
      return "-Djdapl.seed="
          + seed
          + " "
          + srq
          + ", handed out "
          + handedOut
          + ", reported "
          + reported;
    }
  }
}
