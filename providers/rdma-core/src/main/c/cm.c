/* The connection manager. Its ids own no queue pair: what librdmacm would do to one is done here, when Java says so. */
#include "jdapl.h"

#include <netinet/in.h>
#include <stddef.h>

/* How long a peer waits that found no receive, unless the consumer says: 0.64 ms. That of the connection manager, 0,
 * stands for 655 ms. */
#define MIN_RNR_TIMER 12

/* The most private data an event carries. */
#define PRIVATE_DATA 256

/* An event as it crosses to Java. */
struct cm_record {
  uint64_t token;  /* of the id it is about, or of the listener */
  uint64_t new_id; /* of a connection request: an id that Java owns from now on */
  int32_t type;
  int32_t status;
  int32_t reads_in;  /* responder resources and initiator depth, of a request or an answer */
  int32_t reads_out;
  uint32_t scope; /* of the peer's address */
  int32_t address_length;
  uint8_t address[16];
  int32_t private_length;
  uint8_t private_data[PRIVATE_DATA];
};

NATIVE(jintArray, layout) {
  const jint values[] = {
      sizeof(struct cm_record),
      offsetof(struct cm_record, token),
      offsetof(struct cm_record, new_id),
      offsetof(struct cm_record, type),
      offsetof(struct cm_record, status),
      offsetof(struct cm_record, reads_in),
      offsetof(struct cm_record, reads_out),
      offsetof(struct cm_record, scope),
      offsetof(struct cm_record, address_length),
      offsetof(struct cm_record, address),
      offsetof(struct cm_record, private_length),
      offsetof(struct cm_record, private_data),
  };
  const jintArray array = (*env)->NewIntArray(env, COUNT(values));
  if (array) (*env)->SetIntArrayRegion(env, array, 0, COUNT(values), values);
  return array;
}

NATIVE(jlong, create_event_channel) { return pointer_or_errno(lib.rdma_create_event_channel()); }

NATIVE(void, destroy_event_channel, jlong channel) {
  lib.rdma_destroy_event_channel(POINTER(struct rdma_event_channel, channel));
}

NATIVE(jint, event_channel_fd, jlong channel) { return POINTER(struct rdma_event_channel, channel)->fd; }

NATIVE(jlong, create_id, jlong channel, jlong token) {
  struct rdma_cm_id *id = NULL;
  const jint result = negative_errno(
      lib.rdma_create_id(POINTER(struct rdma_event_channel, channel), &id, POINTER(void, token), RDMA_PS_TCP));
  return result ? result : (jlong)(intptr_t)id;
}

NATIVE(void, set_token, jlong id, jlong token) { POINTER(struct rdma_cm_id, id)->context = POINTER(void, token); }

NATIVE(jint, destroy_id, jlong id) { return negative_errno(lib.rdma_destroy_id(POINTER(struct rdma_cm_id, id))); }

NATIVE(jlong, context, jlong id) { return (jlong)(intptr_t)POINTER(struct rdma_cm_id, id)->verbs; }

NATIVE(jint, port, jlong id) { return POINTER(struct rdma_cm_id, id)->port_num; }

/* Of an id whose peer has gone the kernel says EINVAL, as of much else, and drivers of iWARP what their socket says. It
 * has a name of its own from where it means nothing else. */
static jint or_gone(jint result) {
  return result == -EINVAL || result == -ECONNRESET || result == -EPIPE ? -ENOTCONN : result;
}

union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
  struct sockaddr_storage room;
};

static void read_address(JNIEnv *env, jbyteArray bytes, jint scope, jint service, union address *to) {
  memset(to, 0, sizeof *to);
  if ((*env)->GetArrayLength(env, bytes) == 4) {
    to->v4.sin_family = AF_INET;
    to->v4.sin_port = htons((uint16_t)service);
    (*env)->GetByteArrayRegion(env, bytes, 0, 4, (jbyte *)&to->v4.sin_addr);
  } else {
    to->v6.sin6_family = AF_INET6;
    to->v6.sin6_port = htons((uint16_t)service);
    to->v6.sin6_scope_id = (uint32_t)scope;
    (*env)->GetByteArrayRegion(env, bytes, 0, 16, (jbyte *)&to->v6.sin6_addr);
  }
}

NATIVE(jint, bind_addr, jlong id, jbyteArray bytes, jint scope, jint service) {
  union address address;
  read_address(env, bytes, scope, service, &address);
  return negative_errno(lib.rdma_bind_addr(POINTER(struct rdma_cm_id, id), &address.any));
}

NATIVE(jint, listen_id, jlong id, jint backlog) {
  return negative_errno(lib.rdma_listen(POINTER(struct rdma_cm_id, id), backlog));
}

NATIVE(jint, source_port, jlong id) { return ntohs(lib.rdma_get_src_port(POINTER(struct rdma_cm_id, id))); }

NATIVE(jint, resolve_addr, jlong id, jbyteArray bytes, jint scope, jint service, jint timeout_millis) {
  union address address;
  read_address(env, bytes, scope, service, &address);
  return negative_errno(
      lib.rdma_resolve_addr(POINTER(struct rdma_cm_id, id), NULL, &address.any, timeout_millis));
}

NATIVE(jint, resolve_route, jlong id, jint timeout_millis) {
  return negative_errno(lib.rdma_resolve_route(POINTER(struct rdma_cm_id, id), timeout_millis));
}

/* What a queue pair gets from its own side. The connection manager has only the peer's word for some of it: it would
 * send to a peer without a receive as often as the peer said, and on the passive side to one that does not answer. */
struct own {
  int of_peer; /* there is one */
  int reads;
  int rnr_timer;   /* code; below 0 for MIN_RNR_TIMER */
  int ack_timeout; /* code; below 0 for what suits the path */
  int retries;
  int rnr_retries;
};

static int modify_qp(struct rdma_cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state, int access,
                     const struct own *own) {
  struct ibv_qp_attr attr = {.qp_state = state};
  int mask = 0;
  const jint result = negative_errno(lib.rdma_init_qp_attr(id, &attr, &mask));
  if (result) return own->of_peer ? or_gone(result) : result;
  if (mask & IBV_QP_ACCESS_FLAGS) attr.qp_access_flags |= (unsigned int)access;
  if (mask & IBV_QP_MIN_RNR_TIMER) attr.min_rnr_timer = (uint8_t)(own->rnr_timer < 0 ? MIN_RNR_TIMER : own->rnr_timer);
  if (mask & IBV_QP_MAX_DEST_RD_ATOMIC) attr.max_dest_rd_atomic = (uint8_t)own->reads;
  if (mask & IBV_QP_MAX_QP_RD_ATOMIC) attr.max_rd_atomic = (uint8_t)own->reads;
  if ((mask & IBV_QP_TIMEOUT) && own->ack_timeout >= 0) attr.timeout = (uint8_t)own->ack_timeout;
  if (mask & IBV_QP_RETRY_CNT) attr.retry_cnt = (uint8_t)own->retries;
  if (mask & IBV_QP_RNR_RETRY) attr.rnr_retry = (uint8_t)own->rnr_retries;
  mask &= ~0xe00000; /* bits the kernel sets for RoCE and verbs does not know; librdmacm clears them too */
  return negative_errno(lib.ibv_modify_qp(qp, &attr, mask));
}

/* To INIT: receives may be posted. */
NATIVE(jint, init_qp, jlong id, jlong qp, jint access) {
  const struct own none = {0};
  return modify_qp(POINTER(struct rdma_cm_id, id), POINTER(struct ibv_qp, qp), IBV_QPS_INIT, access, &none);
}

/* From INIT to RTR, with what the id knows by now. */
NATIVE(jint, ready_to_receive, jlong id, jlong qp, jint reads_in, jint rnr_timer, jint access) {
  struct rdma_cm_id *const from = POINTER(struct rdma_cm_id, id);
  struct ibv_qp *const to = POINTER(struct ibv_qp, qp);
  const struct own own = {.of_peer = 1, .reads = reads_in, .rnr_timer = rnr_timer};
  const jint result = modify_qp(from, to, IBV_QPS_INIT, access, &own);
  return result ? result : modify_qp(from, to, IBV_QPS_RTR, access, &own);
}

/* From RTR to RTS, likewise. */
NATIVE(jint, ready_to_send, jlong id, jlong qp, jint reads_out, jint ack_timeout, jint retries, jint rnr_retries,
       jint access) {
  const struct own own = {
      .of_peer = 1, .reads = reads_out, .ack_timeout = ack_timeout, .retries = retries, .rnr_retries = rnr_retries};
  return modify_qp(POINTER(struct rdma_cm_id, id), POINTER(struct ibv_qp, qp), IBV_QPS_RTS, access, &own);
}

/* What connect and accept say to the peer. */
static void fill(JNIEnv *env, struct rdma_conn_param *param, jint qp_number, jint srq, jint reads_in, jint reads_out,
                 jint retries, jint rnr_retries, jbyteArray data, uint8_t *room) {
  memset(param, 0, sizeof *param);
  const jsize length = (*env)->GetArrayLength(env, data);
  (*env)->GetByteArrayRegion(env, data, 0, length, (jbyte *)room);
  param->private_data = length ? room : NULL;
  param->private_data_len = (uint8_t)length;
  param->responder_resources = (uint8_t)reads_in;
  param->initiator_depth = (uint8_t)reads_out;
  param->flow_control = 1;
  param->retry_count = (uint8_t)retries;
  param->rnr_retry_count = (uint8_t)rnr_retries;
  param->srq = (uint8_t)srq;
  param->qp_num = (uint32_t)qp_number;
}

NATIVE(jint, connect_id, jlong id, jint qp_number, jint srq, jint reads_in, jint reads_out, jint retries,
       jint rnr_retries, jbyteArray data) {
  struct rdma_conn_param param;
  uint8_t room[PRIVATE_DATA];
  fill(env, &param, qp_number, srq, reads_in, reads_out, retries, rnr_retries, data, room);
  return negative_errno(lib.rdma_connect(POINTER(struct rdma_cm_id, id), &param));
}

NATIVE(jint, establish, jlong id) { return negative_errno(lib.rdma_establish(POINTER(struct rdma_cm_id, id))); }

NATIVE(jint, accept_id, jlong id, jint qp_number, jint srq, jint reads_in, jint reads_out, jint rnr_retries,
       jbyteArray data) {
  struct rdma_conn_param param;
  uint8_t room[PRIVATE_DATA];
  fill(env, &param, qp_number, srq, reads_in, reads_out, 0, rnr_retries, data, room);
  return or_gone(negative_errno(lib.rdma_accept(POINTER(struct rdma_cm_id, id), &param)));
}

/* The consumer says no. */
NATIVE(jint, reject, jlong id, jbyteArray data) {
  uint8_t room[PRIVATE_DATA];
  const jsize length = (*env)->GetArrayLength(env, data);
  (*env)->GetByteArrayRegion(env, data, 0, length, (jbyte *)room);
  return or_gone(
      negative_errno(lib.rdma_reject(POINTER(struct rdma_cm_id, id), length ? room : NULL, (uint8_t)length)));
}

/* Not the consumer says no. The kernel lets one reason through besides the consumer's: "vendor option not supported". */
NATIVE(jint, refuse, jlong id) {
  return or_gone(negative_errno(lib.rdma_reject_ece(POINTER(struct rdma_cm_id, id), NULL, 0)));
}

NATIVE(jint, disconnect, jlong id) { return negative_errno(lib.rdma_disconnect(POINTER(struct rdma_cm_id, id))); }

NATIVE(jint, notify_established, jlong id) {
  return negative_errno(lib.rdma_notify(POINTER(struct rdma_cm_id, id), IBV_EVENT_COMM_EST));
}

static void copy_peer(const struct rdma_cm_id *id, struct cm_record *record) {
  const struct sockaddr *const peer = &id->route.addr.dst_addr;
  if (peer->sa_family == AF_INET6) {
    const struct sockaddr_in6 *const v6 = (const struct sockaddr_in6 *)peer;
    record->address_length = 16;
    record->scope = v6->sin6_scope_id;
    memcpy(record->address, &v6->sin6_addr, 16);
  } else {
    record->address_length = 4;
    memcpy(record->address, &((const struct sockaddr_in *)peer)->sin_addr, 4);
  }
}

/* Takes events off a channel, acknowledges each, and writes what it said. */
NATIVE(jint, get_events, jlong channel, jlong into, jint max) {
  struct cm_record *const records = POINTER(struct cm_record, into);
  jint count = 0;
  while (count < max) {
    struct rdma_cm_event *event;
    errno = 0;
    const int result = lib.rdma_get_cm_event(POINTER(struct rdma_event_channel, channel), &event);
    if (result) return count > 0 || errno == EAGAIN || errno == EINTR ? count : errno_of(result);
    struct cm_record *const record = &records[count];
    memset(record, 0, offsetof(struct cm_record, private_data));
    const int asks = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
    record->token = (uint64_t)(uintptr_t)(asks ? event->listen_id : event->id)->context;
    record->new_id = asks ? (uint64_t)(uintptr_t)event->id : 0;
    record->type = (int32_t)event->event;
    record->status = event->status;
    switch (event->event) {
      case RDMA_CM_EVENT_CONNECT_REQUEST:
        copy_peer(event->id, record);
        /* fall through */
      case RDMA_CM_EVENT_CONNECT_RESPONSE:
      case RDMA_CM_EVENT_ESTABLISHED:
      case RDMA_CM_EVENT_REJECTED:
        record->reads_in = event->param.conn.responder_resources;
        record->reads_out = event->param.conn.initiator_depth;
        if (event->param.conn.private_data) {
          record->private_length = event->param.conn.private_data_len;
          memcpy(record->private_data, event->param.conn.private_data, event->param.conn.private_data_len);
        }
        break;
      default:
        break;
    }
    lib.rdma_ack_cm_event(event);
    count++;
  }
  return count;
}

static const JNINativeMethod METHODS[] = {
    METHOD("layout", "()[I", layout),
    METHOD("createEventChannel", "()J", create_event_channel),
    METHOD("destroyEventChannel", "(J)V", destroy_event_channel),
    METHOD("eventChannelFd", "(J)I", event_channel_fd),
    METHOD("createId", "(JJ)J", create_id),
    METHOD("setToken", "(JJ)V", set_token),
    METHOD("destroyId", "(J)I", destroy_id),
    METHOD("context", "(J)J", context),
    METHOD("port", "(J)I", port),
    METHOD("bindAddr", "(J[BII)I", bind_addr),
    METHOD("listen", "(JI)I", listen_id),
    METHOD("sourcePort", "(J)I", source_port),
    METHOD("resolveAddr", "(J[BIII)I", resolve_addr),
    METHOD("resolveRoute", "(JI)I", resolve_route),
    METHOD("initQp", "(JJI)I", init_qp),
    METHOD("readyToReceive", "(JJIII)I", ready_to_receive),
    METHOD("readyToSend", "(JJIIIII)I", ready_to_send),
    METHOD("connect", "(JIIIIII[B)I", connect_id),
    METHOD("establish", "(J)I", establish),
    METHOD("accept", "(JIIIII[B)I", accept_id),
    METHOD("reject", "(J[B)I", reject),
    METHOD("refuse", "(J)I", refuse),
    METHOD("disconnect", "(J)I", disconnect),
    METHOD("notifyEstablished", "(J)I", notify_established),
    METHOD("getEvents", "(JJI)I", get_events),
};

jint register_cm(JNIEnv *env) { return register_table(env, "org/jdapl/rdmacore/jni/Cm", METHODS, COUNT(METHODS)); }

/* Numbers that Java reads as they are. */
_Static_assert(RDMA_CM_EVENT_ADDR_RESOLVED == 0 && RDMA_CM_EVENT_ADDR_ERROR == 1 &&
                   RDMA_CM_EVENT_ROUTE_RESOLVED == 2 && RDMA_CM_EVENT_ROUTE_ERROR == 3 &&
                   RDMA_CM_EVENT_CONNECT_REQUEST == 4 && RDMA_CM_EVENT_CONNECT_RESPONSE == 5 &&
                   RDMA_CM_EVENT_CONNECT_ERROR == 6 && RDMA_CM_EVENT_UNREACHABLE == 7 &&
                   RDMA_CM_EVENT_REJECTED == 8 && RDMA_CM_EVENT_ESTABLISHED == 9 &&
                   RDMA_CM_EVENT_DISCONNECTED == 10 && RDMA_CM_EVENT_DEVICE_REMOVAL == 11 &&
                   RDMA_CM_EVENT_TIMEWAIT_EXIT == 15,
               "CmEvents.java");
