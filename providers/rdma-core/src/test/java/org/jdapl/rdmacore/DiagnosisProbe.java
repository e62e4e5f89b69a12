package org.jdapl.rdmacore;

/** A program that prints a diagnosis, and whose exit status says whether a device works. */
final class DiagnosisProbe {

  private DiagnosisProbe() {}

  public static void main(final String... arguments) {
    final Diagnosis diagnosis = Diagnosis.run("address=" + Side.ADDRESS);
    for (final Diagnosis.Finding finding : diagnosis.findings()) {
      final Problem problem = finding.problem();
      System.out.println(
          finding.what()
              + ": "
              + (problem == null ? finding.found() : problem.reason() + ", " + problem));
    }
    System.exit(diagnosis.isUsable() ? 0 : 1);
  }
}
