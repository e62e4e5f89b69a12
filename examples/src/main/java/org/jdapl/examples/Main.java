package org.jdapl.examples;

import org.jdapl.dat.DatException;
import org.jdapl.examples.copy.Copy;
import org.jdapl.examples.pingpong.Pingpong;
import org.jdapl.examples.quickstart.Quickstart;
import org.jdapl.examples.stress.Stress;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
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
      Stress.class,
      Doctor.class
    },
    footer = {"", "Exit status: 0 success, 1 failure, 2 wrong use; 130 interrupted (Ctrl-C)."})
public final class Main {

  @Option(
      names = {"-h", "--help"},
      description = "Show this help and exit.",
      usageHelp = true,
      scope = ScopeType.INHERIT)
  @SuppressWarnings("unused") // its annotation is all that is needed
  private boolean help;

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
    return new CommandLine(new Main())
        .setParameterExceptionHandler((exception, arguments) -> wrongUse(exception))
        .setExecutionExceptionHandler((exception, command, parsed) -> failure(exception, command));
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
