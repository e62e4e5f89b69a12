package org.jdapl.examples.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jdapl.dat.EventStream.CONNECTION;
import static org.jdapl.dat.EventStream.DTO;
import static org.jdapl.dat.Privilege.LOCAL_READ;
import static org.jdapl.dat.Privilege.LOCAL_WRITE;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.evd.Jdapl;
import org.jdapl.hooks.FaultPlan;
import org.jdapl.hooks.Faults;
import org.jdapl.hooks.Trace;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** How a consumer is tested: on the virtual fabric, by hand, with many seeds. */
class EchoTest {

  private static final long SERVICE = 7;

  static LongStream seeds() {
    return LongStream.range(0, 50);
  }

  // tag::test[]
  @ParameterizedTest
  @MethodSource("seeds")
  void shouldSendBackEveryMessageInOrder(final long seed) {
    final SimFabric fabric = SimFabric.virtual(seed).keepTrace();
    final SimModel model = SimModel.parse("arm=weak hint=none"); // what most devices do
    try (Jdapl jdapl = Jdapl.with(fabric.provider(model)).byHand().clock(fabric.clock()).start();
        InterfaceAdapter server = jdapl.open();
        Echo echo = new Echo(server, SERVICE);
        InterfaceAdapter here = jdapl.open();
        Client client = new Client(here)) {
      client.connect(server.address(), echo.connQual(), 100);

      final boolean done =
          jdapl.runUntil(() -> client.answers.size() == 100, Duration.ofSeconds(1));

      assertThat(done).as(() -> fabric + String.join("\n", fabric.trace())).isTrue();
      assertThat(client.answers).isSorted().doesNotHaveDuplicates();
    }
  }

  // end::test[]

  // tag::faults[]
  @ParameterizedTest
  @MethodSource("seeds")
  void shouldSendBackEveryMessageWhateverComesLateOrNever(final long seed) {
    final SimFabric fabric = SimFabric.virtual(seed);
    final FaultPlan plan =
        FaultPlan.parse("drop notification@3; delay established@1=20ms; delay completion@30+=50us");
    final Faults faults = Faults.over(fabric.provider(SimModel.DEFAULT), plan, fabric.clock());
    final Trace.Tail trace = new Trace.Tail(100); // the last 100 verbs and events
    try (Jdapl jdapl =
            Jdapl.with(Trace.over(faults, trace)).byHand().clock(faults.clock()).start();
        InterfaceAdapter server = jdapl.open();
        Echo echo = new Echo(server, SERVICE);
        InterfaceAdapter here = jdapl.open();
        Client client = new Client(here)) {
      client.connect(server.address(), echo.connQual(), 100);

      final boolean done =
          jdapl.runUntil(() -> client.answers.size() == 100, Duration.ofSeconds(1));

      assertThat(done).as(() -> fabric + "\n" + plan + "\n" + faults + "\n" + trace).isTrue();
      assertThat(client.answers).isSorted().doesNotHaveDuplicates();
      assertThat(faults.notReached()).isEmpty();
    }
  }

  // end::faults[]

  @ParameterizedTest
  @MethodSource("seeds")
  void shouldServeTheNextClientAfterOneThatVanishes(final long seed) {
    final SimFabric fabric = SimFabric.virtual(seed).keepTrace();
    try (Jdapl jdapl =
            Jdapl.with(fabric.provider(SimModel.DEFAULT)).byHand().clock(fabric.clock()).start();
        InterfaceAdapter server = jdapl.open();
        Echo echo = new Echo(server, SERVICE);
        InterfaceAdapter here = jdapl.open();
        Client next = new Client(here)) {
      final InterfaceAdapter there = jdapl.open();
      final Client vanishing = new Client(there);
      vanishing.connect(server.address(), echo.connQual(), 100);
      jdapl.runUntil(() -> vanishing.answers.size() == seed, Duration.ofSeconds(1));
      there.closeAbruptly(Duration.ofSeconds(1));
      jdapl.runUntil(() -> false, Duration.ofMillis(10)); // the server hears of it

      next.connect(server.address(), echo.connQual(), 10);
      final boolean done = jdapl.runUntil(() -> next.answers.size() == 10, Duration.ofSeconds(1));

      assertThat(done).as(() -> fabric + String.join("\n", fabric.trace())).isTrue();
    }
  }

  /** Sends numbers, a few at a time, and keeps the answers. */
  private static final class Client implements EventHandler, AutoCloseable {

    private static final int WINDOW = 4;

    private final List<Long> answers = new ArrayList<>();
    private final ByteBuffer memory = ByteBuffer.allocateDirect(2 * WINDOW * Long.BYTES);
    private final ProtectionZone pz;
    private final Evd evd;
    private final Lmr slots;
    private final Endpoint endpoint;
    private long sent;
    private long messages;

    Client(final InterfaceAdapter adapter) {
      evd = adapter.createEvd(64, DTO, CONNECTION);
      pz = adapter.createPz();
      slots = pz.createLmr(memory, LOCAL_READ, LOCAL_WRITE);
      endpoint = adapter.createEndpoint(pz, evd, EndpointAttributes.defaults());
      for (long slot = 0; slot < WINDOW; slot++) {
        endpoint.postReceive(slots, slot * Long.BYTES, Long.BYTES, slot);
      }
      evd.upcall(this);
    }

    void connect(final InetAddress server, final long connQual, final long count) {
      messages = count;
      endpoint.connect(server, connQual, Duration.ofSeconds(1), null);
    }

    private void send() {
      if (sent < messages) {
        final int offset = (WINDOW + (int) (sent % WINDOW)) * Long.BYTES;
        memory.putLong(offset, sent);
        endpoint.postSend(slots, offset, Long.BYTES, sent++);
      }
    }

    @Override
    public void onConnection(final ConnectionEvent event) {
      if (event.kind() == ConnectionEvent.Kind.ESTABLISHED) {
        for (int i = 0; i < WINDOW; i++) {
          send();
        }
      }
    }

    @Override
    public void onCompletion(final DtoCompletion event) {
      if (event.operation() == DtoOperation.RECEIVE && event.status() == DtoStatus.SUCCESS) {
        answers.add(memory.getLong((int) event.cookie() * Long.BYTES));
        endpoint.postReceive(slots, event.cookie() * Long.BYTES, Long.BYTES, event.cookie());
        send();
      }
    }

    @Override
    public void close() {
      endpoint.close();
      slots.close();
      pz.close();
      evd.close();
    }
  }
}
