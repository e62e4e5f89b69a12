package org.jdapl.examples;

import picocli.CommandLine.Option;

/** The option that names the interface adapter; a mixin. */
public final class AdapterOption {

  @Option(
      names = "--ia",
      paramLabel = "NAME",
      defaultValue = "sim",
      description = "The interface adapter to open (${DEFAULT-VALUE}).")
  private String name;

  /** The name that was given, or the default. */
  public String name() {
    return name;
  }
}
