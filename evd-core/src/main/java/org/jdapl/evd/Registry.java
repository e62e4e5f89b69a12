package org.jdapl.evd;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jdapl.dat.Dat;
import org.jdapl.dat.DatException;
import org.jdapl.dat.HaRelationship;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.ProviderInfo;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.slf4j.Logger;

/** Names of interface adapters: those of a file, and behind them each provider's own. */
final class Registry {

  private static final Logger LOG = Log.of(Registry.class);
  private static final String OVERRIDE = "DAT_OVERRIDE";
  private static final Path SYSTEM_FILE = Path.of("/etc/dat.conf");

  private final DatConf file;

  Registry(final DatConf file) {
    this.file = file;
    for (final DatConf.Unused line : file.unused()) {
      if (line.isMistake()) {
        LOG.warn("{}", line.reason());
      } else {
        LOG.debug("{}", line.reason());
      }
    }
  }

  /** That of this process. */
  static Registry configured() {
    return configured(System.getenv(OVERRIDE), SYSTEM_FILE);
  }

  /**
   * Reads the file.
   *
   * @param override the file to read; null for none.
   * @param systemFile the file that is read, if it exists, where there is no other.
   */
  static Registry configured(final String override, final Path systemFile) {
    if (override == null) {
      return new Registry(Files.exists(systemFile) ? readIfPossible(systemFile) : DatConf.EMPTY);
    }
    try {
      return new Registry(DatConf.read(Path.of(override)));
    } catch (final IOException | InvalidPathException e) {
      throw new DatException(
          ReturnType.INTERNAL_ERROR,
          ReturnSubtype.NO_SUBTYPE,
          "the environment variable "
              + OVERRIDE
              + " is '"
              + override
              + "', which cannot be read; it takes the path of a dat.conf, or is to be unset: "
              + e,
          e);
    }
  }

  /** Nobody asked for this file, so it must not keep anybody from what needs none. */
  private static DatConf readIfPossible(final Path file) {
    try {
      return DatConf.read(file);
    } catch (final IOException e) {
      final String reason = file + " cannot be read, and registers nothing: " + e;
      return new DatConf(List.of(), List.of(new DatConf.Unused("", true, reason)));
    }
  }

  List<ProviderInfo> providers() {
    return entries().stream()
        .map(DatConf.Entry::info)
        .sorted(Comparator.comparing(ProviderInfo::name))
        .toList();
  }

  List<String> problems() {
    return file.unused().stream().map(DatConf.Unused::reason).toList();
  }

  InterfaceAdapter open(final String name) {
    return openFirst(name, find(name));
  }

  InterfaceAdapter open(
      final String name, final int major, final int minor, final boolean threadSafe) {
    return openFirst(name, find(keepNamed(name), name, major, minor, threadSafe));
  }

  HaRelationship related(final String name, final String other) {
    boolean same = false;
    boolean different = false;
    boolean unknown = false;
    for (final DatConf.Entry one : find(name)) {
      for (final DatConf.Entry another : find(other)) {
        if (!one.provider().equals(another.provider())) {
          different = true;
        } else if (one.parameters().equals(another.parameters())) {
          same = true;
        } else {
          unknown = true;
        }
      }
    }
    if (same && different) {
      return HaRelationship.CONFLICTING;
    }
    if (unknown) {
      return HaRelationship.UNKNOWN;
    }
    return same ? HaRelationship.TRUE : HaRelationship.FALSE;
  }

  /** Those of the file in its order, then the providers that it does not name. */
  private List<DatConf.Entry> entries() {
    final List<DatConf.Entry> entries = new ArrayList<>(file.entries());
    for (final String provider : Jdapl.providers()) {
      if (file.entries().stream().noneMatch(entry -> entry.info().name().equals(provider))) {
        entries.add(
            new DatConf.Entry(
                new ProviderInfo(provider, Dat.VERSION_MAJOR, Dat.VERSION_MINOR, true, true),
                provider,
                "",
                "built in"));
      }
    }
    return entries;
  }

  /** What a consumer gets who asks for nothing but a name. */
  private List<DatConf.Entry> find(final String name) {
    final List<DatConf.Entry> named = keepNamed(name);
    final List<DatConf.Entry> defaults = keep(named, ProviderInfo::isDefault);
    if (defaults.isEmpty()) {
      throw notFound(ReturnSubtype.NAME_NOT_REGISTERED, name, "default", named);
    }
    return find(defaults, name, Dat.VERSION_MAJOR, Dat.VERSION_MINOR, true);
  }

  private List<DatConf.Entry> find(
      final List<DatConf.Entry> named,
      final String name,
      final int major,
      final int minor,
      final boolean threadSafe) {
    final List<DatConf.Entry> ofMajor = keep(named, info -> info.major() == major);
    if (ofMajor.isEmpty()) {
      throw notFound(ReturnSubtype.MAJOR_NOT_FOUND, name, "version " + major, named);
    }
    final List<DatConf.Entry> ofVersion = keep(ofMajor, info -> info.minor() >= minor);
    if (ofVersion.isEmpty()) {
      final String version = "version " + major + "." + minor + " or a higher minor";
      throw notFound(ReturnSubtype.MINOR_NOT_FOUND, name, version, named);
    }
    final List<DatConf.Entry> found = keep(ofVersion, info -> info.threadSafe() == threadSafe);
    if (found.isEmpty()) {
      final String safety = threadSafe ? "threadsafe" : "nonthreadsafe";
      throw notFound(ReturnSubtype.THREAD_SAFETY_NOT_FOUND, name, safety, named);
    }
    return found;
  }

  private List<DatConf.Entry> keepNamed(final String name) {
    final List<DatConf.Entry> named = keep(entries(), info -> info.name().equals(name));
    if (named.isEmpty()) {
      final Set<String> names = new TreeSet<>();
      providers().forEach(info -> names.add(info.name()));
      throw notFound(
          ReturnSubtype.NAME_NOT_REGISTERED,
          name,
          "no interface adapter is named '" + name + "'; there are " + names);
    }
    return named;
  }

  private static List<DatConf.Entry> keep(
      final List<DatConf.Entry> entries, final Predicate<ProviderInfo> condition) {
    return entries.stream().filter(entry -> condition.test(entry.info())).toList();
  }

  private DatException notFound(
      final ReturnSubtype subtype,
      final String name,
      final String wanted,
      final List<DatConf.Entry> named) {
    return notFound(
        subtype,
        name,
        "interface adapter '" + name + "' is not registered as " + wanted + ", but as " + named);
  }

  /** Lines that were to register it say why they do not. */
  private DatException notFound(
      final ReturnSubtype subtype, final String name, final String message) {
    final StringBuilder all = new StringBuilder(message);
    for (final DatConf.Unused line : file.unused()) {
      if (line.name().equals(name)) {
        all.append("; ").append(line.reason());
      }
    }
    return new DatException(ReturnType.PROVIDER_NOT_FOUND, subtype, all.toString());
  }

  /** The first that opens; else all that went wrong. */
  private static InterfaceAdapter openFirst(final String name, final List<DatConf.Entry> found) {
    final List<DatException> failures = new ArrayList<>();
    for (final DatConf.Entry entry : found) {
      try {
        return open(entry);
      } catch (final DatException e) {
        failures.add(e);
      }
    }
    final DatException first = failures.get(0);
    if (failures.size() == 1) {
      throw first;
    }
    final DatException main =
        failures.stream() // a file for several machines names providers that this one has not
            .filter(failure -> failure.type() != ReturnType.PROVIDER_NOT_FOUND)
            .findFirst()
            .orElse(first);
    final DatException all =
        new DatException(
            main.type(),
            main.subtype(),
            "interface adapter '"
                + name
                + "' is registered "
                + failures.size()
                + " times, and cannot be opened by any: "
                + failures.stream().map(Throwable::getMessage).collect(Collectors.joining("; ")));
    failures.forEach(all::addSuppressed);
    throw all;
  }

  /** Each adapter has a dispatcher of its own, which ends with it. */
  private static InterfaceAdapter open(final DatConf.Entry entry) {
    Jdapl runtime = null;
    InterfaceAdapter adapter = null;
    try {
      runtime = Jdapl.with(entry.provider()).parameters(entry.parameters()).start();
      adapter = runtime.open(runtime::close);
      return adapter;
    } catch (final DatException e) {
      throw new DatException(
          e.type(), e.subtype(), "cannot open " + entry + ": " + e.getMessage(), e.getCause());
    } finally {
      if (adapter == null && runtime != null) {
        runtime.close();
      }
    }
  }
}
