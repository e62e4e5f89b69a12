package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.evd.ScriptedDevice.Behavior;
import org.jdapl.evd.ScriptedDevice.ScriptedCq;
import org.jdapl.evd.ScriptedDevice.ScriptedQp;

/**
 * An EVD on a {@link ScriptedDevice}, driven by hand, with one endpoint whose completions go there
 * and whose connection events go elsewhere. It is the handler of its EVD and remembers what it got.
 */
class ScriptedBed extends HandBed implements EventHandler {

  private static final int CAPACITY = 8;

  final ScriptedDevice device;
  final ProtectionZone pz;
  final Lmr lmr;
  final Evd evd;
  final Evd connectEvd;
  final Endpoint endpoint;

  /** Cookies of completions, in the order they were delivered. */
  final List<Long> cookies = new ArrayList<>();

  /** Payloads of software events, in the order they were delivered. */
  final List<Object> payloads = new ArrayList<>();

  private final List<String> faults = new ArrayList<>();
  private long posted;

  ScriptedBed(final Behavior behavior, final int receives) {
    this(new ScriptedDevice(behavior), receives);
  }

  /** With that many receives posted. */
  ScriptedBed(final ScriptedDevice device, final int receives) {
    super(device, CAPACITY);
    this.device = device;
    pz = ia.createPz();
    lmr = pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.LOCAL_READ, Privilege.LOCAL_WRITE);
    evd = createEvd(2 * receives + 8);
    connectEvd = ia.createEvd(8, EventStream.CONNECTION);
    endpoint = createEndpoint(evd, receives);
    postReceives(endpoint, receives);
  }

  final Evd createEvd(final int length) {
    return ia.createEvd(length, EventStream.DTO, EventStream.SOFTWARE);
  }

  final Endpoint createEndpoint(final Evd to, final int receives) {
    return ia.createEndpoint(
        pz, to, to, connectEvd, EndpointAttributes.defaults().withMaxDtos(receives, 4));
  }

  /** Posts receives with the next cookies; the first one ever is 0. */
  final void postReceives(final Endpoint to, final int count) {
    for (int i = 0; i < count; i++) {
      assertThat(to.postReceive(lmr, 0, 8, posted++)).isEqualTo(Outcome.SUCCESS);
    }
  }

  final void connect() {
    endpoint.connect(ia.address(), 1, Duration.ofSeconds(1), null);
  }

  ScriptedQp qp() {
    return device.qp(0);
  }

  ScriptedCq cq() {
    return device.cq(0);
  }

  /** Completes the oldest receives. */
  final void complete(final int count) {
    qp().completeReceives(count);
  }

  /** Enables the upcall of its EVD, and settles. */
  final void enable() {
    evd.upcall(this);
    settle();
  }

  /** What the async EVD was told since the last call. */
  final List<String> faults() {
    faults.clear();
    ia.asyncEvd()
        .drain(
            new EventHandler() {
              @Override
              public void onAsync(final AsyncEvent event) {
                faults.add(event.kind() + ": " + event.reason());
              }
            },
            100);
    return List.copyOf(faults);
  }

  static Long[] upTo(final int count) {
    return LongStream.range(0, count).boxed().toArray(Long[]::new);
  }

  /** Every completion of the first receives was delivered once and in order, and no other was. */
  final void assertDelivered(final int count) {
    assertThat(cookies).containsExactly(upTo(count));
    assertThat(evd.statistics().rescued()).as("by the watchdog; a lost wake-up").isZero();
  }

  @Override
  public void onCompletion(final DtoCompletion event) {
    cookies.add(event.cookie());
  }

  @Override
  public void onSoftware(final SoftwareEvent event) {
    payloads.add(event.payload());
  }

  @Override
  public void onEvent(final Event event) {
    throw new AssertionError("not expected: " + event);
  }
}
