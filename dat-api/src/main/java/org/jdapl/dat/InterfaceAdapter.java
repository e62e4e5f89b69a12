package org.jdapl.dat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * An interface adapter: an RDMA device as DAT sees it, and the factory of all objects on it.
 *
 * <p>A device can be removed, or fail. Then the adapter says so once, with IA_CATASTROPHIC, and
 * within five seconds lets go of the device by itself: connections end with BROKEN (those that are
 * being made with UNREACHABLE or ACCEPT_COMPLETION_ERROR), endpoints, service points, regions and
 * zones are closed, and waits end with ABORT. EVDs and CNOs stay, for what is queued and for
 * software events. Everything can still be closed by the consumer; the close of an endpoint returns
 * its report, where requests of which nothing was heard are UNKNOWN. Nothing can be created any
 * more: close the adapter, and open another one.
 */
public interface InterfaceAdapter extends DatObject {

  /**
   * What there is room for (dat_ia_query, DAT_IA_ATTR). Legal in every state.
   *
   * @return the limits; they stay the same.
   */
  AdapterAttributes attributes();

  /**
   * What is supported (dat_ia_query, DAT_PROVIDER_ATTR). Legal in every state.
   *
   * @return the attributes; they stay the same.
   */
  ProviderAttributes providerAttributes();

  /**
   * The address peers connect to (DAT_IA_ATTR ia_address_ptr). Legal in every state.
   *
   * @return the address.
   */
  InetAddress address();

  /**
   * Where async errors of this adapter go (dat_ia_query): at first an EVD that is created, its
   * upcall disabled, and closed with the adapter.
   *
   * @return the EVD that gets them now.
   */
  Evd asyncEvd();

  /**
   * Sends async errors to another EVD (DAT: the async EVD given to dat_ia_open), so that one EVD
   * takes everything. When that EVD is closed they go to the adapter's own again.
   *
   * @param evd gets async errors from now on; must take ASYNC.
   * @throws DatException INVALID_HANDLE (INVALID_HANDLE_EVD_ASYNC) if the EVD is closed, of another
   *     adapter, or does not take the stream.
   */
  void asyncEvd(Evd evd);

  /**
   * Creates an event dispatcher (dat_evd_create; dat_evd_kcreate with DAT_UPCALL_DISABLE). Any
   * streams may share one.
   *
   * @param length how many completions, connection requests and software events it holds, each on
   *     its own; at least 1. Each endpoint that uses the EVD takes as many completions of that as
   *     it may have receives and requests open: 32 with the default attributes and one EVD for
   *     both.
   * @param streams which events it takes, at least one.
   * @return the EVD, disabled.
   * @throws DatException INVALID_PARAMETER (INVALID_ARG1, INVALID_ARG2); INSUFFICIENT_RESOURCES
   *     (RESOURCE_TEVD) if it is longer than the provider allows, or there are as many EVDs as may
   *     be; INVALID_HANDLE if the adapter is closed, INVALID_STATE if its device is lost, as for
   *     all that create something.
   */
  Evd createEvd(int length, EventStream... streams);

  /**
   * Creates a consumer notification object (dat_cno_create); no EVD uses it yet.
   *
   * @return the CNO.
   * @throws DatException INVALID_HANDLE if the adapter is closed.
   */
  Cno createCno();

  /**
   * Creates a protection zone (dat_pz_create).
   *
   * @return the zone.
   * @throws DatException INSUFFICIENT_RESOURCES; INVALID_HANDLE if the adapter is closed.
   */
  ProtectionZone createPz();

  /**
   * Creates an endpoint (dat_ep_create) and reserves room for its requests in its EVDs. Until it
   * connects, receives may be posted.
   *
   * @param pz the zone whose memory it may use.
   * @param receiveEvd gets completions of receives; must take DTO. May be null if the attributes
   *     say 0 receives.
   * @param requestEvd gets completions of all else; must take DTO. May be null if the attributes
   *     say 0 requests.
   * @param connectEvd gets what happens to the connection; must take CONNECTION.
   * @param attributes its sizes.
   * @return the endpoint, UNCONNECTED.
   * @throws DatException INVALID_HANDLE (INVALID_HANDLE_PZ, INVALID_HANDLE_EVD_RECV,
   *     INVALID_HANDLE_EVD_REQUEST, INVALID_HANDLE_EVD_CONN) if one of them is closed, belongs to
   *     another adapter, or does not take the stream; INSUFFICIENT_RESOURCES (RESOURCE_TEVD) if an
   *     EVD has no room for its requests, nothing was changed; INSUFFICIENT_RESOURCES
   *     (RESOURCE_TEP) if the provider has no room; INVALID_STATE
   *     (INVALID_STATE_EVD_CONFIG_SOLICITED) if an EVD is for solicited receives and would get
   *     other events, (INVALID_STATE_EVD_CONFIG_NOTIFY) if it cannot be for solicited receives, see
   *     {@link EndpointAttributes#withReceiveFlags}, (INVALID_STATE_EVD_WAITER) if it is to be from
   *     now on, and a thread waits there; INVALID_PARAMETER (INVALID_ARG5) if a size or flag is not
   *     legal.
   */
  Endpoint createEndpoint(
      ProtectionZone pz,
      Evd receiveEvd,
      Evd requestEvd,
      Evd connectEvd,
      EndpointAttributes attributes);

  /**
   * Creates an endpoint that takes its receives from a shared receive queue
   * (dat_ep_create_with_srq); else as {@link #createEndpoint(ProtectionZone, Evd, Evd, Evd,
   * EndpointAttributes)}. The first endpoint of the queue at a receive EVD reserves room there for
   * all receives of the queue, the others none.
   *
   * @param pz the zone whose memory it may use; that of the queue.
   * @param receiveEvd gets completions of receives; must take DTO.
   * @param requestEvd gets completions of all else; must take DTO.
   * @param connectEvd gets what happens to the connection; must take CONNECTION.
   * @param srq where its receives are posted.
   * @param attributes its sizes; those of receives are the queue's.
   * @return the endpoint, UNCONNECTED.
   * @throws DatException as the other one, arguments counted as they stand here; INVALID_HANDLE
   *     (INVALID_HANDLE_SRQ) if the queue is closed or of another adapter, (INVALID_HANDLE_PZ) if
   *     it is of another zone.
   */
  Endpoint createEndpoint(
      ProtectionZone pz,
      Evd receiveEvd,
      Evd requestEvd,
      Evd connectEvd,
      SharedReceiveQueue srq,
      EndpointAttributes attributes);

  /**
   * Creates a shared receive queue (dat_srq_create). It is empty, and has no low watermark.
   *
   * @param pz the zone whose memory it may use.
   * @param maxReceives receives that may be open at once, at least 1.
   * @param maxIov segments of a receive, at least 1.
   * @return the queue.
   * @throws DatException INVALID_PARAMETER (INVALID_ARG2, INVALID_ARG3) if a size is below 1;
   *     INSUFFICIENT_RESOURCES (RESOURCE_SRQ) if it is more than the provider has room for;
   *     MODEL_NOT_SUPPORTED if the device has no shared receive queues; INVALID_HANDLE
   *     (INVALID_HANDLE_PZ) if the zone is closed or of another adapter.
   */
  SharedReceiveQueue createSrq(ProtectionZone pz, int maxReceives, int maxIov);

  /**
   * Creates an endpoint that uses one EVD for everything; else as {@link
   * #createEndpoint(ProtectionZone, Evd, Evd, Evd, EndpointAttributes)}.
   *
   * @param pz the zone whose memory it may use.
   * @param evd gets all its events; must take DTO and CONNECTION.
   * @param attributes its sizes.
   * @return the endpoint, UNCONNECTED.
   * @throws DatException as the other one; arguments are counted as they stand here.
   */
  Endpoint createEndpoint(ProtectionZone pz, Evd evd, EndpointAttributes attributes);

  /**
   * Listens for connection requests (dat_psp_create with DAT_PSP_CONSUMER_FLAG).
   *
   * @param connQual where to listen, 1 to 65535: the ports of the connection manager.
   * @param evd gets the requests; must take CONNECTION_REQUEST. A request that finds it full is
   *     refused.
   * @return the service point.
   * @throws DatException INVALID_PARAMETER (INVALID_ARG1) if the qualifier is none of these;
   *     CONN_QUAL_IN_USE if somebody listens there; INVALID_HANDLE (INVALID_HANDLE_EVD_CR) if the
   *     EVD is closed, of another adapter, or does not take the stream.
   */
  PublicServicePoint createPsp(long connQual, Evd evd);

  /**
   * Listens for connection requests where nobody does yet (dat_psp_create_any); else as {@link
   * #createPsp(long, Evd)}.
   *
   * @param evd gets the requests; must take CONNECTION_REQUEST.
   * @return the service point; {@link ServicePoint#connQual} says where it listens.
   * @throws DatException as the other one.
   */
  PublicServicePoint createPsp(Evd evd);

  /**
   * Listens for one connection request, for one endpoint (dat_rsp_create). The endpoint, which must
   * be UNCONNECTED, is RESERVED until the request comes.
   *
   * @param connQual where to listen, 1 to 65535: the ports of the connection manager.
   * @param endpoint whom the request is for.
   * @param evd gets the request; must take CONNECTION_REQUEST.
   * @return the service point, which is closed by itself when the request comes.
   * @throws DatException as {@link #createPsp(long, Evd)}; INVALID_HANDLE (INVALID_HANDLE_EP) if
   *     the endpoint is closed or of another adapter; INVALID_STATE with its state if it is not
   *     UNCONNECTED.
   */
  ReservedServicePoint createRsp(long connQual, Endpoint endpoint, Evd evd);

  /**
   * Listens for connection requests at an address and a port (dat_csp_create); to be asked by
   * {@link Endpoint#commonConnect}.
   *
   * @param at the address of this adapter, or the wildcard, and the port; 0 for any.
   * @param evd gets the requests; must take CONNECTION_REQUEST.
   * @return the service point.
   * @throws DatException as {@link #createPsp(long, Evd)}; INVALID_PARAMETER (INVALID_ARG1) if the
   *     address is null or not resolved; INVALID_ADDRESS if it is not one of this adapter.
   */
  CommonServicePoint createCsp(InetSocketAddress at, Evd evd);

  /**
   * How many objects are open, and what the adapter's open EVDs and their dispatchers counted so
   * far (dat_ib_query_counters, dat_ib_print_counters). May be called at any time, in every state,
   * and stops nothing.
   *
   * @return a snapshot, made to be printed.
   */
  @Experimental
  IaStatistics statistics();

  /**
   * Closes the adapter gracefully (dat_ia_close with DAT_CLOSE_GRACEFUL_FLAG).
   *
   * @throws DatException INVALID_STATE (INVALID_STATE_IA_IN_USE) while objects other than the async
   *     EVD are open; the message names them, and where they were created if that is known, see
   *     {@link Dat#openObjects}. ABORT (SUB_INTERRUPTED) if interrupted while waiting: the close
   *     goes on.
   */
  @Override
  void close();

  /**
   * Closes the adapter and everything on it (dat_ia_close with DAT_CLOSE_ABRUPT_FLAG). It cannot
   * fail. Inside an upcall it does not wait, but the closing goes on. What is open is logged, with
   * where it was created if that is known; not if leak detection is off, see {@link
   * Dat#openObjects}.
   *
   * @param bound how long it may take at most; what is stuck then is left and reported. When it is
   *     closed twice, the bound that is over first counts.
   * @throws DatException INVALID_PARAMETER (INVALID_ARG1) if the bound is null or negative; ABORT
   *     if interrupted while waiting, the closing goes on.
   */
  void closeAbruptly(Duration bound);
}
