package org.jdapl.dat;

/** The subtypes of DAT return codes, with DAT's numbers. */
public enum ReturnSubtype {
  /** Nothing more is known. */
  NO_SUBTYPE(0, "nothing more is known"),
  /** The call was interrupted. */
  SUB_INTERRUPTED(1, "the call was interrupted"),
  /** No room: memory. */
  RESOURCE_MEMORY(2, "no room: memory"),
  /** No room: the device. */
  RESOURCE_DEVICE(3, "no room: the device"),
  /** No room: endpoints. */
  RESOURCE_TEP(4, "no room: endpoints"),
  /** No room: event dispatchers. */
  RESOURCE_TEVD(5, "no room: event dispatchers"),
  /** No room: protection zones. */
  RESOURCE_PROTECTION_DOMAIN(6, "no room: protection zones"),
  /** No room: memory regions. */
  RESOURCE_MEMORY_REGION(7, "no room: memory regions"),
  /** No room: error handlers. */
  RESOURCE_ERROR_HANDLER(8, "no room: error handlers"),
  /** No room: credits. */
  RESOURCE_CREDITS(9, "no room: credits"),
  /** No room: shared receive queues. */
  RESOURCE_SRQ(10, "no room: shared receive queues"),
  /** Not valid as an interface adapter. */
  INVALID_HANDLE_IA(11, "not valid as an interface adapter"),
  /** Not valid as an endpoint. */
  INVALID_HANDLE_EP(12, "not valid as an endpoint"),
  /** Not valid as a memory region. */
  INVALID_HANDLE_LMR(13, "not valid as a memory region"),
  /** Not valid as a remote memory region. */
  INVALID_HANDLE_RMR(14, "not valid as a remote memory region"),
  /** Not valid as a protection zone. */
  INVALID_HANDLE_PZ(15, "not valid as a protection zone"),
  /** Not valid as a public service point. */
  INVALID_HANDLE_PSP(16, "not valid as a public service point"),
  /** Not valid as a reserved service point. */
  INVALID_HANDLE_RSP(17, "not valid as a reserved service point"),
  /** Not valid as a connection request. */
  INVALID_HANDLE_CR(18, "not valid as a connection request"),
  /** Not valid as a CNO. */
  INVALID_HANDLE_CNO(19, "not valid as a CNO"),
  /** Not valid as an EVD for connection requests. */
  INVALID_HANDLE_EVD_CR(20, "not valid as an EVD for connection requests"),
  /** Not valid as an EVD for requests. */
  INVALID_HANDLE_EVD_REQUEST(21, "not valid as an EVD for requests"),
  /** Not valid as an EVD for receives. */
  INVALID_HANDLE_EVD_RECV(22, "not valid as an EVD for receives"),
  /** Not valid as an EVD for connections. */
  INVALID_HANDLE_EVD_CONN(23, "not valid as an EVD for connections"),
  /** Not valid as an EVD for async errors. */
  INVALID_HANDLE_EVD_ASYNC(24, "not valid as an EVD for async errors"),
  /** Not valid as a shared receive queue. */
  INVALID_HANDLE_SRQ(25, "not valid as a shared receive queue"),
  /** Not valid as a common service point. */
  INVALID_HANDLE_CSP(26, "not valid as a common service point"),
  /** The object that is argument 1 is not valid. */
  INVALID_HANDLE1(27, "the object that is argument 1 is not valid"),
  /** The object that is argument 2 is not valid. */
  INVALID_HANDLE2(28, "the object that is argument 2 is not valid"),
  /** The object that is argument 3 is not valid. */
  INVALID_HANDLE3(29, "the object that is argument 3 is not valid"),
  /** The object that is argument 4 is not valid. */
  INVALID_HANDLE4(30, "the object that is argument 4 is not valid"),
  /** The object that is argument 5 is not valid. */
  INVALID_HANDLE5(31, "the object that is argument 5 is not valid"),
  /** The object that is argument 6 is not valid. */
  INVALID_HANDLE6(32, "the object that is argument 6 is not valid"),
  /** The object that is argument 7 is not valid. */
  INVALID_HANDLE7(33, "the object that is argument 7 is not valid"),
  /** The object that is argument 8 is not valid. */
  INVALID_HANDLE8(34, "the object that is argument 8 is not valid"),
  /** The object that is argument 9 is not valid. */
  INVALID_HANDLE9(35, "the object that is argument 9 is not valid"),
  /** The object that is argument 10 is not valid. */
  INVALID_HANDLE10(36, "the object that is argument 10 is not valid"),
  /** Argument 1 is not valid. */
  INVALID_ARG1(37, "argument 1 is not valid"),
  /** Argument 2 is not valid. */
  INVALID_ARG2(38, "argument 2 is not valid"),
  /** Argument 3 is not valid. */
  INVALID_ARG3(39, "argument 3 is not valid"),
  /** Argument 4 is not valid. */
  INVALID_ARG4(40, "argument 4 is not valid"),
  /** Argument 5 is not valid. */
  INVALID_ARG5(41, "argument 5 is not valid"),
  /** Argument 6 is not valid. */
  INVALID_ARG6(42, "argument 6 is not valid"),
  /** Argument 7 is not valid. */
  INVALID_ARG7(43, "argument 7 is not valid"),
  /** Argument 8 is not valid. */
  INVALID_ARG8(44, "argument 8 is not valid"),
  /** Argument 9 is not valid. */
  INVALID_ARG9(45, "argument 9 is not valid"),
  /** Argument 10 is not valid. */
  INVALID_ARG10(46, "argument 10 is not valid"),
  /** The endpoint is unconnected. */
  INVALID_STATE_EP_UNCONNECTED(47, "the endpoint is unconnected"),
  /** The endpoint is being connected, actively. */
  INVALID_STATE_EP_ACTCONNPENDING(48, "the endpoint is being connected, actively"),
  /** The endpoint has a connection request. */
  INVALID_STATE_EP_PASSCONNPENDING(49, "the endpoint has a connection request"),
  /** The endpoint has a connection request, tentatively. */
  INVALID_STATE_EP_TENTCONNPENDING(50, "the endpoint has a connection request, tentatively"),
  /** The endpoint is connected. */
  INVALID_STATE_EP_CONNECTED(51, "the endpoint is connected"),
  /** The endpoint is disconnected. */
  INVALID_STATE_EP_DISCONNECTED(52, "the endpoint is disconnected"),
  /** The endpoint is reserved. */
  INVALID_STATE_EP_RESERVED(53, "the endpoint is reserved"),
  /** The endpoint accepted, and is not connected yet. */
  INVALID_STATE_EP_COMPLPENDING(54, "the endpoint accepted, and is not connected yet"),
  /** The endpoint is being disconnected. */
  INVALID_STATE_EP_DISCPENDING(55, "the endpoint is being disconnected"),
  /** The endpoint is the provider's. */
  INVALID_STATE_EP_PROVIDERCONTROL(56, "the endpoint is the provider's"),
  /** The endpoint is not ready. */
  INVALID_STATE_EP_NOTREADY(57, "the endpoint is not ready"),
  /** A watermark of receives of the endpoint. */
  INVALID_STATE_EP_RECV_WATERMARK(58, "a watermark of receives of the endpoint"),
  /** The protection zone of the endpoint. */
  INVALID_STATE_EP_PZ(59, "the protection zone of the endpoint"),
  /** The EVD for requests of the endpoint. */
  INVALID_STATE_EP_EVD_REQUEST(60, "the EVD for requests of the endpoint"),
  /** The EVD for receives of the endpoint. */
  INVALID_STATE_EP_EVD_RECV(61, "the EVD for receives of the endpoint"),
  /** The EVD for the connection of the endpoint. */
  INVALID_STATE_EP_EVD_CONNECT(62, "the EVD for the connection of the endpoint"),
  /** The endpoint is not configured. */
  INVALID_STATE_EP_UNCONFIGURED(63, "the endpoint is not configured"),
  /** The endpoint is reserved, and not configured. */
  INVALID_STATE_EP_UNCONFRESERVED(64, "the endpoint is reserved, and not configured"),
  /** The endpoint has a connection request, and is not configured. */
  INVALID_STATE_EP_UNCONFPASSIVE(
      65, "the endpoint has a connection request, and is not configured"),
  /** The endpoint has a connection request, tentatively, and is not configured. */
  INVALID_STATE_EP_UNCONFTENTATIVE(
      66, "the endpoint has a connection request, tentatively, and is not configured"),
  /** The CNO is in use. */
  INVALID_STATE_CNO_IN_USE(67, "the CNO is in use"),
  /** The CNO is dead. */
  INVALID_STATE_CNO_DEAD(68, "the CNO is dead"),
  /** The EVD is open. */
  INVALID_STATE_EVD_OPEN(69, "the EVD is open"),
  /** The EVD is enabled. */
  INVALID_STATE_EVD_ENABLED(70, "the EVD is enabled"),
  /** The EVD is disabled. */
  INVALID_STATE_EVD_DISABLED(71, "the EVD is disabled"),
  /** The EVD may be waited for. */
  INVALID_STATE_EVD_WAITABLE(72, "the EVD may be waited for"),
  /** The EVD may not be waited for. */
  INVALID_STATE_EVD_UNWAITABLE(73, "the EVD may not be waited for"),
  /** The EVD is in use. */
  INVALID_STATE_EVD_IN_USE(74, "the EVD is in use"),
  /** The EVD tells of each event. */
  INVALID_STATE_EVD_CONFIG_NOTIFY(75, "the EVD tells of each event"),
  /** The EVD tells of solicited receives only. */
  INVALID_STATE_EVD_CONFIG_SOLICITED(76, "the EVD tells of solicited receives only"),
  /** The EVD tells at a threshold. */
  INVALID_STATE_EVD_CONFIG_THRESHOLD(77, "the EVD tells at a threshold"),
  /** A thread waits for the EVD. */
  INVALID_STATE_EVD_WAITER(78, "a thread waits for the EVD"),
  /** The EVD for async errors. */
  INVALID_STATE_EVD_ASYNC(79, "the EVD for async errors"),
  /** The interface adapter is in use. */
  INVALID_STATE_IA_IN_USE(80, "the interface adapter is in use"),
  /** The memory region is in use. */
  INVALID_STATE_LMR_IN_USE(81, "the memory region is in use"),
  /** The memory region is free. */
  INVALID_STATE_LMR_FREE(82, "the memory region is free"),
  /** The protection zone is in use. */
  INVALID_STATE_PZ_IN_USE(83, "the protection zone is in use"),
  /** The protection zone is free. */
  INVALID_STATE_PZ_FREE(84, "the protection zone is free"),
  /** The shared receive queue is operational. */
  INVALID_STATE_SRQ_OPERATIONAL(85, "the shared receive queue is operational"),
  /** The shared receive queue is in error. */
  INVALID_STATE_SRQ_ERROR(86, "the shared receive queue is in error"),
  /** The shared receive queue is in use. */
  INVALID_STATE_SRQ_IN_USE(87, "the shared receive queue is in use"),
  /** The right is missing: local read. */
  PRIVILEGES_READ(88, "the right is missing: local read"),
  /** The right is missing: local write. */
  PRIVILEGES_WRITE(89, "the right is missing: local write"),
  /** The right is missing: RDMA read. */
  PRIVILEGES_RDMA_READ(90, "the right is missing: RDMA read"),
  /** The right is missing: RDMA write. */
  PRIVILEGES_RDMA_WRITE(91, "the right is missing: RDMA write"),
  /** The protection zone does not match: local read. */
  PROTECTION_READ(92, "the protection zone does not match: local read"),
  /** The protection zone does not match: local write. */
  PROTECTION_WRITE(93, "the protection zone does not match: local write"),
  /** The protection zone does not match: RDMA read. */
  PROTECTION_RDMA_READ(94, "the protection zone does not match: RDMA read"),
  /** The protection zone does not match: RDMA write. */
  PROTECTION_RDMA_WRITE(95, "the protection zone does not match: RDMA write"),
  /** The kind of address is not supported. */
  INVALID_ADDRESS_UNSUPPORTED(96, "the kind of address is not supported"),
  /** The address cannot be reached. */
  INVALID_ADDRESS_UNREACHABLE(97, "the address cannot be reached"),
  /** The address is malformed. */
  INVALID_ADDRESS_MALFORMED(98, "the address is malformed"),
  /** No provider of that name is registered. */
  NAME_NOT_REGISTERED(99, "no provider of that name is registered"),
  /** The name is there, the major version is not. */
  MAJOR_NOT_FOUND(100, "the name is there, the major version is not"),
  /** The name is there, the minor version is not. */
  MINOR_NOT_FOUND(101, "the name is there, the minor version is not"),
  /** The name is there, but not with that thread safety. */
  THREAD_SAFETY_NOT_FOUND(102, "the name is there, but not with that thread safety");

  private final int number;
  private final String text;

  ReturnSubtype(final int number, final String text) {
    this.number = number;
    this.text = text;
  }

  /**
   * DAT's number of this subtype.
   *
   * @return the number, as in bits 0 to 15 of a DAT_RETURN.
   */
  public int number() {
    return number;
  }

  /**
   * What it means, in a few words (dat_strerror, the minor message).
   *
   * @return the words, beginning small and without a full stop.
   */
  public String text() {
    return text;
  }
}
