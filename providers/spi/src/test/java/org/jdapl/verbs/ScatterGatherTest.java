package org.jdapl.verbs;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ScatterGatherTest {

  private static final ProtectionDomain PD = () -> {};
  private static final ProtectionDomain ANOTHER_PD = () -> {};

  private record Region(
      ProtectionDomain pd, ByteBuffer buffer, Set<Access> access, long address, int lkey)
      implements HostRegion {
    @Override
    public void close() {
      // it is never closed
    }
  }

  private final Region source =
      new Region(PD, ByteBuffer.wrap("0123456789".getBytes(US_ASCII)), Set.of(), 1000, 7);
  private final Region target =
      new Region(PD, ByteBuffer.allocate(10), Set.of(Access.LOCAL_WRITE), 2000, 8);
  private final ScatterGather pieces = new ScatterGather(3);

  private HostRegion region(final int lkey) {
    return lkey == 7 ? source : lkey == 8 ? target : null;
  }

  private boolean becomes(final Access right, final int length, final long... sges) {
    final RecvRequest list = new RecvRequest(3);
    for (int i = 0; i < sges.length; i += 3) {
      list.addSge(sges[i], (int) sges[i + 1], (int) sges[i + 2]);
    }
    return pieces.setLocal(this::region, PD, list, length, right);
  }

  private String gathered() {
    return new String(pieces.get(), US_ASCII);
  }

  @Test
  void shouldGatherTheFirstBytesOfTheElements() {
    assertThat(becomes(null, 5, 1008, 2, 7, 1000, 0, 99, 1001, 9, 7)).isTrue();
    assertThat(gathered()).isEqualTo("89123");
  }

  @Test
  void shouldScatterOrChangeNothing() {
    final RecvRequest list = new RecvRequest(2);
    list.addSge(2003, 1, 8);
    list.addSge(2000, 3, 8);
    final byte[] bytes = "abcd".getBytes(US_ASCII);
    assertThat(pieces.scatter(this::region, PD, list, bytes)).isTrue();
    assertThat(new String(target.buffer().array(), 0, 4, US_ASCII)).isEqualTo("bcda");
    list.clearSge();
    list.addSge(2000, 1, 8);
    list.addSge(1000, 3, 7); // not to be written
    assertThat(pieces.scatter(this::region, PD, list, bytes)).isFalse();
    assertThat(new String(target.buffer().array(), 0, 4, US_ASCII)).isEqualTo("bcda");
  }

  @Test
  void shouldScatterIntoTheElements() {
    assertThat(becomes(Access.LOCAL_WRITE, 4, 2003, 1, 8, 2000, 3, 8)).isTrue();
    pieces.put("abcd".getBytes(US_ASCII));
    assertThat(new String(target.buffer().array(), 0, 4, US_ASCII)).isEqualTo("bcda");
  }

  @Test
  void shouldCopyToPiecesThatAreCutInAnotherWay() {
    assertThat(becomes(null, 5, 1000, 1, 7, 1002, 4, 7)).isTrue();
    final ScatterGather to = new ScatterGather(2);
    final RecvRequest list = new RecvRequest(2);
    list.addSge(2000, 3, 8);
    list.addSge(2005, 5, 8);
    assertThat(to.setLocal(this::region, PD, list, 8, Access.LOCAL_WRITE)).isTrue();
    pieces.copyTo(to);
    assertThat(new String(target.buffer().array(), 0, 7, US_ASCII)).isEqualTo("023\0\0" + "45");
  }

  @Test
  void shouldRefuseWhatARegionDoesNotGrant() {
    assertThat(becomes(null, 1, 1000, 1, 9)).as("no region").isFalse();
    assertThat(becomes(Access.LOCAL_WRITE, 1, 1000, 1, 7)).as("no right").isFalse();
    assertThat(becomes(null, 2, 1009, 2, 7)).as("behind its end").isFalse();
    assertThat(becomes(null, 1, 999, 1, 7)).as("before its start").isFalse();
    assertThat(becomes(null, 2, 1000, 1, 7, 1000, 1, 9)).as("the second").isFalse();
    assertThat(becomes(null, 1, 1000, 1, 7, 1000, 1, 9)).as("has no part in it").isTrue();
    assertThat(pieces.setRemote(source, ANOTHER_PD, 1000, 1, null)).as("domain").isFalse();
    assertThat(pieces.setRemote(null, PD, 1000, 1, Access.REMOTE_READ)).as("none").isFalse();
    assertThat(pieces.setRemote(source, PD, 1000, 1, Access.REMOTE_READ)).as("right").isFalse();
    assertThat(pieces.setRemote(target, PD, Long.MIN_VALUE, 1, Access.LOCAL_WRITE)).isFalse();
    assertThat(pieces.setRemote(target, PD, 2000, -1, Access.LOCAL_WRITE)).isFalse();
  }

  @Test
  void shouldNotLookAtTheKeyWhereThereAreNoBytes() {
    assertThat(pieces.setRemote(null, PD, 1000, 0, Access.REMOTE_READ)).isTrue();
    assertThat(gathered()).isEmpty();
  }
}
