package org.jdapl.examples;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.jdapl.rdmacore.Diagnosis;
import org.jdapl.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Tells whether this machine has an RDMA device that jDAPL can use. */
@Command(
    name = "doctor",
    header = "Tells whether jDAPL can use an RDMA device here.",
    description = {
      "Looks at what provider rdma-core needs, uses a device, and says what is missing",
      "and what to do about it. Exit status 0 means that a device works."
    })
final class Doctor implements Callable<Integer> {

  @Parameters(
      arity = "0..*",
      paramLabel = "KEY=VALUE",
      description = "Which device: device=NAME, port=NUMBER, address=IP. The first is the default.")
  private String[] parameters = {};

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    final PrintWriter out = spec.commandLine().getOut();
    final Diagnosis diagnosis;
    try {
      diagnosis = Diagnosis.run(String.join(" ", parameters));
    } catch (final VerbsException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage());
    }
    for (final Diagnosis.Finding finding : diagnosis.findings()) {
      if (finding.problem() == null) {
        out.printf("  ok    %s: %s%n", finding.what(), finding.found());
      } else {
        final String mark = diagnosis.isUsable() ? "warn" : "FAIL";
        out.printf("  %s  %s: %s%n", mark, finding.what(), finding.problem().cause());
        out.printf("        %s%n", "to do: " + finding.problem().remedy());
      }
    }
    out.println(
        diagnosis.isUsable()
            ? "A device works: use adapter rdma-core."
            : "No device works. Adapter sim needs none.");
    return diagnosis.isUsable() ? ExitCode.OK : ExitCode.SOFTWARE;
  }
}
