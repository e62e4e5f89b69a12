package org.jdapl.verbs.tck;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.VerbsProvider;

/** Where a test runs: a provider, two devices of it that reach each other, and how long to wait. */
public final class TckBed {

  private static final Duration AWAIT = Duration.ofSeconds(10);
  private static final Duration SILENCE = Duration.ofMillis(50);
  private static final Duration TEST = Duration.ofSeconds(60);

  final VerbsProvider provider;
  final String first;
  final String second;
  final Duration await;
  final Duration silence;
  final Duration test;
  final Supplier<String> replay;
  final Runnable end;
  final Map<String, String> without;

  private TckBed(
      final VerbsProvider provider,
      final String first,
      final String second,
      final Duration await,
      final Duration silence,
      final Duration test,
      final Supplier<String> replay,
      final Runnable end,
      final Map<String, String> without) {
    this.provider = provider;
    this.first = first;
    this.second = second;
    this.await = await;
    this.silence = silence;
    this.test = test;
    this.replay = replay;
    this.end = end;
    this.without = without;
  }

  /**
   * A bed on the default device of a provider, opened twice.
   *
   * @param provider what is tested.
   * @return the bed; it awaits for 10 s, asserts silence for 50 ms, and gives a test 60 s.
   */
  public static TckBed of(final VerbsProvider provider) {
    return new TckBed(provider, "", "", AWAIT, SILENCE, TEST, () -> "", () -> {}, Map.of());
  }

  /**
   * On other devices.
   *
   * @param firstDevice the parameters of {@link VerbsProvider#open} for the device that connects.
   * @param secondDevice those for the device that listens; peers reach it at {@link
   *     Device#address}.
   * @return the new bed.
   */
  public TckBed withDevices(final String firstDevice, final String secondDevice) {
    return new TckBed(
        provider, firstDevice, secondDevice, await, silence, test, replay, end, without);
  }

  /**
   * With other time-outs.
   *
   * @param longest how long to wait for what must come; a wait ends as soon as it came. On virtual
   *     time it is virtual.
   * @param quiet how long to look that nothing comes; it always takes so long. A mistake that needs
   *     more time to show is not found. On virtual time it is virtual.
   * @param whole after how much real time a test is given up, and fails; what it is stuck in stays
   *     behind.
   * @return the new bed.
   */
  public TckBed withTimes(final Duration longest, final Duration quiet, final Duration whole) {
    return new TckBed(provider, first, second, longest, quiet, whole, replay, end, without);
  }

  /**
   * With words that say how to get a failed run again.
   *
   * @param how asked when a test fails; a seed, say.
   * @return the new bed.
   */
  public TckBed withReplay(final Supplier<String> how) {
    return new TckBed(provider, first, second, await, silence, test, how, end, without);
  }

  /**
   * With something to do after the test, when its devices are closed.
   *
   * @param action the end; what it throws fails the test.
   * @return the new bed.
   */
  public TckBed withEnd(final Runnable action) {
    return new TckBed(provider, first, second, await, silence, test, replay, action, without);
  }

  /**
   * Without a test that this bed, not the provider, cannot serve: a device in a lab, say.
   *
   * @param test the name of the test method.
   * @param reason told when it is skipped.
   * @return the new bed.
   */
  public TckBed without(final String test, final String reason) {
    final Map<String, String> more = new HashMap<>(without);
    more.put(test, reason);
    return new TckBed(provider, first, second, await, silence, this.test, replay, end, more);
  }
}
