package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.AsyncEvent.Kind;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.SoftwareEvent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AsyncEvdTest implements EventHandler {

  private final Jdapl jdapl = Jdapl.with(new Loopback()).byHand().start();
  private final IaImpl ia = (IaImpl) jdapl.open();
  private final List<String> seen = new ArrayList<>();

  @Override
  public void onAsync(final AsyncEvent event) {
    seen.add(event.kind() + " " + event.count());
  }

  @Override
  public void onSoftware(final SoftwareEvent event) {
    seen.add("software " + event.payload());
  }

  @AfterEach
  void close() {
    ia.closeAbruptly(Duration.ofSeconds(1));
    jdapl.close();
  }

  private void report(final Evd about, final Kind kind) {
    ia.asyncErrors().report(((EvdImpl) about).asyncSlot(), kind, "as the test says");
  }

  private void turnAll() {
    boolean worked;
    do {
      worked = jdapl.round();
    } while (worked);
  }

  @Test
  void shouldSendAsyncErrorsToTheEvdThatWasGiven() {
    final Evd evd = ia.createEvd(4, EventStream.SOFTWARE, EventStream.ASYNC);
    ia.asyncEvd(evd);
    evd.upcall(this);
    report(evd, Kind.EVD_OVERFLOW);
    turnAll();
    assertThat(seen).containsExactly("EVD_OVERFLOW 1");
    assertThat(ia.asyncEvd()).isSameAs(evd);
  }

  @Test
  void shouldSendThemToItsOwnAgainWhenThatEvdIsClosed() {
    final Evd own = ia.asyncEvd();
    final Evd evd = ia.createEvd(4, EventStream.ASYNC);
    ia.asyncEvd(evd);
    evd.close();
    report(own, Kind.EVD_OVERFLOW);
    own.upcall(this);
    turnAll();
    assertThat(seen).containsExactly("EVD_OVERFLOW 1");
    assertThat(ia.asyncEvd()).isSameAs(own);
  }

  @Test
  void shouldGiveAnErrorToTheEvdOfItsTimeThoughOneOfThatKindWaitsInTheOneBefore() {
    final Evd own = ia.asyncEvd();
    report(own, Kind.EVD_OVERFLOW);
    report(own, Kind.EVD_OVERFLOW);
    final Evd evd = ia.createEvd(4, EventStream.ASYNC);
    ia.asyncEvd(evd);
    report(own, Kind.EVD_OVERFLOW);
    evd.upcall(this);
    turnAll();
    assertThat(seen).containsExactly("EVD_OVERFLOW 1");
    own.upcall(this);
    turnAll();
    assertThat(seen).containsExactly("EVD_OVERFLOW 1", "EVD_OVERFLOW 2");
  }

  @Test
  void shouldCountErrorsOfOneKindAndKeepKindsApart() {
    final Evd evd = ia.asyncEvd();
    report(evd, Kind.EVD_OVERFLOW);
    report(evd, Kind.PROVIDER_INTERNAL_ERROR);
    report(evd, Kind.EVD_OVERFLOW);
    evd.upcall(this);
    turnAll();
    assertThat(seen).containsExactly("EVD_OVERFLOW 2", "PROVIDER_INTERNAL_ERROR 1");
  }

  @Test
  void required_E01_theErrorOfAClosedEvdIsInItsReport() {
    final Evd evd = ia.createEvd(4, EventStream.SOFTWARE);
    report(evd, Kind.EVD_OVERFLOW);
    final CompletableFuture<DrainReport> close =
        evd.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    turnAll();

    assertThat(close.join().events())
        .singleElement()
        .isInstanceOfSatisfying(
            AsyncEvent.class, event -> assertThat(event.kind()).isEqualTo(Kind.EVD_OVERFLOW));
    assertThat(((EvdImpl) ia.asyncEvd()).merger().hasMoreInMemory()).as("it waits").isFalse();
  }

  @Test
  void required_U06_theFrameworksOwnTurnsDoNotLetGoOfOldEvents() {
    final EvdImpl evd = (EvdImpl) ia.createEvd(4, EventStream.SOFTWARE);
    assertThat(evd.postSoftwareEvent("old")).isNotNull();
    evd.upcall(this, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
    evd.control(() -> {});
    turnAll();
    assertThat(seen).isEmpty();
    assertThat(evd.postSoftwareEvent("new")).isNotNull();
    turnAll();
    assertThat(seen).containsExactly("software old", "software new");
  }
}
