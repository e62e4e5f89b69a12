package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jdapl.dat.Dat;
import org.junit.jupiter.api.Test;

/** The table of DAT's functions, against the list of them, the classes, and their Javadoc. */
class FunctionsTest {

  private static final String FUNCTIONS =
      """
      ia_open ia_openv ia_query ia_close ia_ha ia_memtype_hint ia_reserved_lmr
      set_consumer_context get_consumer_context get_handle_type strerror extension_op
      registry_list_providers registry_add_provider registry_remove_provider
      registry_providers_related
      evd_create evd_kcreate evd_query evd_resize evd_free evd_post_se evd_dequeue evd_wait
      evd_enable evd_disable evd_set_unwaitable evd_clear_unwaitable evd_modify_cno
      evd_modify_upcall
      cno_create cno_free cno_query cno_modify_agent cno_wait cno_fd_create cno_trigger
      psp_create psp_create_any psp_query psp_free rsp_create rsp_query rsp_free
      csp_create csp_query csp_free cr_query cr_accept cr_reject cr_handoff
      ep_create ep_create_with_srq ep_query ep_modify ep_connect ep_common_connect ep_dup_connect
      ep_disconnect ep_get_status ep_reset ep_free ep_recv_query ep_set_watermark
      ep_post_send ep_post_send_with_invalidate ep_post_recv ep_post_rdma_write ep_post_rdma_read
      ep_post_rdma_read_to_rmr
      srq_create srq_post_recv srq_query srq_set_lw srq_resize srq_free
      pz_create pz_query pz_free
      lmr_create lmr_query lmr_free lmr_sync_rdma_read lmr_sync_rdma_write
      lmr_kcreate lmr_allocate lmr_fmr lmr_invalidate
      rmr_create rmr_create_for_ep rmr_query rmr_bind rmr_free
      ib_post_fetch_and_add ib_post_cmp_and_swap ib_post_rdma_write_immed
      ib_post_send_ud ib_post_recv_ud
      ib_query_counters ib_print_counters ib_start_counters ib_stop_counters
      ib_collective_create_member ib_collective_free_member
      ib_collective_create_group ib_collective_free_group
      ib_collective_set_clock ib_collective_read_clock
      ib_collective_scatter ib_collective_scatterv ib_collective_gather ib_collective_gatherv
      ib_collective_allgather ib_collective_allgatherv
      ib_collective_alltoall ib_collective_alltoallv
      ib_collective_reduce ib_collective_allreduce ib_collective_reduce_scatter
      ib_collective_scan ib_collective_broadcast ib_collective_barrier
      iw_ssp_create iw_ssp_query iw_ssp_free iw_socket_connect
      """;

  private static final Path DOCUMENT = Path.of("../dat-api/docs/functions.md");
  private static final Path SOURCES = Path.of("../dat-api/src/main/java/org/jdapl/dat");
  private static final Set<String> STATUSES = Set.of("yes", "device", "other", "no");
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final Pattern FUNCTION = Pattern.compile("\\bdat_[a-z_]+\\b");

  /** A comment, and the name of the method after it and its annotations. */
  private static final Pattern DOCUMENTED =
      Pattern.compile("/\\*\\*((?:[^*]++|\\*(?!/))*+)\\*/\\s*(?:@\\w+\\s+)*[^;{}(]*?\\b(\\w+)\\(");

  private record Row(List<String> functions, Set<String> methods, List<String> statuses) {}

  @Test
  void shouldHaveEachFunctionOfDatOnce() throws IOException {
    assertThat(rows().stream().flatMap(row -> row.functions.stream()))
        .containsExactlyInAnyOrder(
            Stream.of(FUNCTIONS.split("\\s+")).map(name -> "dat_" + name).toArray(String[]::new));
  }

  @Test
  void shouldNameMethodsThatExist() throws Exception {
    final Set<String> missing = new TreeSet<>();
    for (final Row row : rows()) {
      for (final String method : row.methods) {
        final String[] names = method.split("\\.", -1);
        final Class<?> type = Class.forName(Dat.class.getPackageName() + "." + names[0]);
        if (Stream.of(type.getDeclaredMethods()).noneMatch(m -> isPublic(m, names[1]))) {
          missing.add(method);
        }
      }
    }
    assertThat(missing).as("in %s, and not in dat-api", DOCUMENT).isEmpty();
  }

  private static boolean isPublic(final Method method, final String name) {
    return method.getName().equals(name) && Modifier.isPublic(method.getModifiers());
  }

  @Test
  void shouldSayWhatWorksAndNameAMethodThen() throws IOException {
    for (final Row row : rows()) {
      assertThat(STATUSES).as("the statuses of %s", row).containsAll(row.statuses);
      final boolean works = row.statuses.contains("yes") || row.statuses.contains("device");
      assertThat(row.methods.isEmpty())
          .as("%s: a method if and only if it works", row)
          .isNotEqualTo(works);
    }
  }

  /** What there is no method for, and why: the table may not grow holes. */
  @Test
  void shouldLeaveOutWhatIsAgreedOnly() throws IOException {
    assertThat(without("no"))
        .allMatch(
            name ->
                name.matches(
                    "dat_(ia_(ha|memtype_hint|reserved_lmr)|lmr_(kcreate|allocate|fmr|invalidate)"
                        + "|ib_(post_(send|recv)_ud|collective_[a-z_]+)|iw_[a-z_]+)"));
    assertThat(without("other"))
        .containsExactlyInAnyOrder(
            "dat_registry_add_provider",
            "dat_registry_remove_provider",
            "dat_evd_enable",
            "dat_evd_disable",
            "dat_cno_modify_agent",
            "dat_cno_fd_create",
            "dat_cno_trigger",
            "dat_lmr_sync_rdma_read",
            "dat_lmr_sync_rdma_write",
            "dat_ib_start_counters",
            "dat_ib_stop_counters");
  }

  private static List<String> without(final String status) throws IOException {
    return rows().stream()
        .filter(row -> row.statuses.contains(status))
        .flatMap(row -> row.functions.stream())
        .toList();
  }

  @Test
  void shouldSayTheSameAsTheJavadoc() throws IOException {
    final Set<String> table = new TreeSet<>();
    for (final Row row : rows()) {
      for (final String method : row.methods) {
        row.functions.forEach(function -> table.add(method + " stands for " + function));
      }
    }
    assertThat(javadoc())
        .as("what the Javadoc in %s says, and %s", SOURCES, DOCUMENT)
        .containsExactlyInAnyOrderElementsOf(table);
  }

  /** What the Javadoc of each method says; of overloads, all together. */
  private static Set<String> javadoc() throws IOException {
    final Set<String> said = new TreeSet<>();
    try (Stream<Path> files = Files.list(SOURCES)) {
      for (final Path file : files.toList()) {
        final String type = file.getFileName().toString().replace(".java", "");
        final Matcher documented = DOCUMENTED.matcher(Files.readString(file));
        while (documented.find()) {
          final String method = type + "." + documented.group(2);
          FUNCTION
              .matcher(documented.group(1))
              .results()
              .forEach(function -> said.add(method + " stands for " + function.group()));
        }
      }
    }
    return said;
  }

  private static List<Row> rows() throws IOException {
    final List<Row> rows = new ArrayList<>();
    for (final String line : Files.readAllLines(DOCUMENT)) {
      if (line.startsWith("| `dat_")) {
        final String[] cells = line.split("\\s*\\|\\s*", -1);
        assertThat(cells).as("the cells of: %s", line).hasSize(7);
        rows.add(
            new Row(codes(cells[1]), new TreeSet<>(codes(cells[2])), List.of(cells[3], cells[4])));
      }
    }
    return rows;
  }

  private static List<String> codes(final String cell) {
    return CODE.matcher(cell).results().map(code -> code.group(1)).toList();
  }
}
