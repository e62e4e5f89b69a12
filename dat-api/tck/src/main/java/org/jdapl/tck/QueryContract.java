package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jdapl.dat.AdapterAttributes;
import org.jdapl.dat.Cno;
import org.jdapl.dat.CommonServicePoint;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.ExtensionOp;
import org.jdapl.dat.HandleType;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProviderAttributes;
import org.jdapl.dat.ReservedServicePoint;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.SharedReceiveQueue;
import org.jdapl.dat.UpcallPolicy;
import org.junit.jupiter.api.Test;

/** What objects tell of themselves, and the consumer's contexts. */
public abstract class QueryContract extends Contract {

  /** A contract; its state lives for one test. */
  protected QueryContract() {}

  @Test
  void shouldTellTheTypeAndTheAdapterOfEachObject() {
    final Pair pair = Pair.open(this);

    objects(pair)
        .forEach(
            (object, type) -> {
              assertThat(object.type()).as(why(object.name())).isEqualTo(type);
              assertThat(object.adapter()).as(why(object.name())).isSameAs(pair.passive.adapter);
            });
  }

  @Test
  void shouldKeepTheContextOfEachObjectInEveryState() {
    final Pair pair = Pair.open(this);
    final Map<DatObject, HandleType> objects = objects(pair);
    final Map<DatObject, Object> contexts = new LinkedHashMap<>();

    for (final DatObject object : objects.keySet()) {
      assertThat(object.context()).as(why(object.name() + " is new")).isNull();
      object.context("another");
      contexts.put(object, new Object());
      object.context(contexts.get(object));
    }
    pair.passive.adapter.closeAbruptly(BOUND);

    contexts.forEach(
        (object, context) -> {
          assertThat(object.context()).as(why(object.name() + " is closed")).isSameAs(context);
          object.context(null);
          assertThat(object.context()).as(why(object.name() + " has none")).isNull();
          assertThat(object.type()).as(why("closed")).isEqualTo(objects.get(object));
          assertThat(object.adapter()).as(why("closed")).isSameAs(pair.passive.adapter);
        });
  }

  /** One of each type, all on the passive side. */
  private Map<DatObject, HandleType> objects(final Pair pair) {
    final Side side = pair.passive;
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    side.seen.answer(request::set);
    pair.ask();
    awaitTaking(side.seen, () -> request.get() != null, "a request");

    final Map<DatObject, HandleType> objects = new LinkedHashMap<>();
    objects.put(request.get(), HandleType.CR);
    objects.put(side.endpoint, HandleType.EP);
    objects.put(side.evd, HandleType.EVD);
    objects.put(side.adapter.asyncEvd(), HandleType.EVD);
    objects.put(side.adapter, HandleType.IA);
    objects.put(side.lmr, HandleType.LMR);
    objects.put(pair.psp, HandleType.PSP);
    objects.put(side.pz, HandleType.PZ);
    objects.put(side.adapter.createRsp(connQual(), side.newEndpoint(), side.evd), HandleType.RSP);
    objects.put(side.adapter.createCno(), HandleType.CNO);
    objects.put(side.adapter.createSrq(side.pz, 1, 1), HandleType.SRQ);
    objects.put(
        side.adapter.createCsp(new InetSocketAddress(side.adapter.address(), 0), side.evd),
        HandleType.CSP);
    return objects;
  }

  @Test
  void shouldTellWhatAnEvdIs() {
    final InterfaceAdapter adapter = bench.open();
    final Evd evd = adapter.createEvd(7, EventStream.SOFTWARE, EventStream.ASYNC);
    final Cno cno = adapter.createCno();

    assertThat(evd.streams())
        .as(why("as created"))
        .containsExactlyInAnyOrder(EventStream.SOFTWARE, EventStream.ASYNC);
    assertThat(evd.length()).as(why("as created")).isEqualTo(7);
    assertThat(evd.policy()).as(why("as created")).isEqualTo(UpcallPolicy.DISABLED);
    assertThat(evd.isWaitable()).as(why("as created")).isTrue();
    assertThat(evd.cno()).as(why("as created")).isNull();

    evd.streams().clear();
    evd.cno(cno);
    evd.resize(9);
    evd.setUnwaitable();

    assertThat(evd.streams()).as(why("the consumer's own set was cleared")).hasSize(2);
    assertThat(evd.cno()).as(why("changed")).isSameAs(cno);
    assertThat(cno.evds()).as(why("the other way")).containsExactly(evd);
    assertThat(evd.length()).as(why("changed")).isEqualTo(9);
    assertThat(evd.isWaitable()).as(why("changed")).isFalse();

    evd.clearUnwaitable();

    assertThat(evd.isWaitable()).as(why("changed back")).isTrue();
  }

  @Test
  void shouldTellWhatARegionIs() {
    final Side side = Pair.open(this).active;
    final ByteBuffer memory = ByteBuffer.allocateDirect(12);
    final Lmr lmr = side.pz.createLmr(memory, Privilege.REMOTE_WRITE, Privilege.LOCAL_READ);

    assertThat(lmr.buffer().put(3, (byte) 7).capacity()).as(why("its memory")).isEqualTo(12);
    assertThat(memory.get(3)).as(why("the same memory")).isEqualTo((byte) 7);
    assertThat(lmr.pz()).as(why("its zone")).isSameAs(side.pz);
    lmr.close();

    assertThat(lmr.privileges())
        .as(why("what was asked for"))
        .containsExactlyInAnyOrder(Privilege.REMOTE_WRITE, Privilege.LOCAL_READ)
        .isUnmodifiable();
    assertThat(lmr.length()).as(why("its length")).isEqualTo(12);
    assertThat(lmr.pz()).as(why("its zone")).isSameAs(side.pz);
  }

  @Test
  void shouldTellWhatASharedReceiveQueueIs() {
    final Side side = Pair.open(this).active;
    final SharedReceiveQueue srq = side.adapter.createSrq(side.pz, 5, 2);

    assertThat(srq.pz()).as(why("its zone")).isSameAs(side.pz);
    assertThat(srq.maxReceives()).as(why("as created")).isEqualTo(5);
    assertThat(srq.maxIov()).as(why("as created")).isEqualTo(2);
    assertThat(srq.openReceives()).as(why("nothing was posted")).isZero();
    assertThat(srq.lowWatermark()).as(why("as created")).isZero();

    for (int cookie = 0; cookie < 3; cookie++) {
      succeeds(srq.postReceive(side.lmr, 0, 1, cookie), "a receive within its count");
    }
    srq.lowWatermark(2);

    assertThat(srq.openReceives()).as(why("three posted")).isEqualTo(3);
    assertThat(srq.lowWatermark()).as(why("it is not reached")).isEqualTo(2);

    srq.lowWatermark(4);

    assertThat(srq.lowWatermark()).as(why("reached at once, and told of")).isZero();
  }

  @Test
  void shouldTellHowManyReceivesAnEndpointHas() {
    final Pair pair = Pair.connected(this);
    assertThat(pair.passive.endpoint.openReceives()).as(why("none was posted")).isZero();
    pair.passive.receives(0, 5);
    assertThat(pair.passive.endpoint.openReceives()).as(why("five posted")).isEqualTo(5);

    pair.active.sends(0, 2);
    await(() -> pair.passive.successes(DrainReport.Queue.RECEIVE) == 2, "two taken");
    assertThat(pair.passive.endpoint.openReceives()).as(why("two handed out")).isEqualTo(3);
    pair.passive.endpoint.close();
    assertThat(pair.passive.endpoint.openReceives()).as(why("closed")).isZero();

    pair.passive.endpoint = pair.passive.newEndpoint();
    pair.passive.share(4);
    refused(
        ReturnType.MODEL_NOT_SUPPORTED,
        "no device tells what it took of the shared ones",
        pair.passive.endpoint::openReceives);
  }

  @Test
  void shouldHaveNoWatermarksOfAnEndpoint() {
    final Endpoint endpoint = Pair.open(this).active.endpoint;
    endpoint.watermarks(0, 0);
    refused(ReturnType.MODEL_NOT_SUPPORTED, "nobody counts", () -> endpoint.watermarks(4, 0));
    refused(ReturnType.MODEL_NOT_SUPPORTED, "nobody counts", () -> endpoint.watermarks(0, 8));
    refused(ReturnType.INVALID_PARAMETER, "a number", () -> endpoint.watermarks(-1, 8));
    endpoint.close();
    refused(ReturnType.INVALID_HANDLE, "closed", () -> endpoint.watermarks(0, 0));
  }

  @Test
  void shouldTellWhatAServicePointIs() {
    final Side side = Pair.open(this).active;
    final InetSocketAddress at = new InetSocketAddress(side.adapter.address(), 0);
    final ReservedServicePoint rsp = side.adapter.createRsp(connQual(), side.endpoint, side.evd);
    final CommonServicePoint csp = side.adapter.createCsp(at, side.evd);

    assertThat(rsp.evd()).as(why("its EVD")).isSameAs(side.evd);
    assertThat(rsp.endpoint()).as(why("its endpoint")).isSameAs(side.endpoint);
    assertThat(csp.evd()).as(why("its EVD")).isSameAs(side.evd);
    assertThat(csp.address().getPort()).as(why("its port")).isEqualTo((int) csp.connQual());
    csp.close();
    assertThat(csp.evd()).as(why("closed")).isSameAs(side.evd);
  }

  @Test
  void shouldRefuseWhatIsMoreThanTheAttributesSay() {
    final Side side = Pair.open(this).active;
    final InterfaceAdapter adapter = side.adapter;
    final AdapterAttributes most = adapter.attributes();
    final EndpointAttributes sizes = EndpointAttributes.defaults();

    noRoom(
        ReturnSubtype.RESOURCE_TEVD,
        "an EVD",
        () -> adapter.createEvd(most.maxEvdLength() + 1, EventStream.SOFTWARE));
    noRoom(
        ReturnSubtype.RESOURCE_TEP,
        "receives",
        () -> endpoint(side, sizes.withMaxDtos(most.maxDtosPerEp() + 1, 1)));
    noRoom(
        ReturnSubtype.RESOURCE_TEP,
        "requests",
        () -> endpoint(side, sizes.withMaxDtos(1, most.maxDtosPerEp() + 1)));
    noRoom(
        ReturnSubtype.RESOURCE_TEP,
        "segments",
        () -> endpoint(side, sizes.withMaxIov(1, most.maxIovPerDto() + 1)));
    noRoom(
        ReturnSubtype.RESOURCE_SRQ,
        "shared receives",
        () -> adapter.createSrq(side.pz, most.maxReceivesPerSrq() + 1, 1));
    noRoom(
        ReturnSubtype.RESOURCE_SRQ,
        "segments of a shared receive",
        () -> adapter.createSrq(side.pz, 1, most.maxIovPerSrqReceive() + 1));
  }

  private void noRoom(final ReturnSubtype subtype, final String what, final Runnable call) {
    refused(
        ReturnType.INSUFFICIENT_RESOURCES, subtype, what + ": one more than it says", call::run);
  }

  @Test
  void shouldMakeWhatTheAttributesSay() {
    final Side side = Pair.open(this).active;
    final AdapterAttributes most = side.adapter.attributes();

    endpoint(side, EndpointAttributes.defaults().withMaxIov(most.maxIovPerDto(), 1)).close();
    endpoint(side, EndpointAttributes.defaults().withMaxIov(1, most.maxIovPerDto())).close();
    endpoint(
            side,
            EndpointAttributes.defaults()
                .withRdmaReads(most.maxRdmaReadsPerEpIn(), most.maxRdmaReadsPerEpOut()))
        .close();
    side.adapter.createSrq(side.pz, 1, most.maxIovPerSrqReceive()).close();

    assertThat(most).as(why("they stay the same")).isEqualTo(side.adapter.attributes());
    assertThat(most.address()).as(why("the same as")).isEqualTo(side.adapter.address());
    assertThat(most.name()).as(why("the same as")).isEqualTo(side.adapter.name());
  }

  private static DatObject endpoint(final Side side, final EndpointAttributes attributes) {
    return side.adapter.createEndpoint(side.pz, side.evd, attributes);
  }

  @Test
  void shouldTellWhatTheProviderSupports() {
    final InterfaceAdapter adapter = bench.open();

    final ProviderAttributes supported = adapter.providerAttributes();

    assertThat(supported.name()).as(why("a name")).isNotBlank();
    assertThat(supported.isThreadSafe()).as(why("jDAPL is")).isTrue();
    assertThat(supported.mergesAllStreams()).as(why("M01")).isTrue();
    assertThat(supported.maxUpcallPolicy()).as(why("U05")).isEqualTo(UpcallPolicy.MANY);
    assertThat(supported.completionFlags() & CompletionFlags.SUPPRESS)
        .as(why("D05"))
        .isEqualTo(CompletionFlags.SUPPRESS);
    assertThat(supported.completionFlags() & CompletionFlags.UNSIGNALLED)
        .as(why("D01"))
        .isEqualTo(CompletionFlags.UNSIGNALLED);
    assertThat(supported.isSrqSupported())
        .as(why("the limits say so as well"))
        .isEqualTo(adapter.attributes().maxSrqs() > 0);
    assertThat(supported.extensions())
        .as(why("every device here has all"))
        .containsExactly(ExtensionOp.values());
    adapter.close();
    assertThat(adapter.providerAttributes()).as(why("closed")).isEqualTo(supported);
  }
}
