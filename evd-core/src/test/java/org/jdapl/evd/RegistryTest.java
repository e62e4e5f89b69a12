package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.jdapl.dat.Dat;
import org.jdapl.dat.DatException;
import org.jdapl.dat.HaRelationship;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.ProviderInfo;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.VerbsProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RegistryTest {

  private static final ProviderInfo SIM = new ProviderInfo("sim", 2, 0, true, true);

  /** A provider as somebody would write it. Its devices have the names that they are opened by. */
  private static final String MINI =
      """
      import java.net.InetAddress;
      import java.nio.ByteBuffer;
      import java.util.Set;
      import org.jdapl.verbs.*;

      public final class Mini implements VerbsProvider {
        public String name() {
          return "mini";
        }

        public Device open(String parameters, EventChannel channel) {
          if (parameters.startsWith("no")) {
            throw new VerbsException("open_device", parameters, VerbsException.ENODEV, "not there");
          }
          return new Device() {
            public String name() {
              return parameters;
            }

            public Declaration declaration() {
              return Declaration.weakest();
            }

            public DeviceLimits limits() {
              return new DeviceLimits.Builder()
                  .maxQp(1)
                  .maxQpWr(9)
                  .maxSge(1)
                  .maxCq(1)
                  .maxCqe(9)
                  .maxMr(1)
                  .maxPd(1)
                  .maxSrq(1)
                  .maxSrqWr(9)
                  .maxSrqSge(1)
                  .maxMessageBytes(9)
                  .maxReadsIn(1)
                  .maxReadsOut(1)
                  .connectPrivateData(56)
                  .acceptPrivateData(196)
                  .rejectPrivateData(148)
                  .build();
            }

            public InetAddress address() {
              return InetAddress.getLoopbackAddress();
            }

            public void onAsync(AsyncHandler handler) {}

            public ProtectionDomain allocPd() {
              return () -> {};
            }

            public MemoryRegion regMr(ProtectionDomain pd, ByteBuffer buffer, Set<Access> access) {
              throw VerbsException.unsupported("reg_mr", name());
            }

            public CompletionQueue createCq(int entries, CqHandler handler) {
              throw VerbsException.unsupported("create_cq", name());
            }

            public QueuePair createQp(QpAttributes attributes) {
              throw VerbsException.unsupported("create_qp", name());
            }

            public CmListener listen(long service, int backlog, CmListenHandler handler) {
              throw VerbsException.unsupported("listen", name());
            }

            public CmId connect(
                QueuePair qp, InetAddress to, long service, CmParameters data, CmHandler handler) {
              throw VerbsException.unsupported("connect", name());
            }

            public void close() {}
          };
        }
      }
      """;

  @TempDir static Path mini;

  /** What a jar of its own would have. */
  @BeforeAll
  static void compileMini() throws Exception {
    final Path source = Files.writeString(mini.resolve("Mini.java"), MINI);
    final URI spi = VerbsProvider.class.getProtectionDomain().getCodeSource().getLocation().toURI();
    final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    final int result =
        compiler.run(
            null,
            System.out,
            System.err,
            "-proc:none",
            "-cp",
            Path.of(spi).toString(),
            "-d",
            mini.toString(),
            source.toString());
    assertThat(result).isZero();
    final Path services = Files.createDirectories(mini.resolve("META-INF/services"));
    Files.writeString(services.resolve(VerbsProvider.class.getName()), "Mini\n");
  }

  private static <T> T withMini(final Supplier<T> action) throws IOException {
    return with(action, mini);
  }

  private static <T> T with(final Supplier<T> action, final Path... jars) throws IOException {
    final Thread thread = Thread.currentThread();
    final ClassLoader before = thread.getContextClassLoader();
    final URL[] urls = new URL[jars.length];
    for (int i = 0; i < jars.length; i++) {
      urls[i] = jars[i].toUri().toURL();
    }
    try (URLClassLoader loader = new URLClassLoader(urls, before)) {
      thread.setContextClassLoader(loader);
      return action.get();
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  @Test
  void required_P01_aProviderThatCannotBeLoadedKeepsNobodyFromTheOthers(@TempDir final Path broken)
      throws IOException {
    final Path services = Files.createDirectories(broken.resolve("META-INF/services"));
    Files.writeString(services.resolve(VerbsProvider.class.getName()), "Absent\n");

    assertThat(with(() -> registry().providers(), broken, mini))
        .extracting(ProviderInfo::name)
        .contains("mini", "sim");
    assertThat(with(() -> Jdapl.with("mini"), broken, mini)).isNotNull();
  }

  private static Registry registry(final String... lines) {
    return new Registry(DatConf.parse("dat.conf", String.join("\n", lines)));
  }

  /** A line of dat.conf. */
  private static String line(final String beginning, final String provider, final String params) {
    return beginning + " " + provider + " id.1.0 \"" + params + "\" \"\"";
  }

  private static String line(final String name, final String params) {
    return line(name + " u2.0 threadsafe default", "mini", params);
  }

  /** The name of the device that is opened. */
  private static String device(final Registry registry, final String name) throws IOException {
    return withMini(
        () -> {
          try (InterfaceAdapter ia = registry.open(name)) {
            return ia.name();
          }
        });
  }

  private static DatException refused(final Supplier<?> action) {
    return catchThrowableOfType(DatException.class, action::get);
  }

  @Test
  void required_S01_simIsThereWithoutAFileAndADefault(@TempDir final Path folder) {
    final Registry registry = Registry.configured(null, folder.resolve("dat.conf"));

    assertThat(registry.providers()).contains(SIM);
    assertThat(registry.problems()).isEmpty();
    try (InterfaceAdapter ia = registry.open("sim")) {
      assertThat(ia.name()).startsWith("sim");
    }
  }

  @Test
  void required_S01_simStaysThereWhateverIsWrongInAFile(@TempDir final Path folder)
      throws IOException {
    final Path file = Files.writeString(folder.resolve("dat.conf"), "sim u2.0 who knows\n\"");
    final Registry registry = Registry.configured(file.toString(), folder);

    assertThat(registry.problems()).hasSize(2);
    assertThat(registry.providers()).contains(SIM);
    registry.open("sim").close();
  }

  @Test
  void required_P01_aProviderIsOneJarAndTheFileNamesItAndWhatItOpens() throws IOException {
    final Registry registry = registry(line("ib0", "port 1"));

    assertThat(withMini(registry::providers))
        .containsExactly(
            new ProviderInfo("ib0", 2, 0, true, true),
            new ProviderInfo("mini", 2, 0, true, true),
            SIM);
    assertThat(device(registry, "ib0")).isEqualTo("port 1");
    assertThat(device(registry, "mini")).isEmpty();
  }

  @Test
  void required_P01_whatAProviderLeavesOutIsNotSupported() throws IOException {
    final Registry registry = registry(line("ib0", "one"));
    final DatException refused =
        withMini(
            () -> {
              try (InterfaceAdapter ia = registry.open("ib0");
                  var pz = ia.createPz()) {
                return refused(() -> ia.createSrq(pz, 1, 1));
              }
            });

    assertThat(refused.type()).isEqualTo(ReturnType.MODEL_NOT_SUPPORTED);
    assertThat(refused).hasMessageContainingAll("create_srq", "one");
  }

  @ParameterizedTest
  @CsvSource({
    "ib1, 2, 0, true, NAME_NOT_REGISTERED",
    "ib0, 1, 0, true, MAJOR_NOT_FOUND",
    "ib0, 4, 0, true, MAJOR_NOT_FOUND",
    "ib0, 2, 6, true, MINOR_NOT_FOUND",
    "ib0, 3, 1, false, MINOR_NOT_FOUND",
    "ib0, 3, 0, true, THREAD_SAFETY_NOT_FOUND",
    "ib0, 2, 0, false, THREAD_SAFETY_NOT_FOUND"
  })
  void required_P01_whatIsNotThereIsToldByItsSubtype(
      final String name,
      final int major,
      final int minor,
      final boolean threadSafe,
      final ReturnSubtype subtype) {
    final Registry registry =
        registry(
            line("ib0 u2.5 threadsafe default", "mini", "a"),
            line("ib0 u3.0 nonthreadsafe default", "mini", "b"));
    final DatException refused = refused(() -> registry.open(name, major, minor, threadSafe));

    assertThat(refused.type()).isEqualTo(ReturnType.PROVIDER_NOT_FOUND);
    assertThat(refused.subtype()).isEqualTo(subtype);
    assertThat(refused)
        .hasMessageContaining(
            name.equals("ib0")
                ? "[ib0 u2.5 threadsafe default (dat.conf:1), ib0 u3.0 nonthreadsafe default"
                : "'ib1'; there are [ib0, sim]");
  }

  @ParameterizedTest
  @CsvSource({"2, 0, b", "2, 4, b", "2, 5, b", "2, 6, c", "2, 7, c", "1, 0, a"})
  void required_P01_aHigherMinorThanAskedForIsTakenAndNoLowerOne(
      final int major, final int minor, final String device) throws IOException {
    final Registry registry =
        registry(
            line("ib0 u1.9 threadsafe default", "mini", "a"),
            line("ib0 k2.5 threadsafe default", "mini", "b"),
            line("ib0 u2.7 threadsafe default", "mini", "c"));

    assertThat(
            withMini(
                () -> {
                  try (InterfaceAdapter ia = registry.open("ib0", major, minor, true)) {
                    return ia.name();
                  }
                }))
        .isEqualTo(device);
  }

  @Test
  void required_P01_linesOfOneNameAreTriedInTheirOrderUntilOneOpens() throws IOException {
    final Registry registry =
        registry(
            line("ib0 u2.0 threadsafe default", "absent", "one"),
            line("ib0", "none"),
            line("ib1", "other"),
            line("ib0", "second"),
            line("ib0", "third"));

    assertThat(device(registry, "ib0")).isEqualTo("second");
    assertThat(withMini(registry::providers))
        .filteredOn(info -> info.name().equals("ib0"))
        .hasSize(4);
  }

  @Test
  void required_P01_ifNoneOpensTheErrorHasThemAll() throws IOException {
    final Registry registry =
        registry(
            line("ib0 u2.0 threadsafe default", "absent", "one"),
            line("ib0", "none"),
            line("ib0", "nowhere"));
    final DatException refused = withMini(() -> refused(() -> registry.open("ib0")));

    assertThat(refused.type()).isEqualTo(ReturnType.INTERNAL_ERROR);
    assertThat(refused)
        .hasMessageContainingAll("'ib0'", "3 times", "dat.conf:1", "dat.conf:2", "dat.conf:3");
    assertThat(refused.getSuppressed())
        .satisfiesExactly(
            absent ->
                assertThat(absent)
                    .hasMessageContainingAll("dat.conf:1", "'absent'", "there are [mini, sim]"),
            none ->
                assertThat(none)
                    .hasMessageContainingAll("dat.conf:2", "none", "not there")
                    .hasCauseInstanceOf(VerbsException.class),
            nowhere -> assertThat(nowhere).hasMessageContainingAll("dat.conf:3", "nowhere"));
  }

  @Test
  void shouldSayThatAProviderIsMissingWhereItIsAskedFor() {
    final Registry registry = registry(line("ib0 u2.0 threadsafe default", "absent", ""));
    final DatException refused = refused(() -> registry.open("ib0"));

    assertThat(registry.problems()).isEmpty();
    assertThat(refused.type()).isEqualTo(ReturnType.PROVIDER_NOT_FOUND);
    assertThat(refused.subtype()).isEqualTo(ReturnSubtype.NAME_NOT_REGISTERED);
    assertThat(refused)
        .hasMessageContainingAll("ib0 u2.0 threadsafe default (dat.conf:1)", "'absent'", "[sim]");
  }

  @Test
  void shouldKeepTheCauseWhereOneLineCannotBeOpened() throws IOException {
    final Registry registry = registry(line("ib0", "nowhere"));
    final DatException refused = withMini(() -> refused(() -> registry.open("ib0")));

    assertThat(refused.type()).isEqualTo(ReturnType.INTERNAL_ERROR);
    assertThat(refused).hasMessageContainingAll("dat.conf:1", "'mini'", "not there");
    assertThat(refused).hasCauseInstanceOf(VerbsException.class);
  }

  @Test
  void shouldOpenByNameAloneWhatIsADefaultAndByVersionWhatIsNot() throws IOException {
    final Registry registry =
        registry(
            line("ib0 u2.0 threadsafe nondefault", "mini", "spare"),
            line("ib0", "usual"),
            line("ib1 u2.0 threadsafe nondefault", "mini", "hidden"));

    assertThat(device(registry, "ib0")).isEqualTo("usual");
    assertThat(
            withMini(
                () -> {
                  try (InterfaceAdapter ia = registry.open("ib0", 2, 0, true)) {
                    return ia.name();
                  }
                }))
        .isEqualTo("spare");
    assertThat(refused(() -> registry.open("ib1")))
        .hasMessageContaining(
            "not registered as default, but as [ib1 u2.0 threadsafe nondefault (dat.conf:3)]");
  }

  @Test
  void shouldTakeANameOfTheFileBeforeTheProvidersOwn() {
    final Registry registry = registry(line("sim u2.0 threadsafe default", "sim", "arm=wrong"));

    assertThat(registry.providers()).containsExactly(SIM);
    assertThat(refused(() -> registry.open("sim")))
        .hasMessageContainingAll("dat.conf:1", "arm=wrong");
  }

  @Test
  void shouldTellOfTheLineThatWasToRegisterAName() {
    final Registry registry =
        registry(
            "ib0 u2.0 threadsave default mini mini.1.0 \"\" \"\"",
            "ib0 u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 \"ib0 0\" \"\"",
            "ib1 u2.0");
    final DatException refused = refused(() -> registry.open("ib0"));

    assertThat(refused.subtype()).isEqualTo(ReturnSubtype.NAME_NOT_REGISTERED);
    assertThat(refused)
        .hasMessageContainingAll(
            "dat.conf:1: field 3 (thread_safety) is 'threadsave'",
            "dat.conf:2 is for the C library 'libdaplofa.so.2'")
        .hasMessageNotContaining("ib1");
    assertThat(
            refused(
                () ->
                    registry("ib0 u2.0", line("ib0 u1.2 threadsafe default", "sim", ""))
                        .open("ib0")))
        .hasMessageContainingAll("MAJOR_NOT_FOUND", "ib0 u1.2", "dat.conf:1: field 3");
    assertThat(registry.problems()).hasSize(3);
  }

  @ParameterizedTest
  @CsvSource({
    "a, a, TRUE",
    "a, same, TRUE",
    "a, other, UNKNOWN",
    "a, sim, FALSE",
    "sim, a, FALSE",
    "a, both, CONFLICTING",
    "both, sim, CONFLICTING"
  })
  void shouldTellWhetherNamesStandForTheSameDevice(
      final String name, final String other, final HaRelationship relation) {
    final Registry registry =
        registry(
            line("a", "one"),
            line("same", "one"),
            line("other", "two"),
            line("both", "one"),
            line("both u2.0 threadsafe default", "sim", ""));

    assertThat(registry.related(name, other)).isEqualTo(relation);
  }

  @Test
  void shouldRelateRegisteredNamesOnly() {
    assertThat(refused(() -> registry().related("sim", "ib0")).subtype())
        .isEqualTo(ReturnSubtype.NAME_NOT_REGISTERED);
  }

  @Test
  void shouldRefuseAnOverrideThatCannotBeReadAndNameIt(@TempDir final Path folder) {
    for (final String path :
        List.of(folder.resolve("absent").toString(), folder.toString(), "", "\0")) {
      final DatException refused = refused(() -> Registry.configured(path, folder));

      assertThat(refused.type()).isEqualTo(ReturnType.INTERNAL_ERROR);
      assertThat(refused).hasMessageContaining("DAT_OVERRIDE is '" + path + "'");
    }
  }

  @Test
  void shouldDoWithoutASystemFileThatCannotBeRead(@TempDir final Path folder) {
    final Registry registry = Registry.configured(null, folder);

    assertThat(registry.problems()).hasSize(1);
    assertThat(registry.problems().get(0)).startsWith(folder + " cannot be read");
    registry.open("sim").close();
  }

  @Test
  void shouldReadTheSystemFileUnlessAnotherOneIsNamed(@TempDir final Path folder)
      throws IOException {
    final Path system = Files.writeString(folder.resolve("system"), line("a-system", ""));
    final Path other = Files.writeString(folder.resolve("other"), line("an-other", ""));

    assertThat(Registry.configured(null, system).providers())
        .first()
        .asString()
        .startsWith("a-system");
    assertThat(Registry.configured(other.toString(), system).providers())
        .first()
        .asString()
        .startsWith("an-other");
  }

  // What the environment does, and what is logged, in a JVM of its own.

  /** A consumer. */
  static final class Consumer {

    private Consumer() {}

    /** Opens twice what its argument names. */
    public static void main(final String[] names) {
      for (int i = 0; i < 2; i++) {
        try (InterfaceAdapter ia = Dat.open(names[0])) {
          System.out.println("opened " + ia.name() + ": " + Dat.openObjects());
        } catch (final DatException e) {
          System.out.println(e.getMessage());
        }
      }
    }
  }

  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void shouldReadTheFileOfTheEnvironmentAndLogWhatIsWrongOnce(@TempDir final Path folder)
      throws IOException {
    final Path file =
        Files.write(
            folder.resolve("dat.conf"),
            List.of(
                line("disk u2.0 threadsafe default", "sim", "arm=weak"),
                "ib0 u2.0",
                line("ofa u2.0 nonthreadsafe default", "libdaplofa.so.2", "ib0 0")));

    assertThat(run(file, "disk"))
        .containsOnlyOnce("WARN org.jdapl.evd.Registry - " + file + ":2: field 3 (thread_safety)")
        .containsOnlyOnce("WARN")
        .doesNotContain("libdaplofa")
        .contains("opened sim0", "opened sim1")
        .contains("sim0 created at " + Consumer.class.getName() + ".main(");
    assertThat(run(folder.resolve("absent"), "sim").split("DAT_OVERRIDE is ", -1)).hasSize(3);
  }

  private static String run(final Path override, final String name) throws IOException {
    return OwnJvm.run(Consumer.class, List.of(), Map.of("DAT_OVERRIDE", override.toString()), name);
  }
}
