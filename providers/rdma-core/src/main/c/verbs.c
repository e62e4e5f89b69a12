/* The verbs: devices, objects, posting, polling, and the events of completion channels and devices. */
#include "jdapl.h"

#include <stddef.h>

/* An asynchronous event as it crosses to Java. */
struct async_record {
  uint64_t token; /* of the object it is about; 0 if it is about a port or the device */
  uint32_t type;
  uint32_t port;
};

/* What Java reads and writes in place, asked for once. The order is that of Layout.java. */
NATIVE(jintArray, layout) {
  const jint values[] = {
      sizeof(struct ibv_wc),
      offsetof(struct ibv_wc, wr_id),
      offsetof(struct ibv_wc, status),
      offsetof(struct ibv_wc, opcode),
      offsetof(struct ibv_wc, vendor_err),
      offsetof(struct ibv_wc, byte_len),
      offsetof(struct ibv_wc, imm_data),
      offsetof(struct ibv_wc, qp_num),
      offsetof(struct ibv_wc, wc_flags),
      sizeof(struct ibv_sge),
      offsetof(struct ibv_sge, addr),
      offsetof(struct ibv_sge, length),
      offsetof(struct ibv_sge, lkey),
      sizeof(struct ibv_send_wr),
      offsetof(struct ibv_send_wr, wr_id),
      offsetof(struct ibv_send_wr, next),
      offsetof(struct ibv_send_wr, sg_list),
      offsetof(struct ibv_send_wr, num_sge),
      offsetof(struct ibv_send_wr, opcode),
      offsetof(struct ibv_send_wr, send_flags),
      offsetof(struct ibv_send_wr, imm_data),
      offsetof(struct ibv_send_wr, wr.rdma.remote_addr),
      offsetof(struct ibv_send_wr, wr.rdma.rkey),
      offsetof(struct ibv_send_wr, wr.atomic.remote_addr),
      offsetof(struct ibv_send_wr, wr.atomic.compare_add),
      offsetof(struct ibv_send_wr, wr.atomic.swap),
      offsetof(struct ibv_send_wr, wr.atomic.rkey),
      sizeof(struct ibv_recv_wr),
      offsetof(struct ibv_recv_wr, wr_id),
      offsetof(struct ibv_recv_wr, next),
      offsetof(struct ibv_recv_wr, sg_list),
      offsetof(struct ibv_recv_wr, num_sge),
      sizeof(struct ibv_device_attr),
      offsetof(struct ibv_device_attr, max_qp),
      offsetof(struct ibv_device_attr, max_qp_wr),
      offsetof(struct ibv_device_attr, max_sge),
      offsetof(struct ibv_device_attr, max_cq),
      offsetof(struct ibv_device_attr, max_cqe),
      offsetof(struct ibv_device_attr, max_mr),
      offsetof(struct ibv_device_attr, max_pd),
      offsetof(struct ibv_device_attr, max_qp_rd_atom),
      offsetof(struct ibv_device_attr, max_qp_init_rd_atom),
      offsetof(struct ibv_device_attr, max_srq),
      offsetof(struct ibv_device_attr, max_srq_wr),
      offsetof(struct ibv_device_attr, max_srq_sge),
      offsetof(struct ibv_device_attr, max_mw),
      offsetof(struct ibv_device_attr, atomic_cap),
      sizeof(struct ibv_port_attr),
      offsetof(struct ibv_port_attr, max_msg_sz),
      sizeof(struct async_record),
      offsetof(struct async_record, token),
      offsetof(struct async_record, type),
      offsetof(struct async_record, port),
      offsetof(struct ibv_device_attr, device_cap_flags),
  };
  const jintArray array = (*env)->NewIntArray(env, COUNT(values));
  if (array) (*env)->SetIntArrayRegion(env, array, 0, COUNT(values), values);
  return array;
}

NATIVE(jlong, address, jobject buffer) { return (jlong)(intptr_t)(*env)->GetDirectBufferAddress(env, buffer); }

/* Devices. */

/* The names of all devices, each ended by a newline; NULL if they cannot be listed. */
NATIVE(jstring, device_names) {
  char names[4096];
  size_t used = 0;
  struct ibv_device **const devices = lib.ibv_get_device_list(NULL);
  if (!devices) return NULL;
  for (struct ibv_device **device = devices; *device; device++) {
    const char *const name = lib.ibv_get_device_name(*device);
    const size_t length = strlen(name);
    if (used + length + 2 > sizeof names) break;
    memcpy(names + used, name, length);
    used += length;
    names[used++] = '\n';
  }
  names[used] = '\0';
  lib.ibv_free_device_list(devices);
  return (*env)->NewStringUTF(env, names);
}

NATIVE(jstring, device_name, jlong context) {
  const char *const name = lib.ibv_get_device_name(POINTER(struct ibv_context, context)->device);
  return (*env)->NewStringUTF(env, name ? name : "?");
}

NATIVE(jboolean, is_iwarp, jlong context) {
  return POINTER(struct ibv_context, context)->device->transport_type == IBV_TRANSPORT_IWARP;
}

NATIVE(jint, async_fd, jlong context) { return POINTER(struct ibv_context, context)->async_fd; }

NATIVE(jint, query_device, jlong context, jlong into) {
  return negative_errno(
      lib.ibv_query_device(POINTER(struct ibv_context, context), POINTER(struct ibv_device_attr, into)));
}

NATIVE(jint, query_port, jlong context, jint port, jlong into) {
  return negative_errno((lib.ibv_query_port)(
      POINTER(struct ibv_context, context), (uint8_t)port, POINTER(struct _compat_ibv_port_attr, into)));
}

/* Memory. */

NATIVE(jlong, alloc_pd, jlong context) {
  return pointer_or_errno(lib.ibv_alloc_pd(POINTER(struct ibv_context, context)));
}

NATIVE(jint, dealloc_pd, jlong pd) { return negative_errno(lib.ibv_dealloc_pd(POINTER(struct ibv_pd, pd))); }

NATIVE(jlong, reg_mr, jlong pd, jlong start, jlong length, jint access) {
  return pointer_or_errno(
      (lib.ibv_reg_mr)(POINTER(struct ibv_pd, pd), POINTER(void, start), (size_t)length, access));
}

NATIVE(jint, dereg_mr, jlong mr) { return negative_errno(lib.ibv_dereg_mr(POINTER(struct ibv_mr, mr))); }

NATIVE(jint, mr_lkey, jlong mr) { return (jint)POINTER(struct ibv_mr, mr)->lkey; }

NATIVE(jint, mr_rkey, jlong mr) { return (jint)POINTER(struct ibv_mr, mr)->rkey; }

NATIVE(jlong, alloc_mw, jlong pd, jint type) {
  return pointer_or_errno(ibv_alloc_mw(POINTER(struct ibv_pd, pd), (enum ibv_mw_type)type));
}

NATIVE(jint, dealloc_mw, jlong mw) { return negative_errno(ibv_dealloc_mw(POINTER(struct ibv_mw, mw))); }

NATIVE(jint, mw_rkey, jlong mw) { return (jint)POINTER(struct ibv_mw, mw)->rkey; }

NATIVE(jint, bind_mw, jlong qp, jlong mw, jlong mr, jlong start, jlong length, jint access, jlong wr_id, jint flags) {
  struct ibv_mw_bind bind = {.wr_id = (uint64_t)wr_id, .send_flags = (unsigned int)flags};
  bind.bind_info.mr = POINTER(struct ibv_mr, mr);
  bind.bind_info.addr = (uint64_t)start;
  bind.bind_info.length = (uint64_t)length;
  bind.bind_info.mw_access_flags = (unsigned int)access;
  return negative_errno(ibv_bind_mw(POINTER(struct ibv_qp, qp), POINTER(struct ibv_mw, mw), &bind));
}

/* A window of type 2 is bound, and closed, by requests like others; it is for the caller to choose its next key. */
NATIVE(jint, bind_mw2, jlong qp, jlong mw, jlong mr, jlong start, jlong length, jint access, jlong wr_id, jint flags) {
  struct ibv_mw *const window = POINTER(struct ibv_mw, mw);
  struct ibv_send_wr request = {.wr_id = (uint64_t)wr_id, .send_flags = (unsigned int)flags}, *refused;
  uint32_t key = window->rkey;
  if (length) {
    key = ibv_inc_rkey(key);
    request.opcode = IBV_WR_BIND_MW;
    request.bind_mw.mw = window;
    request.bind_mw.rkey = key;
    request.bind_mw.bind_info.mr = POINTER(struct ibv_mr, mr);
    request.bind_mw.bind_info.addr = (uint64_t)start;
    request.bind_mw.bind_info.length = (uint64_t)length;
    request.bind_mw.bind_info.mw_access_flags = (unsigned int)access;
  } else {
    request.opcode = IBV_WR_LOCAL_INV;
    request.invalidate_rkey = key;
  }
  const jint result = negative_errno(ibv_post_send(POINTER(struct ibv_qp, qp), &request, &refused));
  if (!result) window->rkey = key;
  return result;
}

/* Completion queues. */

NATIVE(jlong, create_comp_channel, jlong context) {
  return pointer_or_errno(lib.ibv_create_comp_channel(POINTER(struct ibv_context, context)));
}

NATIVE(jint, destroy_comp_channel, jlong channel) {
  return negative_errno(lib.ibv_destroy_comp_channel(POINTER(struct ibv_comp_channel, channel)));
}

NATIVE(jint, comp_channel_fd, jlong channel) { return POINTER(struct ibv_comp_channel, channel)->fd; }

NATIVE(jlong, create_cq, jlong context, jint entries, jlong token, jlong channel) {
  return pointer_or_errno(lib.ibv_create_cq(POINTER(struct ibv_context, context), entries, POINTER(void, token),
                                            POINTER(struct ibv_comp_channel, channel), 0));
}

NATIVE(jint, cq_entries, jlong cq) { return POINTER(struct ibv_cq, cq)->cqe; }

NATIVE(jint, resize_cq, jlong cq, jint entries) {
  return negative_errno(lib.ibv_resize_cq(POINTER(struct ibv_cq, cq), entries));
}

NATIVE(jint, destroy_cq, jlong cq) { return negative_errno(lib.ibv_destroy_cq(POINTER(struct ibv_cq, cq))); }

NATIVE(jint, poll_cq, jlong cq, jlong into, jint max) {
  const int polled = ibv_poll_cq(POINTER(struct ibv_cq, cq), max, POINTER(struct ibv_wc, into));
  return polled < 0 ? -EIO : polled; /* the verb gives no errno */
}

NATIVE(jint, req_notify_cq, jlong cq, jint solicited) {
  return negative_errno(ibv_req_notify_cq(POINTER(struct ibv_cq, cq), solicited));
}

/* Drains and arms in one crossing, as RearmOutcome's table says: the outcome's number above, the count in the low 16
   bits. The device is taken for the weakest, so that an arm is followed by a look. */
NATIVE(jint, poll_and_rearm_cq, jlong queue, jlong into, jint max, jint solicited) {
  enum { SUCCESS, COMPLETED, POLL_NEEDED, NOT_DONE };
  struct ibv_cq *const cq = POINTER(struct ibv_cq, queue);
  struct ibv_wc *const wc = POINTER(struct ibv_wc, into);
  const int found = ibv_poll_cq(cq, max, wc);
  if (found < 0) return -EIO;
  if (found == max) return SUCCESS << 16 | found;
  const jint armed = negative_errno(ibv_req_notify_cq(cq, solicited));
  if (armed) return found > 0 ? SUCCESS << 16 | found : armed;
  const int late = ibv_poll_cq(cq, max - found, wc + found);
  if (late < 0) return found > 0 ? SUCCESS << 16 | found : -EIO;
  const int total = found + late;
  if (total == max) return POLL_NEEDED << 16 | total;
  return (total > 0 ? COMPLETED : NOT_DONE) << 16 | total;
}

/* Takes events off a completion channel, acknowledges each, and writes the tokens of their queues. A queue is not
   touched after its event was acknowledged: from then on it may be destroyed. */
NATIVE(jint, get_cq_events, jlong channel, jlong into, jint max) {
  uint64_t *const tokens = POINTER(uint64_t, into);
  jint count = 0;
  while (count < max) {
    struct ibv_cq *cq;
    void *token;
    errno = 0;
    const int result = lib.ibv_get_cq_event(POINTER(struct ibv_comp_channel, channel), &cq, &token);
    if (result) return count > 0 || errno == EAGAIN || errno == EINTR ? count : errno_of(result);
    lib.ibv_ack_cq_events(cq, 1);
    tokens[count++] = (uint64_t)(uintptr_t)token;
  }
  return count;
}

/* Shared receive queues. */

NATIVE(jlong, create_srq, jlong pd, jlong token, jint max_wr, jint max_sge) {
  struct ibv_srq_init_attr init = {.srq_context = POINTER(void, token)};
  init.attr.max_wr = (uint32_t)max_wr;
  init.attr.max_sge = (uint32_t)max_sge;
  return pointer_or_errno(lib.ibv_create_srq(POINTER(struct ibv_pd, pd), &init));
}

NATIVE(jint, arm_srq_limit, jlong srq, jint limit) {
  struct ibv_srq_attr attr = {.srq_limit = (uint32_t)limit};
  return negative_errno(lib.ibv_modify_srq(POINTER(struct ibv_srq, srq), &attr, IBV_SRQ_LIMIT));
}

NATIVE(jint, resize_srq, jlong srq, jint max_wr) {
  struct ibv_srq_attr attr = {.max_wr = (uint32_t)max_wr};
  return negative_errno(lib.ibv_modify_srq(POINTER(struct ibv_srq, srq), &attr, IBV_SRQ_MAX_WR));
}

NATIVE(jint, destroy_srq, jlong srq) { return negative_errno(lib.ibv_destroy_srq(POINTER(struct ibv_srq, srq))); }

/* Queue pairs. */

NATIVE(jlong, create_qp, jlong pd, jlong send_cq, jlong recv_cq, jlong srq, jlong token, jint max_send_wr,
       jint max_recv_wr, jint max_send_sge, jint max_recv_sge, jint max_inline, jintArray actual_inline) {
  struct ibv_qp_init_attr init = {
      .qp_context = POINTER(void, token),
      .send_cq = POINTER(struct ibv_cq, send_cq),
      .recv_cq = POINTER(struct ibv_cq, recv_cq),
      .srq = POINTER(struct ibv_srq, srq),
      .qp_type = IBV_QPT_RC,
  };
  init.cap.max_send_wr = (uint32_t)max_send_wr;
  init.cap.max_recv_wr = srq ? 0 : (uint32_t)max_recv_wr;
  init.cap.max_send_sge = (uint32_t)max_send_sge;
  init.cap.max_recv_sge = srq ? 0 : (uint32_t)max_recv_sge;
  init.cap.max_inline_data = (uint32_t)max_inline;
  const jlong result = pointer_or_errno(lib.ibv_create_qp(POINTER(struct ibv_pd, pd), &init));
  const jint has_inline = (jint)init.cap.max_inline_data;
  (*env)->SetIntArrayRegion(env, actual_inline, 0, 1, &has_inline);
  return result;
}

NATIVE(jint, qp_number, jlong qp) { return (jint)POINTER(struct ibv_qp, qp)->qp_num; }

NATIVE(jint, modify_qp_to_error, jlong qp) {
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
  return negative_errno(lib.ibv_modify_qp(POINTER(struct ibv_qp, qp), &attr, IBV_QP_STATE));
}

NATIVE(jint, destroy_qp, jlong qp) { return negative_errno(lib.ibv_destroy_qp(POINTER(struct ibv_qp, qp))); }

/* What a list of requests came to: 0, or the errno of the one that was refused, and above it how many before it were
   posted. */
static jlong refused_after(jint result, jlong posted) { return posted << 32 | -(jlong)result; }

NATIVE(jlong, post_send, jlong qp, jlong list) {
  struct ibv_send_wr *request = POINTER(struct ibv_send_wr, list), *refused = request;
  const jint result = negative_errno(ibv_post_send(POINTER(struct ibv_qp, qp), request, &refused));
  if (!result) return 0;
  jlong posted = 0;
  for (; request && request != refused; request = request->next) posted++;
  return refused_after(result, posted);
}

static jlong posted_before(const struct ibv_recv_wr *request, const struct ibv_recv_wr *refused) {
  jlong posted = 0;
  for (; request && request != refused; request = request->next) posted++;
  return posted;
}

NATIVE(jlong, post_recv, jlong qp, jlong list) {
  struct ibv_recv_wr *const first = POINTER(struct ibv_recv_wr, list), *refused = first;
  const jint result = negative_errno(ibv_post_recv(POINTER(struct ibv_qp, qp), first, &refused));
  return result ? refused_after(result, posted_before(first, refused)) : 0;
}

NATIVE(jlong, post_srq_recv, jlong srq, jlong list) {
  struct ibv_recv_wr *const first = POINTER(struct ibv_recv_wr, list), *refused = first;
  const jint result = negative_errno(ibv_post_srq_recv(POINTER(struct ibv_srq, srq), first, &refused));
  return result ? refused_after(result, posted_before(first, refused)) : 0;
}

/* Takes asynchronous events of a context and acknowledges each; see get_cq_events. */
NATIVE(jint, get_async_events, jlong context, jlong into, jint max) {
  struct async_record *const records = POINTER(struct async_record, into);
  jint count = 0;
  while (count < max) {
    struct ibv_async_event event;
    errno = 0;
    const int result = lib.ibv_get_async_event(POINTER(struct ibv_context, context), &event);
    if (result) return count > 0 || errno == EAGAIN || errno == EINTR ? count : errno_of(result);
    struct async_record record = {.type = event.event_type};
    switch (event.event_type) {
      case IBV_EVENT_CQ_ERR:
        record.token = (uint64_t)(uintptr_t)event.element.cq->cq_context;
        break;
      case IBV_EVENT_QP_FATAL:
      case IBV_EVENT_QP_REQ_ERR:
      case IBV_EVENT_QP_ACCESS_ERR:
      case IBV_EVENT_COMM_EST:
      case IBV_EVENT_SQ_DRAINED:
      case IBV_EVENT_PATH_MIG:
      case IBV_EVENT_PATH_MIG_ERR:
      case IBV_EVENT_QP_LAST_WQE_REACHED:
        record.token = (uint64_t)(uintptr_t)event.element.qp->qp_context;
        break;
      case IBV_EVENT_SRQ_ERR:
      case IBV_EVENT_SRQ_LIMIT_REACHED:
        record.token = (uint64_t)(uintptr_t)event.element.srq->srq_context;
        break;
      case IBV_EVENT_PORT_ACTIVE:
      case IBV_EVENT_PORT_ERR:
        record.port = (uint32_t)event.element.port_num;
        break;
      default:
        break;
    }
    lib.ibv_ack_async_event(&event);
    records[count++] = record;
  }
  return count;
}

static const JNINativeMethod METHODS[] = {
    METHOD("layout", "()[I", layout),
    METHOD("address", "(Ljava/nio/ByteBuffer;)J", address),
    METHOD("deviceNames", "()Ljava/lang/String;", device_names),
    METHOD("deviceName", "(J)Ljava/lang/String;", device_name),
    METHOD("isIwarp", "(J)Z", is_iwarp),
    METHOD("asyncFd", "(J)I", async_fd),
    METHOD("queryDevice", "(JJ)I", query_device),
    METHOD("queryPort", "(JIJ)I", query_port),
    METHOD("allocPd", "(J)J", alloc_pd),
    METHOD("deallocPd", "(J)I", dealloc_pd),
    METHOD("regMr", "(JJJI)J", reg_mr),
    METHOD("deregMr", "(J)I", dereg_mr),
    METHOD("mrLkey", "(J)I", mr_lkey),
    METHOD("mrRkey", "(J)I", mr_rkey),
    METHOD("allocMw", "(JI)J", alloc_mw),
    METHOD("deallocMw", "(J)I", dealloc_mw),
    METHOD("mwRkey", "(J)I", mw_rkey),
    METHOD("bindMw", "(JJJJJIJI)I", bind_mw),
    METHOD("bindMw2", "(JJJJJIJI)I", bind_mw2),
    METHOD("createCompChannel", "(J)J", create_comp_channel),
    METHOD("destroyCompChannel", "(J)I", destroy_comp_channel),
    METHOD("compChannelFd", "(J)I", comp_channel_fd),
    METHOD("createCq", "(JIJJ)J", create_cq),
    METHOD("cqEntries", "(J)I", cq_entries),
    METHOD("resizeCq", "(JI)I", resize_cq),
    METHOD("destroyCq", "(J)I", destroy_cq),
    METHOD("pollCq0", "(JJI)I", poll_cq),
    METHOD("reqNotifyCq0", "(JI)I", req_notify_cq),
    METHOD("pollAndRearmCq0", "(JJII)I", poll_and_rearm_cq),
    METHOD("getCqEvents0", "(JJI)I", get_cq_events),
    METHOD("createSrq", "(JJII)J", create_srq),
    METHOD("armSrqLimit", "(JI)I", arm_srq_limit),
    METHOD("resizeSrq", "(JI)I", resize_srq),
    METHOD("destroySrq", "(J)I", destroy_srq),
    METHOD("createQp", "(JJJJJIIIII[I)J", create_qp),
    METHOD("qpNumber", "(J)I", qp_number),
    METHOD("modifyQpToError", "(J)I", modify_qp_to_error),
    METHOD("destroyQp", "(J)I", destroy_qp),
    METHOD("postSend0", "(JJ)J", post_send),
    METHOD("postRecv0", "(JJ)J", post_recv),
    METHOD("postSrqRecv0", "(JJ)J", post_srq_recv),
    METHOD("getAsyncEvents", "(JJI)I", get_async_events),
};

jint register_verbs(JNIEnv *env) {
  return register_table(env, "org/jdapl/rdmacore/jni/Verbs", METHODS, COUNT(METHODS));
}

/* Numbers that Java writes and reads as they are. */
_Static_assert(IBV_WR_RDMA_WRITE == 0 && IBV_WR_RDMA_WRITE_WITH_IMM == 1 && IBV_WR_SEND == 2 &&
                   IBV_WR_SEND_WITH_IMM == 3 && IBV_WR_RDMA_READ == 4 && IBV_WR_ATOMIC_CMP_AND_SWP == 5 &&
                   IBV_WR_ATOMIC_FETCH_AND_ADD == 6 && IBV_WR_SEND_WITH_INV == 9 &&
                   offsetof(struct ibv_send_wr, imm_data) == offsetof(struct ibv_send_wr, invalidate_rkey),
               "SendArea.java");
_Static_assert(IBV_MW_TYPE_1 == 1 && IBV_MW_TYPE_2 == 2, "RdmaMw.java");
_Static_assert(IBV_DEVICE_MEM_WINDOW_TYPE_2A == 1 << 23 && IBV_DEVICE_MEM_WINDOW_TYPE_2B == 1 << 24, "RdmaDevice.java");
_Static_assert(IBV_SEND_FENCE == 1 && IBV_SEND_SIGNALED == 2 && IBV_SEND_SOLICITED == 4 && IBV_SEND_INLINE == 8,
               "RdmaQp.java");
_Static_assert(IBV_WC_SEND == 0 && IBV_WC_RDMA_WRITE == 1 && IBV_WC_RDMA_READ == 2 && IBV_WC_COMP_SWAP == 3 &&
                   IBV_WC_FETCH_ADD == 4 && IBV_WC_BIND_MW == 5 && IBV_WC_LOCAL_INV == 6 && IBV_WC_RECV == 128 &&
                   IBV_WC_RECV_RDMA_WITH_IMM == 129 && IBV_WC_WITH_IMM == 2 && IBV_WC_WITH_INV == 8 &&
                   offsetof(struct ibv_wc, imm_data) == offsetof(struct ibv_wc, invalidated_rkey),
               "RdmaCq.java");
_Static_assert(IBV_ACCESS_LOCAL_WRITE == 1 && IBV_ACCESS_REMOTE_WRITE == 2 && IBV_ACCESS_REMOTE_READ == 4 &&
                   IBV_ACCESS_REMOTE_ATOMIC == 8 && IBV_ACCESS_MW_BIND == 16,
               "RdmaMr.java");
_Static_assert(IBV_EVENT_CQ_ERR == 0 && IBV_EVENT_QP_FATAL == 1 && IBV_EVENT_QP_REQ_ERR == 2 &&
                   IBV_EVENT_QP_ACCESS_ERR == 3 && IBV_EVENT_COMM_EST == 4 && IBV_EVENT_DEVICE_FATAL == 8 &&
                   IBV_EVENT_PORT_ACTIVE == 9 && IBV_EVENT_PORT_ERR == 10 && IBV_EVENT_SRQ_ERR == 14 &&
                   IBV_EVENT_SRQ_LIMIT_REACHED == 15 && IBV_EVENT_QP_LAST_WQE_REACHED == 16,
               "RdmaContext.java");
