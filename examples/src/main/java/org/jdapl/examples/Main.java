package org.jdapl.examples;

import org.jdapl.dat.DatException;
import org.jdapl.examples.cmrate.Cmrate;
import org.jdapl.examples.copy.Copy;
import org.jdapl.examples.pingpong.Pingpong;
import org.jdapl.examples.quickstart.Quickstart;
import org.jdapl.examples.rping.Rping;
import org.jdapl.examples.stress.Stress;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Starts an example by its name. */
@Command(
    name = "examples/run",
    description = "Small programs that use the DAT API.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      Hello.class,
      Quickstart.class,
      Copy.class,
      Pingpong.class,
      Rping.class,
      Cmrate.class,
      Stress.class,
      Doctor.class
    },
    footer = {"", "Exit status: 0 success, 1 failure, 2 wrong use; 130 interrupted (Ctrl-C)."})
public final class Main {

  private Main() {}

  /**
   * Runs a command and exits with its status.
   *
   * @param arguments the command and its options.
   */
  public static void main(final String... arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    final CommandLine main = new CommandLine(new Main());
    addHelp(main.getCommandSpec());
    for (final CommandLine command : main.getSubcommands().values()) {
      addHelp(command.getCommandSpec());
    }
    return main.setParameterExceptionHandler((exception, arguments) -> wrongUse(exception))
        .setExecutionExceptionHandler((exception, command, parsed) -> failure(exception, command));
  }

  /** The short name may have another meaning. */
  private static void addHelp(final CommandSpec command) {
    final boolean isShortTaken = command.findOption("-h") != null;
    command.addOption(
        OptionSpec.builder("--help", isShortTaken ? new String[0] : new String[] {"-h"})
            .usageHelp(true)
            .description("Show this help and exit.")
            .build());
  }

  private static int wrongUse(final ParameterException exception) {
    final CommandLine command = exception.getCommandLine();
    final String name = command.getCommandSpec().qualifiedName();
    command.getErr().println(reason(exception) + "; see " + name + " --help");
    return ExitCode.USAGE;
  }

  private static String reason(final ParameterException exception) {
    if (exception instanceof UnmatchedArgumentException unmatched
        && !unmatched.isUnknownOption()
        && exception.getCommandLine().getParent() == null) {
      return "Unknown command '" + unmatched.getUnmatched().get(0) + "'";
    }
    return exception.getMessage();
  }

  private static int failure(final Exception exception, final CommandLine command)
      throws Exception {
    if (exception instanceof DatException) {
      command.getErr().println(exception.getMessage());
      return ExitCode.SOFTWARE;
    }
    throw exception;
  }
}
