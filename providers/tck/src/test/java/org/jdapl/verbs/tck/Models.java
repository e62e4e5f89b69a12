package org.jdapl.verbs.tck;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jdapl.sim.SimModel;

/** The ways a simulated device may behave: a sample in which each two settings meet, or more. */
final class Models {

  /** What may be combined; the first five make all of -Djdapl.models=all. */
  private static final List<List<String>> SETTINGS =
      List.of(
          List.of("arm=weak", "arm=strong", "arm=unknown"),
          List.of("hint=none", "hint=exact", "hint=maybe", "hint=without-arm"),
          List.of(
              "second-arm=ignored",
              "second-arm=counted",
              "second-arm=overwrites",
              "second-arm=unknown"),
          List.of("", "concurrency=concurrent", "inside-verbs=yes", "delivery=channel"),
          List.of("native-rearm=yes", "native-rearm=no"),
          List.of("solicited=full", "solicited=no-errors", "solicited=unsupported"),
          List.of("last-wqe=reported", "last-wqe=never", "last-wqe=unknown"),
          List.of("sweep=yes reuse=no", "sweep=no reuse=yes", "sweep=yes reuse=yes"));

  private static final int ALWAYS = 5;

  private Models() {}

  /** Those to be tested, that have the text of -Djdapl.case. */
  static Stream<SimModel> wanted() {
    final List<int[]> chosen =
        "all".equals(System.getProperty("jdapl.models")) ? allOfArming() : pairs();
    return chosen.stream()
        .map(Models::model)
        .filter(model -> model.toString().contains(System.getProperty("jdapl.case", "")));
  }

  private static SimModel model(final int[] choice) {
    final StringBuilder text = new StringBuilder();
    for (int i = 0; i < choice.length; i++) {
      text.append(SETTINGS.get(i).get(choice[i])).append(' ');
    }
    return SimModel.parse(text.toString());
  }

  /** Each arm, hint, second arm, delivery and form; of the other settings one each in turn. */
  private static List<int[]> allOfArming() {
    List<int[]> all = List.of(new int[SETTINGS.size()]);
    for (int i = 0; i < ALWAYS; i++) {
      final List<int[]> longer = new ArrayList<>();
      for (final int[] choice : all) {
        for (int value = 0; value < SETTINGS.get(i).size(); value++) {
          final int[] with = choice.clone();
          with[i] = value;
          longer.add(with);
        }
      }
      all = longer;
    }
    for (int turn = 0; turn < all.size(); turn++) {
      for (int i = ALWAYS; i < SETTINGS.size(); i++) {
        all.get(turn)[i] = turn / (i - ALWAYS + 1) % SETTINGS.get(i).size();
      }
    }
    return all;
  }

  /** As few as a greedy choice finds so that each two settings meet in one. */
  private static List<int[]> pairs() {
    final Set<String> open = new HashSet<>();
    for (final int[] choice : everyPair()) {
      open.add(pair(choice[0], choice[1], choice[2], choice[3]));
    }
    final List<int[]> chosen = new ArrayList<>();
    while (!open.isEmpty()) {
      final int[] choice = new int[SETTINGS.size()];
      for (int i = 0; i < choice.length; i++) {
        choice[i] = best(choice, i, open, chosen.size());
      }
      final int before = open.size();
      for (int i = 0; i < choice.length; i++) {
        for (int j = 0; j < i; j++) {
          open.remove(pair(j, choice[j], i, choice[i]));
        }
      }
      if (open.size() == before) { // the greedy choice met nothing new: take one that is open
        for (final int[] pair : everyPair()) {
          if (open.remove(pair(pair[0], pair[1], pair[2], pair[3]))) {
            choice[pair[0]] = pair[1];
            choice[pair[2]] = pair[3];
            break;
          }
        }
      }
      chosen.add(choice);
    }
    return chosen;
  }

  private static int best(
      final int[] choice, final int at, final Set<String> open, final int turn) {
    final int values = SETTINGS.get(at).size();
    int best = 0;
    int most = -1;
    for (int k = 0; k < values; k++) {
      final int value = (k + turn) % values;
      int met = 0;
      for (int j = 0; j < at; j++) {
        met += open.contains(pair(j, choice[j], at, value)) ? 1 : 0;
      }
      if (met > most) {
        most = met;
        best = value;
      }
    }
    return best;
  }

  private static List<int[]> everyPair() {
    final List<int[]> pairs = new ArrayList<>();
    for (int j = 0; j < SETTINGS.size(); j++) {
      for (int i = j + 1; i < SETTINGS.size(); i++) {
        for (int a = 0; a < SETTINGS.get(j).size(); a++) {
          for (int b = 0; b < SETTINGS.get(i).size(); b++) {
            pairs.add(new int[] {j, a, i, b});
          }
        }
      }
    }
    return pairs;
  }

  private static String pair(final int j, final int a, final int i, final int b) {
    return j + "=" + a + "," + i + "=" + b;
  }
}
