package org.jdapl.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a fabric does on request: links that go down, devices that fall silent or are removed. */
class FabricFaultTest {

  private static final long GIVES_UP = 4_000_000_000L;

  private final SimFabric fabric = SimFabric.virtual(7).keepTrace();
  private final Side active = new Side(fabric);
  private final Side passive = new Side(fabric);

  @ParameterizedTest
  @ValueSource(strings = {"sim0", "sim1"})
  void required_S03_whenALinkIsDownBothSidesExceedTheirRetries(final String down) {
    active.connect(passive);
    fabric.linkDown(down);
    active.postSend(1, 0, 8);
    passive.postSend(2, 0, 8);
    assertThat(active.nextSend().status()).isEqualTo(WcStatus.RETRY_EXC_ERR);
    assertThat(passive.nextSend().status()).isEqualTo(WcStatus.RETRY_EXC_ERR);
    active.settle();
    assertThat((down.equals("sim0") ? active : passive).asyncs).containsExactly(AsyncType.PORT_ERR);
    assertThat((down.equals("sim0") ? passive : active).asyncs).isEmpty();
  }

  @Test
  void required_S03_aLinkThatComesBackCarriesMessagesAgain() {
    active.connect(passive);
    passive.postRecv(7, 0, 8);
    fabric.linkDown("sim0");
    active.postSend(1, 0, 8);
    active.pass(50_000); // less than the retries take
    fabric.linkUp("sim0");
    assertThat(active.nextSend().status()).isEqualTo(WcStatus.SUCCESS);
    assertThat(passive.nextReceive().wrId()).isEqualTo(7);
    assertThat(active.asyncs).containsExactly(AsyncType.PORT_ERR, AsyncType.PORT_ACTIVE);
  }

  private CmId connect(final CmListener listener) {
    return active.device.connect(
        active.qp, passive.device.address(), listener.service(), Side.PARAMETERS, active::onCm);
  }

  @ParameterizedTest
  @ValueSource(strings = {"link-down sim0", "link-down sim1", "silence sim1", "remove sim1"})
  void required_S03_aConnectIsUnreachableWhenThePeerIs(final String fault) {
    final CmListener listener = passive.device.listen(0, 1, request -> {});
    fabric.perform(fault);
    final long before = fabric.now();
    connect(listener);
    active.settle();
    assertThat(active.events).as("%s", fabric.trace()).containsExactly(CmEventType.UNREACHABLE);
    assertThat(fabric.now() - before).isBetween(GIVES_UP, GIVES_UP + 1_000_000);
  }

  @Test
  void required_C02_aPeerThatDisconnectsAfterItsAnswerWasLostIsUnreachable() {
    final AtomicReference<CmRequest> asked = new AtomicReference<>();
    final CmListener listener = passive.device.listen(0, 1, asked::set);
    connect(listener);
    active.until(() -> asked.get() != null);
    fabric.linkDown("sim0");
    final CmId accepted = asked.get().accept(passive.qp, Side.PARAMETERS, passive::onCm);
    active.pass(GIVES_UP / 40);
    fabric.linkUp("sim0");
    accepted.disconnect();
    active.settle();
    assertThat(active.events).as("%s", fabric.trace()).containsExactly(CmEventType.UNREACHABLE);
    assertThat(passive.events).containsExactly(CmEventType.DISCONNECTED);
  }

  @Test
  void required_S03_anAcceptWhoseAnswerIsLostIsUnreachableAtBothSides() {
    final AtomicReference<CmRequest> asked = new AtomicReference<>();
    final CmListener listener = passive.device.listen(0, 1, asked::set);
    connect(listener);
    active.until(() -> asked.get() != null);
    fabric.silence("sim1");
    asked.get().accept(passive.qp, Side.PARAMETERS, passive::onCm);
    active.settle();
    assertThat(active.events).containsExactly(CmEventType.UNREACHABLE);
    assertThat(passive.events).containsExactly(CmEventType.UNREACHABLE);
  }

  @Test
  void required_S03_aDisconnectOfASilentPeerEndsByItself() {
    active.connect(passive);
    fabric.silence("sim1");
    passive.postRecv(7, 0, 8);
    active.postSend(1, 0, 8);
    assertThat(active.nextSend().status())
        .as("its hardware still answers")
        .isEqualTo(WcStatus.SUCCESS);
    final long before = fabric.now();
    active.id.disconnect();
    active.settle();
    assertThat(active.events).contains(CmEventType.DISCONNECTED);
    assertThat(passive.events).doesNotContain(CmEventType.DISCONNECTED);
    assertThat(fabric.now() - before).isBetween(GIVES_UP, GIVES_UP + 1_000_000);
  }

  @Test
  void required_S03_aDeviceThatIsRemovedSaysSoAndItsVerbsFail() {
    active.connect(passive);
    active.postRecv(1, 0, 8);
    fabric.remove("sim0");
    active.settle();
    assertThat(active.asyncs).containsExactly(AsyncType.DEVICE_FATAL);
    assertThat(active.asyncElements).containsExactly(active.device);
    assertThat(active.events).contains(CmEventType.DEVICE_REMOVAL);
    assertThat(active.qp.postRecv(active.recv(2, 0, 8))).isEqualTo(VerbsException.EIO);
    for (final Runnable verb :
        List.<Runnable>of(
            active.device::allocPd,
            active.qp::modifyToError,
            () -> active.device.listen(0, 1, request -> {}),
            () -> active.createQp(null))) {
      assertThatThrownBy(verb::run)
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.EIO))
          .hasMessageContaining("the device was removed");
    }
    assertThat(active.receives()).as("nothing is flushed").isEmpty();
    passive.postSend(3, 0, 8);
    assertThat(passive.nextSend().status()).isEqualTo(WcStatus.RETRY_EXC_ERR);
    active.close();
    passive.close();
  }

  @Test
  void shouldRemoveADeviceOnce() {
    fabric.remove("sim0");
    fabric.remove("sim0");
    fabric.linkDown("sim0");
    active.settle();
    assertThat(active.asyncs).containsExactly(AsyncType.DEVICE_FATAL);
  }

  @Test
  void shouldSayWhichDevicesThereAre() {
    assertThatThrownBy(() -> fabric.linkDown("sim9"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no device 'sim9' is open")
        .hasMessageContaining("there are [sim0, sim1]");
    active.close();
    assertThatThrownBy(() -> fabric.silence("sim0")).hasMessageContaining("there are [sim1]");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "remove", "explode sim0", "link-down"})
  void shouldSayWhatItCanPerform(final String text) {
    assertThatThrownBy(() -> fabric.perform(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + text + "'");
  }
}
