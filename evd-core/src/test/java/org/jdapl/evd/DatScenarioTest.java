package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jdapl.dat.Cno;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.Dat;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.Segments;
import org.jdapl.tck.Bench;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Bugs that DAPL had, each as the scenario that showed it, over the models it may depend on. */
class DatScenarioTest {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofMillis(5);
  private static final int MESSAGES = 8;
  private static final Executor ON_A_THREAD = task -> new Thread(task, "consumer").start();

  /** A connection of which one side sends, and the receives of the other have an EVD. */
  private static final class Link {
    private final Bench bench;
    private final InterfaceAdapter ia;
    private final ProtectionZone pz;
    private final Lmr lmr;
    private final Evd rest;
    private final Evd received;
    private final Cno cno;
    private final Endpoint sender;
    private final Endpoint receiver;

    /** By their numbers: the cookies of the receives. */
    private final Map<Long, Long> cookies = new ConcurrentSkipListMap<>();

    private final AtomicInteger sent = new AtomicInteger();
    private final AtomicInteger flushed = new AtomicInteger();
    private int posted;

    private Link(final Bench bench) {
      this.bench = bench;
      ia = bench.open();
      pz = ia.createPz();
      lmr = pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
      rest =
          ia.createEvd(64, EventStream.DTO, EventStream.CONNECTION, EventStream.CONNECTION_REQUEST);
      received = ia.createEvd(64, EventStream.DTO, EventStream.SOFTWARE);
      cno = ia.createCno();
      sender = createEndpoint(rest);
      receiver = createEndpoint(received);
      connect();
    }

    private Endpoint createEndpoint(final Evd receives) {
      return ia.createEndpoint(
          pz, receives, rest, rest, EndpointAttributes.defaults().withMaxDtos(MESSAGES, MESSAGES));
    }

    private void connect() {
      final AtomicInteger established = new AtomicInteger();
      rest.upcall(
          new EventHandler() {
            @Override
            public void onRequest(final ConnectionRequestEvent event) {
              event.request().accept(receiver, null);
            }

            @Override
            public void onConnection(final ConnectionEvent event) {
              if (event.kind() == ConnectionEvent.Kind.ESTABLISHED) {
                established.incrementAndGet();
              }
            }

            @Override
            public void onCompletion(final DtoCompletion event) {
              sent.incrementAndGet();
            }
          });
      final PublicServicePoint psp = ia.createPsp(1, rest);
      sender.connect(ia.address(), psp.connQual(), LONG, null);
      until(() -> established.get() == 2, "both sides are connected");
    }

    /** Sends messages, that are received some time later. */
    private void send(final int count) {
      for (int i = 0; i < count; i++) {
        assertThat(receiver.postReceive(lmr, 0, 8, posted++)).isEqualTo(Outcome.SUCCESS);
      }
      for (int i = 0; i < count; i++) {
        assertThat(sender.postSend(lmr, 0, 8, i)).isEqualTo(Outcome.SUCCESS);
      }
    }

    /** Sends messages, and lets them arrive. */
    private void arrive(final int count) {
      final int before = sent.get();
      send(count);
      until(() -> sent.get() == before + count, "they were sent");
      bench.settle();
    }

    /** From now on the sender's requests that fail, and the ends of both sides, are kept. */
    private List<ConnectionEvent.Kind> keepEnds() {
      final List<ConnectionEvent.Kind> ends = new ArrayList<>();
      rest.upcall(
          new EventHandler() {
            @Override
            public void onConnection(final ConnectionEvent event) {
              ends.add(event.kind());
            }

            @Override
            public void onCompletion(final DtoCompletion event) {
              assertThat(event.status()).isEqualTo(DtoStatus.ERR_FLUSHED);
              flushed.incrementAndGet();
            }
          });
      return ends;
    }

    private void until(final BooleanSupplier condition, final String what) {
      await(bench, condition, what);
    }

    private final EventHandler keeping =
        new EventHandler() {
          @Override
          public void onEvent(final Event event) {
            cookies.put(event.sequence(), event instanceof DtoCompletion dto ? dto.cookie() : -1L);
          }
        };

    private int drain() {
      return received.drain(keeping, 100);
    }

    /** Uses up what sticks at first: the CNO is told of a queue that was not looked at yet. */
    private void useCno() {
      received.cno(cno);
      drain();
      assertThat(cno.await(hint -> drain(), Duration.ZERO)).isEqualTo(Outcome.SUCCESS);
    }

    private void assertReceived(final int count) {
      assertThat(List.copyOf(cookies.values()))
          .as("each once, in order [%s]", bench.replay())
          .containsExactlyElementsOf(LongStream.range(0, count).boxed().toList());
    }
  }

  static Stream<SimCase> virtualTime() {
    return SimCase.virtualTime();
  }

  static Stream<SimCase> threads() {
    return SimCase.realTime();
  }

  /** Threads that wait for an EVD and for its CNO missed wake-ups: only one kind took its lock. */
  @ParameterizedTest
  @MethodSource("threads")
  void required_W05_threadsThatWaitForAnEvdAndForItsCnoGetEachCompletionOnce(final SimCase origin) {
    try (Bench bench = origin.open()) {
      final Link link = new Link(bench);
      link.received.cno(link.cno);
      final CompletableFuture<Object> waits =
          CompletableFuture.supplyAsync(
              () -> whatEnds(() -> link.received.await(link.keeping, 1, LONG)), ON_A_THREAD);
      final CompletableFuture<Object> dequeues =
          CompletableFuture.supplyAsync(
              () -> whatEnds(() -> link.cno.await(hint -> drainUnlessWaited(link), LONG)),
              ON_A_THREAD);

      for (int round = 1; round <= 25; round++) {
        final int count = round * MESSAGES;
        link.send(MESSAGES);
        link.until(() -> link.cookies.size() == count && link.sent.get() == count, "all came");
      }
      link.received.cno(null);
      link.received.setUnwaitable();
      link.cno.close();

      link.until(() -> waits.isDone() && dequeues.isDone(), "both threads return");
      assertThat(waits.join()).isEqualTo(ReturnSubtype.INVALID_STATE_EVD_UNWAITABLE);
      assertThat(dequeues.join()).isIn(Outcome.ABORT, ReturnSubtype.INVALID_HANDLE_CNO);
      link.assertReceived(25 * MESSAGES);
    }
  }

  private static void drainUnlessWaited(final Link link) {
    try {
      link.drain();
    } catch (final DatException e) {
      assertThat(e.subtype()).isEqualTo(ReturnSubtype.INVALID_STATE_EVD_WAITER);
    }
  }

  /** Waits again and again. */
  private static Object whatEnds(final Supplier<Outcome> wait) {
    Outcome outcome;
    do {
      try {
        outcome = wait.get();
      } catch (final DatException e) {
        if (e.subtype() != ReturnSubtype.INVALID_STATE_EVD_WAITER) {
          return e.subtype();
        }
        outcome = Outcome.SUCCESS;
      }
    } while (outcome == Outcome.SUCCESS);
    return outcome;
  }

  /** A CNO that was triggered before somebody waited was not looked at. */
  @ParameterizedTest
  @MethodSource("virtualTime")
  void required_W05_aTriggerThatCameBeforeTheWaitEndsOneWait(final SimCase origin) {
    try (Bench bench = origin.open()) {
      final Link link = new Link(bench);
      link.useCno();
      for (final Runnable event :
          List.<Runnable>of(
              () -> link.arrive(1),
              () -> assertThat(link.received.postSoftwareEvent("")).isEqualTo(Outcome.SUCCESS),
              () -> link.arrive(MESSAGES))) {
        event.run();
        final List<Evd> hints = new ArrayList<>();
        assertThat(link.cno.await(hints::add, Duration.ZERO))
            .as("at once [%s]", bench.replay())
            .isEqualTo(Outcome.SUCCESS);
        assertThat(hints).containsExactly(link.received);
        assertThat(link.cno.await(hints::add, Duration.ZERO))
            .as("it was used up [%s]", bench.replay())
            .isEqualTo(Outcome.TIMEOUT_EXPIRED);
        assertThat(link.drain()).isPositive();
      }
    }
  }

  /** A CNO was never told of an EVD whose only events were completions. */
  @ParameterizedTest
  @MethodSource("virtualTime")
  void required_W05_completionsAloneTriggerACno(final SimCase origin) {
    try (Bench bench = origin.open()) {
      final Link link = new Link(bench);
      link.useCno();
      for (int round = 1; round <= 10; round++) {
        link.send(1);
        for (int waits = 0; link.cookies.size() < round; waits++) {
          assertThat(waits).as("waits, in vain [%s]", bench.replay()).isLessThan(MESSAGES);
          assertThat(link.cno.await(hint -> link.drain(), LONG))
              .as("round %d [%s]", round, bench.replay())
              .isEqualTo(Outcome.SUCCESS);
        }
        final int due = round;
        link.until(() -> link.sent.get() == due, "it was sent");
      }
      link.assertReceived(10);
    }
  }

  /** An EVD that was destroyed armed its queue again, and told its CNO. */
  @ParameterizedTest
  @MethodSource("virtualTime")
  void required_U09_aClosedEvdTellsItsCnoOfNothing(final SimCase origin) {
    try (Bench bench = origin.open()) {
      final Link link = new Link(bench);
      link.useCno();
      link.send(MESSAGES);
      link.until(() -> link.drain() > 0, "the first ones come");
      link.receiver.close();
      link.received.close();
      assertThat(link.cno.evds()).isEmpty();
      assertThat(link.cno.await(hint -> {}, SHORT))
          .as("though some were under way [%s]", bench.replay())
          .isEqualTo(Outcome.TIMEOUT_EXPIRED);
      link.cno.close();
    }
  }

  /** The error of a wait was taken for its result: time-outs and interrupts were mixed up. */
  @ParameterizedTest
  @MethodSource("virtualTime")
  void required_W04_aWaitSaysWhetherItsTimeWasOverOrItsThreadInterrupted(final SimCase origin) {
    try (Bench bench = origin.open()) {
      final Link link = new Link(bench);
      final Evd interrupts = link.ia.createEvd(8, EventStream.SOFTWARE);
      interrupts.upcall(InterceptedBed.on(event -> Thread.currentThread().interrupt()));
      link.arrive(2);

      assertThat(link.received.await(link.keeping, 3, SHORT)).isEqualTo(Outcome.TIMEOUT_EXPIRED);
      assertThat(link.received.remaining()).as("it is valid").isEqualTo(2);
      assertThat(interrupts.postSoftwareEvent("")).isEqualTo(Outcome.SUCCESS);
      assertThat(link.received.await(link.keeping, 3, LONG)).isEqualTo(Outcome.INTERRUPTED_CALL);
      assertThat(Thread.interrupted()).as("the status is kept").isTrue();
      assertThat(link.received.remaining()).as("it is valid").isEqualTo(2);

      assertThat(link.cno.await(hint -> {}, SHORT)).isEqualTo(Outcome.TIMEOUT_EXPIRED);
      assertThat(interrupts.postSoftwareEvent("")).isEqualTo(Outcome.SUCCESS);
      assertThat(link.cno.await(hint -> {}, LONG)).isEqualTo(Outcome.INTERRUPTED_CALL);
      assertThat(Thread.interrupted()).as("the status is kept").isTrue();

      assertThat(link.cookies).as("nothing was taken").isEmpty();
      link.arrive(1);
      assertThat(link.received.await(link.keeping, 3, LONG)).isEqualTo(Outcome.SUCCESS);
      assertThat(link.received.remaining()).isEqualTo(2);
      link.received.upcall(link.keeping);
      link.until(() -> link.cookies.size() == 3, "the EVD is usable");
      link.assertReceived(3);
    }
  }

  /** A disconnect moved the queue pair to RESET, not to ERROR: what was posted just vanished. */
  @ParameterizedTest
  @MethodSource("virtualTime")
  void required_M04_aDisconnectFlushesWhatIsOpenOnBothSidesAndBreaksNeither(final SimCase origin) {
    try (Bench bench = origin.open()) {
      final Link link = new Link(bench);
      link.arrive(3);
      final List<ConnectionEvent.Kind> ends = link.keepEnds();
      for (int i = 0; i < MESSAGES; i++) {
        assertThat(link.sender.postReceive(link.lmr, 0, 8, i)).isEqualTo(Outcome.SUCCESS);
      }
      for (int i = 3; i < MESSAGES; i++) {
        assertThat(link.receiver.postReceive(link.lmr, 0, 8, i)).isEqualTo(Outcome.SUCCESS);
      }

      link.sender.disconnect(Endpoint.Disconnect.GRACEFUL);
      link.until(() -> ends.size() == 2, "both sides are told");
      bench.settle();
      link.drain();

      link.assertReceived(MESSAGES);
      assertThat(link.flushed).as(bench.replay()).hasValue(MESSAGES);
      assertThat(ends)
          .as("flushes are no failure [%s]", bench.replay())
          .containsExactly(ConnectionEvent.Kind.DISCONNECTED, ConnectionEvent.Kind.DISCONNECTED);
    }
  }

  /** A flush crashed where no event was wanted: of suppressed sends. */
  @ParameterizedTest
  @MethodSource("virtualTime")
  void required_T02_suppressedSendsHaveTheirOutcomesThoughADisconnectAndACloseOvertakeThem(
      final SimCase origin) {
    try (Bench bench = origin.open()) {
      final Link link = new Link(bench);
      link.keepEnds();
      final Segments message = new Segments(1).add(link.lmr, 0, 8);
      for (int i = 0; i < MESSAGES / 2; i++) {
        assertThat(link.receiver.postReceive(link.lmr, 0, 8, i)).isEqualTo(Outcome.SUCCESS);
      }
      for (int i = 0; i < MESSAGES; i++) {
        assertThat(link.sender.postSend(message, i, null, CompletionFlags.SUPPRESS))
            .isEqualTo(Outcome.SUCCESS);
      }

      link.sender.disconnect(Endpoint.Disconnect.ABRUPT);
      final CompletableFuture<DrainReport> closed =
          link.sender.closeAsync(LONG).toCompletableFuture();
      link.until(closed::isDone, "the close");

      final DrainReport report = closed.join();
      assertThat(report.suppressed() + report.requests().size() + link.flushed.get())
          .as("%s [%s]", report, bench.replay())
          .isEqualTo(MESSAGES);
    }
  }

  /** Refusals were mixed up, and lost what the consumer said along with his. */
  @ParameterizedTest
  @MethodSource("virtualTime")
  void required_C02_aRejectOfTheConsumerIsToldFromARefusalAndCarriesHisData(final SimCase origin) {
    try (Bench bench = origin.open()) {
      final InterfaceAdapter ia = bench.open();
      final ProtectionZone pz = ia.createPz();
      final Evd evd = ia.createEvd(64, EventStream.DTO, EventStream.CONNECTION);
      final Evd requests = ia.createEvd(1, EventStream.CONNECTION_REQUEST);
      final byte[] asked = "may I?".getBytes(StandardCharsets.US_ASCII);
      final byte[] refusal =
          "sixteen bytes, no".substring(0, 16).getBytes(StandardCharsets.US_ASCII);
      final List<ConnectionEvent> ends = new ArrayList<>();
      evd.upcall(InterceptedBed.on(event -> ends.add(((ConnectionEvent) event).copy())));
      final PublicServicePoint psp = ia.createPsp(1, requests);
      final long[] services = {psp.connQual(), psp.connQual(), psp.connQual() + 1};
      for (final long service : services) {
        ia.createEndpoint(pz, evd, EndpointAttributes.defaults().withMaxDtos(1, 1))
            .connect(ia.address(), service, LONG, ByteBuffer.wrap(asked));
      }

      await(bench, () -> ends.size() == 2, "one finds nobody, one finds the EVD full");
      assertThat(ends)
          .extracting(ConnectionEvent::kind)
          .containsOnly(ConnectionEvent.Kind.NON_PEER_REJECTED);
      requests.drain(
          new EventHandler() {
            @Override
            public void onRequest(final ConnectionRequestEvent event) {
              assertThat(prefix(event.request().privateData(), asked.length)).isEqualTo(asked);
              event.request().reject(ByteBuffer.wrap(refusal));
            }
          },
          9);
      await(bench, () -> ends.size() == 3, "one is rejected");

      assertThat(ends.get(2).kind()).isEqualTo(ConnectionEvent.Kind.PEER_REJECTED);
      assertThat(prefix(ends.get(2).privateData(), refusal.length)).isEqualTo(refusal);
    }
  }

  // The end of the JVM, which closed twice, or beside a thread that was gone, and hung.

  /** A connected consumer that leaves it to shutdown hooks to close, each of them twice. */
  static final class Leaving {

    /** Of a close behind an upcall that never returns; any other needs no bound. */
    private static final Duration BOUND = Duration.ofSeconds(2);

    private Leaving() {}

    /** Ends in an upcall or in the main thread. */
    public static void main(final String[] where) throws InterruptedException {
      final boolean inAnUpcall = where[0].equals("in an upcall");
      final InterfaceAdapter ia = Dat.open("sim");
      final Evd evd =
          ia.createEvd(64, EventStream.CONNECTION, EventStream.CONNECTION_REQUEST, EventStream.DTO);
      final ProtectionZone pz = ia.createPz();
      final Endpoint active = ia.createEndpoint(pz, evd, EndpointAttributes.defaults());
      final Endpoint passive = ia.createEndpoint(pz, evd, EndpointAttributes.defaults());
      final PublicServicePoint psp = ia.createPsp(1, evd);
      final CountDownLatch connected = new CountDownLatch(1);
      for (final String name : List.of("one", "two")) {
        Runtime.getRuntime()
            .addShutdownHook(new Thread(() -> close(ia, inAnUpcall ? BOUND : LONG, name)));
      }
      evd.upcall(
          new EventHandler() {
            @Override
            public void onRequest(final ConnectionRequestEvent event) {
              event.request().accept(passive, null);
            }

            @Override
            public void onConnection(final ConnectionEvent event) {
              if (inAnUpcall) {
                System.exit(0);
              }
              connected.countDown();
            }
          });
      active.connect(ia.address(), psp.connQual(), LONG, null);
      connected.await();
      System.exit(0);
    }

    private static void close(final InterfaceAdapter ia, final Duration bound, final String name) {
      ia.closeAbruptly(bound);
      ia.closeAbruptly(bound);
      ia.close();
      System.out.println(name + " closed, " + ia.statistics().open());
    }
  }

  /** What an upcall that never returns may still use is left. */
  @ParameterizedTest
  @CsvSource({"in the main thread, open: nothing", "in an upcall, open: "})
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void shouldCloseInShutdownHooksTwiceOverAndLetTheJvmEnd(final String where, final String left)
      throws IOException {
    assertThat(OwnJvm.run(Leaving.class, List.of(), Map.of(), where))
        .containsOnlyOnce("one closed, " + left)
        .containsOnlyOnce("two closed, " + left);
  }

  private static void await(final Bench bench, final BooleanSupplier condition, final String what) {
    assertThat(bench.runUntil(condition)).as("%s [%s]", what, bench.replay()).isTrue();
  }

  private static byte[] prefix(final ByteBuffer data, final int length) {
    final byte[] bytes = new byte[length];
    data.get(bytes);
    return bytes;
  }
}
