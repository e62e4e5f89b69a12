package org.jdapl.verbs;

/** Which completions an arm asks to be told of (the solicited_only flag of ibv_req_notify_cq). */
public enum ArmKind {
  /** The next completion. */
  NEXT,
  /** The next solicited receive, or the next completion with an error. */
  SOLICITED
}
