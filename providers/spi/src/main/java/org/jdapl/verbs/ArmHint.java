package org.jdapl.verbs;

/** What the return value of {@link CompletionQueue#arm} says about completions that were missed. */
public enum ArmHint {
  /** Always 0; it says nothing. */
  NONE,
  /** 0: nothing was missed, one may sleep. Above 0: there are completions to poll. */
  EXACT,
  /** 0 says nothing. Above 0: there may be completions to poll, and there may be none. */
  MAYBE
}
