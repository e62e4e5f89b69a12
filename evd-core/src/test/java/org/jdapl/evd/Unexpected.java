package org.jdapl.evd;

import java.io.IOException;
import java.io.PrintStream;
import java.util.function.Consumer;

/** What verbs throw that throw none of the exceptions they are to throw. */
enum Unexpected implements Consumer<String> {
  EXCEPTION {
    @Override
    Throwable of(final String message) {
      return new IllegalStateException(message);
    }
  },
  ERROR {
    @Override
    Throwable of(final String message) {
      return new LinkageError(message);
    }
  },
  /** Java's compiler would not let it; others' do. */
  CHECKED_EXCEPTION {
    @Override
    Throwable of(final String message) {
      return new IOException(message);
    }
  },
  /** Of which the logger that is told of it throws as well. */
  UNPRINTABLE {
    @Override
    Throwable of(final String message) {
      return new IllegalStateException(message) {
        private static final long serialVersionUID = 1L;

        @Override
        public void printStackTrace(final PrintStream into) {
          throw new IllegalStateException("this is not to be printed");
        }
      };
    }
  };

  abstract Throwable of(String message);

  /** Throws it, out of a verb. */
  @Override
  public void accept(final String verb) {
    throwUnchecked(of(verb + ", as the test says"));
  }

  @SuppressWarnings("unchecked")
  static <T extends Throwable> void throwUnchecked(final Throwable failure) throws T {
    throw (T) failure;
  }
}
