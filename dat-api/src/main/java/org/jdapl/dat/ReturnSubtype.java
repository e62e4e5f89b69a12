package org.jdapl.dat;

/** The subtypes of DAT return codes. {@link #number} is DAT's number. */
public enum ReturnSubtype {
  /** Nothing more is known. */
  NO_SUBTYPE(0),
  /** The call was interrupted. */
  SUB_INTERRUPTED(1),
  /** There is no room: memory. */
  RESOURCE_MEMORY(2),
  /** There is no room: device. */
  RESOURCE_DEVICE(3),
  /** There is no room: tep. */
  RESOURCE_TEP(4),
  /** There is no room: tevd. */
  RESOURCE_TEVD(5),
  /** There is no room: protection domain. */
  RESOURCE_PROTECTION_DOMAIN(6),
  /** There is no room: memory region. */
  RESOURCE_MEMORY_REGION(7),
  /** There is no room: error handler. */
  RESOURCE_ERROR_HANDLER(8),
  /** There is no room: credits. */
  RESOURCE_CREDITS(9),
  /** There is no room: srq. */
  RESOURCE_SRQ(10),
  /** The handle is not valid: ia. */
  INVALID_HANDLE_IA(11),
  /** The handle is not valid: ep. */
  INVALID_HANDLE_EP(12),
  /** The handle is not valid: lmr. */
  INVALID_HANDLE_LMR(13),
  /** The handle is not valid: rmr. */
  INVALID_HANDLE_RMR(14),
  /** The handle is not valid: pz. */
  INVALID_HANDLE_PZ(15),
  /** The handle is not valid: psp. */
  INVALID_HANDLE_PSP(16),
  /** The handle is not valid: rsp. */
  INVALID_HANDLE_RSP(17),
  /** The handle is not valid: cr. */
  INVALID_HANDLE_CR(18),
  /** The handle is not valid: cno. */
  INVALID_HANDLE_CNO(19),
  /** The handle is not valid: evd cr. */
  INVALID_HANDLE_EVD_CR(20),
  /** The handle is not valid: evd request. */
  INVALID_HANDLE_EVD_REQUEST(21),
  /** The handle is not valid: evd recv. */
  INVALID_HANDLE_EVD_RECV(22),
  /** The handle is not valid: evd conn. */
  INVALID_HANDLE_EVD_CONN(23),
  /** The handle is not valid: evd async. */
  INVALID_HANDLE_EVD_ASYNC(24),
  /** The handle is not valid: srq. */
  INVALID_HANDLE_SRQ(25),
  /** The handle is not valid: csp. */
  INVALID_HANDLE_CSP(26),
  /** The object of argument 1 is not valid. */
  INVALID_HANDLE1(27),
  /** The object of argument 2 is not valid. */
  INVALID_HANDLE2(28),
  /** The object of argument 3 is not valid. */
  INVALID_HANDLE3(29),
  /** The object of argument 4 is not valid. */
  INVALID_HANDLE4(30),
  /** The object of argument 5 is not valid. */
  INVALID_HANDLE5(31),
  /** The object of argument 6 is not valid. */
  INVALID_HANDLE6(32),
  /** The object of argument 7 is not valid. */
  INVALID_HANDLE7(33),
  /** The object of argument 8 is not valid. */
  INVALID_HANDLE8(34),
  /** The object of argument 9 is not valid. */
  INVALID_HANDLE9(35),
  /** The object of argument 10 is not valid. */
  INVALID_HANDLE10(36),
  /** Argument 1 is not valid. */
  INVALID_ARG1(37),
  /** Argument 2 is not valid. */
  INVALID_ARG2(38),
  /** Argument 3 is not valid. */
  INVALID_ARG3(39),
  /** Argument 4 is not valid. */
  INVALID_ARG4(40),
  /** Argument 5 is not valid. */
  INVALID_ARG5(41),
  /** Argument 6 is not valid. */
  INVALID_ARG6(42),
  /** Argument 7 is not valid. */
  INVALID_ARG7(43),
  /** Argument 8 is not valid. */
  INVALID_ARG8(44),
  /** Argument 9 is not valid. */
  INVALID_ARG9(45),
  /** Argument 10 is not valid. */
  INVALID_ARG10(46),
  /** The endpoint's state is: unconnected. */
  INVALID_STATE_EP_UNCONNECTED(47),
  /** The endpoint's state is: actconnpending. */
  INVALID_STATE_EP_ACTCONNPENDING(48),
  /** The endpoint's state is: passconnpending. */
  INVALID_STATE_EP_PASSCONNPENDING(49),
  /** The endpoint's state is: tentconnpending. */
  INVALID_STATE_EP_TENTCONNPENDING(50),
  /** The endpoint's state is: connected. */
  INVALID_STATE_EP_CONNECTED(51),
  /** The endpoint's state is: disconnected. */
  INVALID_STATE_EP_DISCONNECTED(52),
  /** The endpoint's state is: reserved. */
  INVALID_STATE_EP_RESERVED(53),
  /** The endpoint's state is: complpending. */
  INVALID_STATE_EP_COMPLPENDING(54),
  /** The endpoint's state is: discpending. */
  INVALID_STATE_EP_DISCPENDING(55),
  /** The endpoint's state is: providercontrol. */
  INVALID_STATE_EP_PROVIDERCONTROL(56),
  /** The endpoint's state is: notready. */
  INVALID_STATE_EP_NOTREADY(57),
  /** The endpoint's state is: recv watermark. */
  INVALID_STATE_EP_RECV_WATERMARK(58),
  /** The endpoint's state is: pz. */
  INVALID_STATE_EP_PZ(59),
  /** The endpoint's state is: evd request. */
  INVALID_STATE_EP_EVD_REQUEST(60),
  /** The endpoint's state is: evd recv. */
  INVALID_STATE_EP_EVD_RECV(61),
  /** The endpoint's state is: evd connect. */
  INVALID_STATE_EP_EVD_CONNECT(62),
  /** The endpoint's state is: unconfigured. */
  INVALID_STATE_EP_UNCONFIGURED(63),
  /** The endpoint's state is: unconfreserved. */
  INVALID_STATE_EP_UNCONFRESERVED(64),
  /** The endpoint's state is: unconfpassive. */
  INVALID_STATE_EP_UNCONFPASSIVE(65),
  /** The endpoint's state is: unconftentative. */
  INVALID_STATE_EP_UNCONFTENTATIVE(66),
  /** The state is: cno in use. */
  INVALID_STATE_CNO_IN_USE(67),
  /** The state is: cno dead. */
  INVALID_STATE_CNO_DEAD(68),
  /** The state is: evd open. */
  INVALID_STATE_EVD_OPEN(69),
  /** The state is: evd enabled. */
  INVALID_STATE_EVD_ENABLED(70),
  /** The state is: evd disabled. */
  INVALID_STATE_EVD_DISABLED(71),
  /** The state is: evd waitable. */
  INVALID_STATE_EVD_WAITABLE(72),
  /** The state is: evd unwaitable. */
  INVALID_STATE_EVD_UNWAITABLE(73),
  /** The state is: evd in use. */
  INVALID_STATE_EVD_IN_USE(74),
  /** The state is: evd config notify. */
  INVALID_STATE_EVD_CONFIG_NOTIFY(75),
  /** The state is: evd config solicited. */
  INVALID_STATE_EVD_CONFIG_SOLICITED(76),
  /** The state is: evd config threshold. */
  INVALID_STATE_EVD_CONFIG_THRESHOLD(77),
  /** The state is: evd waiter. */
  INVALID_STATE_EVD_WAITER(78),
  /** The state is: evd async. */
  INVALID_STATE_EVD_ASYNC(79),
  /** The state is: ia in use. */
  INVALID_STATE_IA_IN_USE(80),
  /** The state is: lmr in use. */
  INVALID_STATE_LMR_IN_USE(81),
  /** The state is: lmr free. */
  INVALID_STATE_LMR_FREE(82),
  /** The state is: pz in use. */
  INVALID_STATE_PZ_IN_USE(83),
  /** The state is: pz free. */
  INVALID_STATE_PZ_FREE(84),
  /** The state is: srq operational. */
  INVALID_STATE_SRQ_OPERATIONAL(85),
  /** The state is: srq error. */
  INVALID_STATE_SRQ_ERROR(86),
  /** The state is: srq in use. */
  INVALID_STATE_SRQ_IN_USE(87),
  /** A right is missing: read. */
  PRIVILEGES_READ(88),
  /** A right is missing: write. */
  PRIVILEGES_WRITE(89),
  /** A right is missing: rdma read. */
  PRIVILEGES_RDMA_READ(90),
  /** A right is missing: rdma write. */
  PRIVILEGES_RDMA_WRITE(91),
  /** A protection zone does not match: read. */
  PROTECTION_READ(92),
  /** A protection zone does not match: write. */
  PROTECTION_WRITE(93),
  /** A protection zone does not match: rdma read. */
  PROTECTION_RDMA_READ(94),
  /** A protection zone does not match: rdma write. */
  PROTECTION_RDMA_WRITE(95),
  /** The address is: unsupported. */
  INVALID_ADDRESS_UNSUPPORTED(96),
  /** The address is: unreachable. */
  INVALID_ADDRESS_UNREACHABLE(97),
  /** The address is: malformed. */
  INVALID_ADDRESS_MALFORMED(98),
  /** No provider of that name is registered. */
  NAME_NOT_REGISTERED(99),
  /** The name is there, the major version is not. */
  MAJOR_NOT_FOUND(100),
  /** The name is there, the minor version is not. */
  MINOR_NOT_FOUND(101),
  /** The name is there, but not with that thread safety. */
  THREAD_SAFETY_NOT_FOUND(102);

  private final int number;

  ReturnSubtype(final int number) {
    this.number = number;
  }

  /**
   * DAT's number of this subtype.
   *
   * @return the number, as in bits 0 to 15 of a DAT_RETURN.
   */
  public int number() {
    return number;
  }
}
