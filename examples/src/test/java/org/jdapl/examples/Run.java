package org.jdapl.examples;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import picocli.CommandLine;

/**
 * A command line that was run in this process.
 *
 * @param status its exit status.
 * @param out what it printed.
 * @param err its errors.
 */
public record Run(int status, String out, String err) {

  /** Runs a command with its arguments. */
  public static Run of(final String... arguments) {
    return of(FileSystems.getDefault(), arguments);
  }

  /** Runs a command with its arguments, which name files of a file system. */
  public static Run of(final FileSystem files, final String... arguments) {
    final StringWriter out = new StringWriter();
    final StringWriter err = new StringWriter();
    final CommandLine commandLine = Main.commandLine();
    commandLine.registerConverter(Path.class, files::getPath);
    commandLine.setOut(new PrintWriter(out, true));
    commandLine.setErr(new PrintWriter(err, true));
    final int status = commandLine.execute(arguments);
    return new Run(status, out.toString(), err.toString());
  }
}
