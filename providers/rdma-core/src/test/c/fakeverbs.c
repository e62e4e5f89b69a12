/* A small libibverbs and librdmacm in one, for tests: a loopback transport of reliable queue pairs inside the process,
   that does everything at once. It counts its calls and its live objects, and can fail the n-th call. What a caller does
   against the rules that the real libraries do not check, or punish with a hang, is kept as a violation. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <jni.h>
#include <netinet/in.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define UNUSED __attribute__((unused))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Calls, live objects, violations. */

enum kind { PD, MR, MW, COMP_CHANNEL, CQ, SRQ, QP, EVENT_CHANNEL, ID, EVENT, KINDS };
static const char *const KIND_NAMES[] = {"pd", "mr", "mw", "comp_channel", "cq", "srq", "qp", "event_channel", "id",
                                         "event"};
static long live[KINDS];
static long calls, fail_at;
static int fail_errno; /* below 0: an errno as some drivers have it, negated and not in errno */
static char fail_name[64];
static char failed_name[64];
static char failed[4096];
static char called[4096];
static uint64_t sequence;
static char violations[4096];
static int no_devices;
static int overrun; /* the mistake to plant: one completion more than there is room for */

static void violation(const char *what) {
  strncat(violations, what, sizeof violations - strlen(violations) - 2);
  strcat(violations, "\n");
}

/* Adds a line to a set of lines. */
static void remember(char *set, size_t size, const char *name) {
  char word[80];
  snprintf(word, sizeof word, "%s\n", name);
  const char *found = strstr(set, word);
  while (found && found != set && found[-1] != '\n') found = strstr(found + 1, word);
  if (!found) strncat(set, word, size - strlen(set) - 1);
}

/* Remembers that a verb was called. Called with the lock held. */
static void note(const char *name) {
  remember(called, sizeof called, name);
  for (const char *at = name; *at; at++) sequence = (sequence ^ (uint64_t)*at) * 0x100000001B3;
}

/* Counts a call; whether it is the one to fail. Called with the lock held. */
static int fails(const char *name) {
  note(name);
  if (++calls != fail_at && strcmp(fail_name, name)) return 0;
  fail_name[0] = '\0';
  snprintf(failed_name, sizeof failed_name, "%s", name);
  remember(failed, sizeof failed, name);
  errno = fail_errno > 0 ? fail_errno : 0;
  return 1;
}

/* A call that is done and does not return before it may. */

static pthread_mutex_t pause_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pause_changed = PTHREAD_COND_INITIALIZER;
static char pause_name[64];
static int paused;

static void pause_after(const char *const *name) {
  const int kept = errno;
  pthread_mutex_lock(&pause_lock);
  if (!strcmp(pause_name, *name)) {
    pause_name[0] = '\0';
    paused = 1;
    pthread_cond_broadcast(&pause_changed);
    while (paused) pthread_cond_wait(&pause_changed, &pause_lock);
  }
  pthread_mutex_unlock(&pause_lock);
  errno = kept;
}

/* What is left last is declared first. */
#define LOCKED                                                                 \
  __attribute__((cleanup(pause_after))) UNUSED const char *verb = __func__;    \
  __attribute__((cleanup(unlock))) UNUSED int locked = (pthread_mutex_lock(&lock), 1)
static void unlock(UNUSED int *locked) { pthread_mutex_unlock(&lock); }

static pthread_cond_t acked = PTHREAD_COND_INITIALIZER;

/* What the real libraries wait for without limit; a thread that reads and acknowledges ends it soon. */
static void await_acks(const int *unacked, const char *hangs) {
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 10;
  while (*unacked) {
    if (pthread_cond_timedwait(&acked, &lock, &limit)) {
      violation(hangs);
      return;
    }
  }
}

#define CANNOT_FAIL \
  LOCKED;           \
  note(__func__)
#define OR_ERRNO \
  LOCKED;        \
  if (fails(__func__)) return fail_errno
#define OR_MINUS \
  LOCKED;        \
  if (fails(__func__)) return fail_errno < 0 ? fail_errno : -1
#define OR_NULL \
  LOCKED;       \
  if (fails(__func__)) return NULL

static void *make(enum kind kind, size_t size) {
  live[kind]++;
  return calloc(1, size);
}

static void drop(enum kind kind, void *object) {
  live[kind]--;
  free(object);
}

static int refuse(int code) {
  errno = code;
  return -1;
}

/* Queues of events behind an eventfd. */

struct item {
  struct item *next;
};

struct events {
  struct item *first, **last;
};

static void events_init(struct events *events) { events->last = &events->first; }

static void events_add(struct events *events, int fd, struct item *item) {
  item->next = NULL;
  *events->last = item;
  events->last = &item->next;
  (void)eventfd_write(fd, 1);
}

static struct item *events_take(struct events *events) {
  struct item *const item = events->first;
  if (item) {
    events->first = item->next;
    if (!events->first) events->last = &events->first;
  }
  return item;
}

/* Takes the next event, or fails as a descriptor that has none. */
static struct item *events_get(struct events *events, int fd) {
  eventfd_t one;
  if (eventfd_read(fd, &one)) return NULL;
  return events_take(events);
}

/* Drops what was not read yet and is of an object that ends. */
static void events_purge(struct events *events, int fd, int (*is_of)(struct item *, void *), void *object) {
  struct item **link = &events->first;
  while (*link) {
    struct item *const item = *link;
    if (is_of(item, object)) {
      eventfd_t one;
      *link = item->next;
      (void)eventfd_read(fd, &one);
      free(item);
    } else {
      link = &item->next;
    }
  }
  events->last = link;
}

/* The device. */

struct async_item {
  struct item item;
  struct ibv_async_event event;
};

static struct ibv_context context;
static struct ibv_device device = {.transport_type = IBV_TRANSPORT_IB, .name = "fake0", .dev_name = "uverbs0"};
static struct events async_events;

#define INLINE 64

/* What a device may have, or not. */
static struct {
  int vendor, srqs, windows, windows_2, atomics, inline_data;
} has;

static void async_add(enum ibv_event_type type, void *element, int port) {
  struct async_item *const item = calloc(1, sizeof *item);
  item->event.event_type = type;
  item->event.element.cq = element;
  if (port) item->event.element.port_num = port;
  events_add(&async_events, context.async_fd, &item->item);
}

static int async_is_of(struct item *item, void *object) { return ((struct async_item *)item)->event.element.cq == object; }

EXPORT struct ibv_device **ibv_get_device_list(int *count) {
  OR_NULL;
  struct ibv_device **const list = calloc(2, sizeof *list);
  if (!no_devices) list[0] = &device;
  if (count) *count = !no_devices;
  return list;
}

EXPORT void ibv_free_device_list(struct ibv_device **list) {
  CANNOT_FAIL;
  free(list);
}

EXPORT const char *ibv_get_device_name(struct ibv_device *of) {
  CANNOT_FAIL;
  return of->name;
}

#define MOST 2000 /* objects of a kind; nobody counts them */

EXPORT int ibv_query_device(UNUSED struct ibv_context *of, struct ibv_device_attr *attr) {
  OR_ERRNO;
  memset(attr, 0, sizeof *attr);
  attr->max_qp = MOST;
  attr->max_qp_wr = 4096;
  attr->max_sge = 8;
  attr->max_cq = MOST;
  attr->max_cqe = 4096;
  attr->max_mr = MOST;
  attr->max_pd = MOST;
  attr->max_qp_rd_atom = 16;
  attr->max_qp_init_rd_atom = 16;
  attr->vendor_id = (uint32_t)has.vendor;
  attr->vendor_part_id = (uint32_t)has.vendor * 7;
  attr->atomic_cap = has.atomics ? IBV_ATOMIC_HCA : IBV_ATOMIC_NONE;
  attr->max_srq = has.srqs;
  attr->device_cap_flags = has.srqs ? IBV_DEVICE_SRQ_RESIZE : 0;
  attr->max_srq_wr = has.srqs ? 4096 : 0;
  attr->max_srq_sge = has.srqs ? 8 : 0;
  attr->max_mw = has.windows;
  attr->device_cap_flags |= has.windows_2 ? IBV_DEVICE_MEM_WINDOW_TYPE_2B : 0;
  return 0;
}

#undef ibv_query_port
EXPORT int ibv_query_port(UNUSED struct ibv_context *of, UNUSED uint8_t port, struct _compat_ibv_port_attr *into) {
  OR_ERRNO;
  struct ibv_port_attr *const attr = (struct ibv_port_attr *)into;
  attr->state = IBV_PORT_ACTIVE;
  attr->max_msg_sz = 1u << 27;
  return 0;
}

EXPORT int ibv_get_async_event(UNUSED struct ibv_context *of, struct ibv_async_event *event) {
  OR_MINUS;
  struct async_item *const item = (struct async_item *)events_get(&async_events, context.async_fd);
  if (!item) return -1;
  *event = item->event;
  live[EVENT]++;
  free(item);
  return 0;
}

EXPORT void ibv_ack_async_event(UNUSED struct ibv_async_event *event) {
  CANNOT_FAIL;
  live[EVENT]--;
}

/* Memory. */

#define KEYS 256

struct fake_mr {
  struct ibv_mr mr;
  int access;
};

struct fake_mw {
  struct ibv_mw mw;
  struct fake_mr *mr;
  uint64_t addr, length;
  unsigned int access;
  struct ibv_qp *qp; /* of type 2: the one it is bound at */
};

static struct fake_mr *regions[KEYS];
static struct fake_mw *windows[KEYS];
static unsigned int next_key = 1;

struct fake_pd {
  struct ibv_pd pd;
  long users;
};

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *of) {
  OR_NULL;
  struct fake_pd *const pd = make(PD, sizeof *pd);
  pd->pd.context = of;
  return &pd->pd;
}

EXPORT int ibv_dealloc_pd(struct ibv_pd *pd) {
  OR_ERRNO;
  if (((struct fake_pd *)pd)->users) return EBUSY;
  drop(PD, pd);
  return 0;
}

static void *use_pd(struct ibv_pd *pd) {
  ((struct fake_pd *)pd)->users++;
  return pd;
}

static void leave_pd(struct ibv_pd *pd) { ((struct fake_pd *)pd)->users--; }

#undef ibv_reg_mr
EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access) {
  OR_NULL;
  if (((access & IBV_ACCESS_REMOTE_ATOMIC) && !has.atomics) || ((access & IBV_ACCESS_MW_BIND) && !has.windows)) {
    errno = EINVAL;
    return NULL;
  }
  struct fake_mr *const mr = make(MR, sizeof *mr);
  while (regions[next_key % KEYS] || windows[next_key % KEYS] || next_key % KEYS == 0) next_key++;
  mr->mr = (struct ibv_mr){.context = &context, .pd = use_pd(pd), .addr = addr, .length = length};
  mr->mr.lkey = mr->mr.rkey = next_key;
  mr->access = access;
  regions[next_key++ % KEYS] = mr;
  return &mr->mr;
}

EXPORT int ibv_dereg_mr(struct ibv_mr *mr) {
  OR_ERRNO;
  for (int i = 0; i < KEYS; i++)
    if (windows[i] && windows[i]->mr == (struct fake_mr *)mr) return EBUSY;
  regions[mr->lkey % KEYS] = NULL;
  leave_pd(mr->pd);
  drop(MR, mr);
  return 0;
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type) {
  OR_NULL;
  if (!has.windows || (type == IBV_MW_TYPE_2 && !has.windows_2)) {
    errno = EOPNOTSUPP;
    return NULL;
  }
  struct fake_mw *const mw = make(MW, sizeof *mw);
  while (regions[next_key % KEYS] || windows[next_key % KEYS] || next_key % KEYS == 0) next_key++;
  mw->mw = (struct ibv_mw){.context = &context, .pd = use_pd(pd), .type = type, .rkey = next_key};
  windows[next_key++ % KEYS] = mw;
  return &mw->mw;
}

static int dealloc_mw(struct ibv_mw *mw) {
  OR_ERRNO;
  for (int i = 0; i < KEYS; i++) /* a bind of type 2 that was flushed has changed its key */
    if (windows[i] == (struct fake_mw *)mw) windows[i] = NULL;
  leave_pd(mw->pd);
  drop(MW, mw);
  return 0;
}

/* Ends a window of type 2 that a queue pair has bound; not 0 if there is none. */
static int invalidate(struct ibv_qp *qp, uint32_t rkey) {
  struct fake_mw *const mw = windows[rkey % KEYS];
  if (!mw || mw->mw.rkey != rkey || !mw->mr || mw->qp != qp) return -1;
  mw->mr = NULL;
  mw->qp = NULL;
  return 0;
}

static void *local(struct ibv_pd *pd, const struct ibv_sge *sge, int access) {
  struct fake_mr *const mr = regions[sge->lkey % KEYS];
  if (!mr || mr->mr.lkey != sge->lkey || mr->mr.pd != pd || (mr->access & access) != access) return NULL;
  const uint64_t start = (uint64_t)(uintptr_t)mr->mr.addr;
  if (sge->addr < start || sge->addr + sge->length > start + mr->mr.length) return NULL;
  return (void *)(uintptr_t)sge->addr;
}

static void *remote(struct ibv_qp *qp, uint32_t rkey, uint64_t addr, uint64_t length, int access) {
  struct ibv_pd *const pd = qp->pd;
  struct fake_mr *const mr = regions[rkey % KEYS];
  struct fake_mw *const mw = windows[rkey % KEYS];
  uint64_t start, size;
  if (mr && mr->mr.rkey == rkey) {
    if (mr->mr.pd != pd || !(mr->access & access)) return NULL;
    start = (uint64_t)(uintptr_t)mr->mr.addr;
    size = mr->mr.length;
  } else if (mw && mw->mw.rkey == rkey && mw->mr) {
    if (mw->mw.pd != pd || (mw->qp && mw->qp != qp) || !(mw->access & (unsigned int)access)) return NULL;
    start = mw->addr;
    size = mw->length;
  } else {
    return NULL;
  }
  return addr < start || addr + length > start + size ? NULL : (void *)(uintptr_t)addr;
}

/* Completion queues. */

struct fake_channel {
  struct ibv_comp_channel channel;
  struct events events;
};

struct cq_item {
  struct item item;
  struct fake_cq *cq;
};

struct fake_cq {
  struct ibv_cq cq;
  struct ibv_wc *ring;
  int head, count, armed, broken, users, unacked;
};

EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *of) {
  OR_NULL;
  struct fake_channel *const channel = make(COMP_CHANNEL, sizeof *channel);
  channel->channel.context = of;
  channel->channel.fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
  events_init(&channel->events);
  return &channel->channel;
}

EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *channel) {
  OR_ERRNO;
  if (channel->refcnt) return EBUSY;
  close(channel->fd);
  drop(COMP_CHANNEL, channel);
  return 0;
}

EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *of, int entries, void *cq_context,
                                    struct ibv_comp_channel *channel, UNUSED int vector) {
  OR_NULL;
  struct fake_cq *const cq = make(CQ, sizeof *cq);
  cq->cq.context = of;
  cq->cq.channel = channel;
  cq->cq.cq_context = cq_context;
  cq->cq.cqe = entries + 1; /* a device may give more than was asked for */
  cq->ring = calloc((size_t)entries + 1, sizeof *cq->ring);
  if (channel) channel->refcnt++;
  return &cq->cq;
}

EXPORT int ibv_resize_cq(struct ibv_cq *of, int entries) {
  OR_ERRNO;
  struct fake_cq *const cq = (struct fake_cq *)of;
  if (entries < cq->count) return EINVAL;
  struct ibv_wc *const ring = calloc((size_t)entries, sizeof *ring);
  for (int i = 0; i < cq->count; i++) ring[i] = cq->ring[(cq->head + i) % cq->cq.cqe];
  free(cq->ring);
  cq->ring = ring;
  cq->head = 0;
  cq->cq.cqe = entries;
  return 0;
}

static int cq_is_of(struct item *item, void *cq) { return ((struct cq_item *)item)->cq == cq; }

EXPORT int ibv_destroy_cq(struct ibv_cq *of) {
  OR_ERRNO;
  struct fake_cq *const cq = (struct fake_cq *)of;
  if (cq->users) return EBUSY;
  await_acks(&cq->unacked, "ibv_destroy_cq hangs: events are not acknowledged");
  events_purge(&async_events, context.async_fd, async_is_of, cq);
  if (of->channel) {
    events_purge(&((struct fake_channel *)of->channel)->events, of->channel->fd, cq_is_of, cq);
    of->channel->refcnt--;
  }
  free(cq->ring);
  memset(cq, 0xDB, sizeof *cq);
  drop(CQ, cq);
  return 0;
}

EXPORT int ibv_get_cq_event(struct ibv_comp_channel *of, struct ibv_cq **into, void **cq_context) {
  OR_MINUS;
  struct cq_item *const item = (struct cq_item *)events_get(&((struct fake_channel *)of)->events, of->fd);
  if (!item) return -1;
  *into = &item->cq->cq;
  *cq_context = item->cq->cq.cq_context;
  item->cq->unacked++;
  live[EVENT]++;
  free(item);
  return 0;
}

EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count) {
  CANNOT_FAIL;
  ((struct fake_cq *)cq)->unacked -= (int)count;
  pthread_cond_broadcast(&acked);
  live[EVENT] -= count;
}

static void cq_add(struct ibv_cq *of, const struct ibv_wc *wc, int solicited) {
  struct fake_cq *const cq = (struct fake_cq *)of;
  if (cq->broken) return;
  if (cq->count == of->cqe) {
    cq->broken = 1;
    async_add(IBV_EVENT_CQ_ERR, cq, 0);
    return;
  }
  cq->ring[(cq->head + cq->count++) % of->cqe] = *wc;
  if (cq->armed == 1 || (cq->armed == 2 && (solicited || wc->status))) {
    cq->armed = 0;
    struct cq_item *const item = calloc(1, sizeof *item);
    item->cq = cq;
    events_add(&((struct fake_channel *)of->channel)->events, of->channel->fd, &item->item);
  }
}

static int poll_cq(struct ibv_cq *of, int max, struct ibv_wc *into) {
  OR_MINUS;
  struct fake_cq *const cq = (struct fake_cq *)of;
  if (cq->broken) return -1;
  int taken = 0;
  while (taken < max && cq->count) {
    into[taken++] = cq->ring[cq->head];
    cq->head = (cq->head + 1) % of->cqe;
    cq->count--;
  }
  if (overrun) memset(&into[max], 0x55, sizeof *into);
  return taken;
}

static int req_notify_cq(struct ibv_cq *of, int solicited) {
  OR_ERRNO;
  struct fake_cq *const cq = (struct fake_cq *)of;
  if (cq->armed != 1) cq->armed = solicited ? 2 : 1;
  return 0;
}

/* Queue pairs. */

#define MAX_SGE 8

struct wqe {
  struct ibv_send_wr send;
  uint64_t wr_id;
  int num_sge;
  struct ibv_sge sge[MAX_SGE];
  uint8_t data[INLINE];
};

struct ring {
  struct wqe *wqes;
  unsigned int head, count, max, max_sge;
};

struct fake_srq {
  struct ibv_srq srq;
  struct ring ring;
  uint32_t limit;
  int users;
};

struct fake_qp {
  struct ibv_qp qp;
  struct ring sends, recvs;
  uint32_t peer;
  int answers_no_read; /* it was told that it answers none */
  struct ibv_qp_attr attr; /* what it was last told of each */
};

static struct fake_qp *qps[KEYS];
static uint32_t next_qp = 1;

static void ring_init(struct ring *ring, unsigned int max, unsigned int max_sge) {
  ring->wqes = calloc(max ? max : 1, sizeof *ring->wqes);
  ring->max = max;
  ring->max_sge = max_sge;
}

static struct wqe *ring_add(struct ring *ring) {
  return ring->count == ring->max ? NULL : &ring->wqes[(ring->head + ring->count++) % ring->max];
}

static struct wqe *ring_first(struct ring *ring) { return ring->count ? &ring->wqes[ring->head] : NULL; }

static void ring_take(struct ring *ring) {
  ring->head = (ring->head + 1) % ring->max;
  ring->count--;
}

EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init) {
  OR_NULL;
  if (!has.srqs) {
    errno = EOPNOTSUPP;
    return NULL;
  }
  struct fake_srq *const srq = make(SRQ, sizeof *srq);
  srq->srq.context = &context;
  srq->srq.srq_context = init->srq_context;
  srq->srq.pd = use_pd(pd);
  ring_init(&srq->ring, init->attr.max_wr, init->attr.max_sge);
  return &srq->srq;
}

static void srq_check_limit(struct fake_srq *srq) {
  if (srq->limit && srq->ring.count < srq->limit) {
    srq->limit = 0;
    async_add(IBV_EVENT_SRQ_LIMIT_REACHED, srq, 0);
  }
}

static int srq_resize(struct ring *ring, unsigned int max) {
  if (!max || max < ring->count) return EINVAL;
  struct ring resized;
  ring_init(&resized, max, ring->max_sge);
  resized.head = 0;
  resized.count = 0;
  for (; ring->count; ring_take(ring)) *ring_add(&resized) = *ring_first(ring);
  free(ring->wqes);
  *ring = resized;
  return 0;
}

EXPORT int ibv_modify_srq(struct ibv_srq *of, struct ibv_srq_attr *attr, int mask) {
  OR_ERRNO;
  struct fake_srq *const srq = (struct fake_srq *)of;
  if (mask == IBV_SRQ_MAX_WR) return srq_resize(&srq->ring, attr->max_wr);
  if (mask != IBV_SRQ_LIMIT) return EINVAL;
  srq->limit = attr->srq_limit;
  srq_check_limit(srq);
  return 0;
}

EXPORT int ibv_destroy_srq(struct ibv_srq *of) {
  OR_ERRNO;
  struct fake_srq *const srq = (struct fake_srq *)of;
  if (srq->users) return EBUSY;
  events_purge(&async_events, context.async_fd, async_is_of, srq);
  leave_pd(of->pd);
  free(srq->ring.wqes);
  memset(srq, 0xDB, sizeof *srq);
  drop(SRQ, srq);
  return 0;
}

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init) {
  OR_NULL;
  if (init->cap.max_inline_data > (uint32_t)has.inline_data) {
    errno = EINVAL;
    return NULL;
  }
  struct fake_qp *const qp = make(QP, sizeof *qp);
  while (qps[next_qp % KEYS]) next_qp++;
  qp->qp = (struct ibv_qp){.context = &context,
                           .qp_context = init->qp_context,
                           .pd = use_pd(pd),
                           .send_cq = init->send_cq,
                           .recv_cq = init->recv_cq,
                           .srq = init->srq,
                           .qp_num = next_qp,
                           .state = IBV_QPS_RESET,
                           .qp_type = IBV_QPT_RC};
  qp->attr.rnr_retry = 7; /* what a device takes that connects it by itself */
  qps[next_qp++ % KEYS] = qp;
  ring_init(&qp->sends, init->cap.max_send_wr, init->cap.max_send_sge);
  ring_init(&qp->recvs, init->cap.max_recv_wr, init->cap.max_recv_sge);
  ((struct fake_cq *)init->send_cq)->users++;
  ((struct fake_cq *)init->recv_cq)->users++;
  if (init->srq) ((struct fake_srq *)init->srq)->users++;
  if (init->cap.max_inline_data) init->cap.max_inline_data = (uint32_t)has.inline_data;
  return &qp->qp;
}

static void complete(struct ibv_cq *cq, struct fake_qp *qp, uint64_t wr_id, enum ibv_wc_status status,
                     enum ibv_wc_opcode opcode, uint32_t length, const struct ibv_send_wr *from, int solicited) {
  struct ibv_wc wc = {.wr_id = wr_id, .status = status, .qp_num = qp->qp.qp_num, .vendor_err = status ? 0x66 : 0};
  if (status) {
    wc.opcode = (enum ibv_wc_opcode)0x7777; /* not valid with an error, so it is something that misleads */
    wc.byte_len = 0xDEADBEEF;
  } else {
    wc.opcode = opcode;
    wc.byte_len = length;
  }
  if (from && !status && opcode == IBV_WC_RECV && from->opcode == IBV_WR_SEND_WITH_INV) {
    wc.wc_flags = IBV_WC_WITH_INV;
    wc.invalidated_rkey = from->invalidate_rkey;
  }
  if (from && !status && (from->opcode == IBV_WR_SEND_WITH_IMM || from->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)) {
    wc.wc_flags = IBV_WC_WITH_IMM;
    wc.imm_data = from->imm_data;
  }
  cq_add(cq, &wc, solicited);
}

static void flush(struct fake_qp *qp) {
  for (struct wqe *wqe; (wqe = ring_first(&qp->sends)); ring_take(&qp->sends))
    complete(qp->qp.send_cq, qp, wqe->wr_id, IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND, 0, NULL, 0);
  for (struct wqe *wqe; !qp->qp.srq && (wqe = ring_first(&qp->recvs)); ring_take(&qp->recvs))
    complete(qp->qp.recv_cq, qp, wqe->wr_id, IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, 0, NULL, 0);
}

static void to_error(struct fake_qp *qp) {
  if (qp->qp.state != IBV_QPS_ERR) {
    qp->qp.state = IBV_QPS_ERR;
    if (qp->qp.srq) async_add(IBV_EVENT_QP_LAST_WQE_REACHED, qp, 0);
  }
  flush(qp);
}

/* Copies between the elements of a list and flat memory. */
static int copy(struct ibv_pd *pd, const struct ibv_sge *sge, int count, void *flat, uint64_t length, int into_list) {
  uint8_t *at = flat;
  for (int i = 0; i < count && length; i++) {
    const uint64_t part = sge[i].length < length ? sge[i].length : length;
    uint8_t *const memory = local(pd, &sge[i], into_list ? IBV_ACCESS_LOCAL_WRITE : 0);
    if (!memory) return -1;
    if (into_list)
      memmove(memory, at, part);
    else
      memmove(at, memory, part);
    at += part;
    length -= part;
  }
  return length ? -2 : 0;
}

static uint64_t length_of(const struct wqe *wqe) {
  uint64_t length = 0;
  for (int i = 0; i < wqe->num_sge; i++) length += wqe->sge[i].length;
  return length;
}

static struct fake_qp *peer_of(const struct fake_qp *qp) {
  struct fake_qp *const peer = qps[qp->peer % KEYS];
  return peer && peer->qp.qp_num == qp->peer ? peer : NULL;
}

/* Carries out a request: its status, or -1 if the peer is not ready. */
static int transfer(struct fake_qp *qp, struct wqe *wqe, enum ibv_wc_opcode *opcode) {
  struct fake_qp *const peer = peer_of(qp);
  const struct ibv_send_wr *const wr = &wqe->send;
  const uint64_t length = length_of(wqe);
  uint8_t *const flat = calloc(1, length + 8);
  int status = IBV_WC_SUCCESS;
  if (!peer || peer->qp.state == IBV_QPS_ERR) {
    status = IBV_WC_RETRY_EXC_ERR;
  } else if (peer->qp.state == IBV_QPS_RESET || peer->qp.state == IBV_QPS_INIT) {
    status = -1;
  } else if (wr->send_flags & IBV_SEND_INLINE) {
    memcpy(flat, wqe->data, length);
  } else if (wr->opcode != IBV_WR_RDMA_READ && wr->opcode != IBV_WR_ATOMIC_CMP_AND_SWP &&
             wr->opcode != IBV_WR_ATOMIC_FETCH_AND_ADD && copy(qp->qp.pd, wqe->sge, wqe->num_sge, flat, length, 0)) {
    status = IBV_WC_LOC_PROT_ERR;
  }
  struct ring *const recvs =
      !peer ? NULL : peer->qp.srq ? &((struct fake_srq *)peer->qp.srq)->ring : &peer->recvs;
  struct wqe *const recv = recvs ? ring_first(recvs) : NULL;
  const int takes = wr->opcode == IBV_WR_SEND || wr->opcode == IBV_WR_SEND_WITH_IMM ||
                    wr->opcode == IBV_WR_SEND_WITH_INV || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  if (!status && takes && !recv) status = qp->attr.rnr_retry ? -1 : IBV_WC_RNR_RETRY_EXC_ERR; /* others wait */
  int access = 0;
  if (!status && wr->opcode == IBV_WR_RDMA_READ && device.transport_type == IBV_TRANSPORT_IWARP) {
    for (int i = 0; i < wqe->num_sge; i++) {
      if (!local(qp->qp.pd, &wqe->sge[i], IBV_ACCESS_REMOTE_WRITE)) status = IBV_WC_LOC_PROT_ERR;
    }
  }
  switch (wr->opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      *opcode = IBV_WC_RDMA_WRITE;
      access = IBV_ACCESS_REMOTE_WRITE;
      break;
    case IBV_WR_RDMA_READ:
      *opcode = IBV_WC_RDMA_READ;
      access = IBV_ACCESS_REMOTE_READ;
      break;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      *opcode = IBV_WC_COMP_SWAP;
      access = IBV_ACCESS_REMOTE_ATOMIC;
      break;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      *opcode = IBV_WC_FETCH_ADD;
      access = IBV_ACCESS_REMOTE_ATOMIC;
      break;
    default:
      *opcode = IBV_WC_SEND;
      break;
  }
  uint8_t *memory = NULL;
  if (!status && access && length) {
    const int atomic = access == IBV_ACCESS_REMOTE_ATOMIC;
    const int invalid = (atomic && (wr->wr.atomic.remote_addr & 7)) ||
                        (peer->answers_no_read && *opcode != IBV_WC_RDMA_WRITE);
    memory = remote(&peer->qp, atomic ? wr->wr.atomic.rkey : wr->wr.rdma.rkey,
                    atomic ? wr->wr.atomic.remote_addr : wr->wr.rdma.remote_addr, length, access);
    if (memory && invalid) {
      async_add(IBV_EVENT_QP_REQ_ERR, peer, 0);
      to_error(peer);
      status = IBV_WC_REM_INV_REQ_ERR;
    } else if (!memory) {
      async_add(IBV_EVENT_QP_ACCESS_ERR, peer, 0);
      to_error(peer);
      status = IBV_WC_REM_ACCESS_ERR;
    }
  }
  if (!status && memory) {
    uint64_t old;
    switch (*opcode) {
      case IBV_WC_RDMA_WRITE:
        memmove(memory, flat, length);
        break;
      case IBV_WC_RDMA_READ:
        memmove(flat, memory, length);
        break;
      default:
        memcpy(&old, memory, sizeof old);
        if (*opcode == IBV_WC_FETCH_ADD) {
          const uint64_t sum = old + wr->wr.atomic.compare_add;
          memcpy(memory, &sum, sizeof sum);
        } else if (old == wr->wr.atomic.compare_add) {
          memcpy(memory, &wr->wr.atomic.swap, sizeof old);
        }
        memcpy(flat, &old, sizeof old);
        break;
    }
    if (*opcode != IBV_WC_RDMA_WRITE && copy(qp->qp.pd, wqe->sge, wqe->num_sge, flat, length, 1))
      status = IBV_WC_LOC_PROT_ERR;
  }
  if (!status && wr->opcode == IBV_WR_SEND_WITH_INV && invalidate(&peer->qp, wr->invalidate_rkey)) {
    complete(peer->qp.recv_cq, peer, recv->wr_id, IBV_WC_LOC_ACCESS_ERR, IBV_WC_RECV, 0, NULL, 0);
    ring_take(recvs);
    async_add(IBV_EVENT_QP_ACCESS_ERR, peer, 0);
    to_error(peer);
    status = IBV_WC_REM_ACCESS_ERR;
  }
  if (!status && takes) {
    struct ibv_pd *const pd = peer->qp.srq ? peer->qp.srq->pd : peer->qp.pd;
    const int write = wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    const int failed = write ? 0 : copy(pd, recv->sge, recv->num_sge, flat, length, 1);
    const uint64_t wr_id = recv->wr_id;
    ring_take(recvs);
    if (peer->qp.srq) srq_check_limit((struct fake_srq *)peer->qp.srq);
    if (failed) {
      complete(peer->qp.recv_cq, peer, wr_id, failed == -2 ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_PROT_ERR, IBV_WC_RECV, 0,
               NULL, 0);
      to_error(peer);
      status = failed == -2 ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR;
    } else {
      complete(peer->qp.recv_cq, peer, wr_id, IBV_WC_SUCCESS, write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
               (uint32_t)length, wr, (wr->send_flags & IBV_SEND_SOLICITED) != 0);
    }
  }
  free(flat);
  return status;
}

/* Whether a window with such rights may be bound to a region. */
static int may_bind(const struct fake_mr *mr, unsigned int access) {
  const unsigned int writes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  return (mr->access & IBV_ACCESS_MW_BIND) && (!(access & writes) || (mr->access & IBV_ACCESS_LOCAL_WRITE));
}

/* Carries a bind or an invalidation of a window of type 2 out. */
static int bind_2(struct fake_qp *qp, const struct ibv_send_wr *wr) {
  if (wr->opcode == IBV_WR_LOCAL_INV) return invalidate(&qp->qp, wr->invalidate_rkey);
  struct fake_mw *const mw = (struct fake_mw *)wr->bind_mw.mw;
  struct fake_mr *const mr = (struct fake_mr *)wr->bind_mw.bind_info.mr;
  if (mw->mw.type != IBV_MW_TYPE_2 || mw->mr || mr->mr.pd != mw->mw.pd ||
      !may_bind(mr, wr->bind_mw.bind_info.mw_access_flags))
    return -1;
  for (int i = 0; i < KEYS; i++)
    if (windows[i] == mw) windows[i] = NULL;
  windows[wr->bind_mw.rkey % KEYS] = mw;
  mw->mr = mr;
  mw->addr = wr->bind_mw.bind_info.addr;
  mw->length = wr->bind_mw.bind_info.length;
  mw->access = wr->bind_mw.bind_info.mw_access_flags;
  mw->qp = &qp->qp;
  return 0;
}

/* Carries out what can be. */
static void run(struct fake_qp *qp) {
  struct wqe *wqe;
  while (qp->qp.state == IBV_QPS_RTS && (wqe = ring_first(&qp->sends))) {
    enum ibv_wc_opcode opcode;
    if ((int)wqe->send.opcode == -1) { /* a bind */
      if (wqe->send.send_flags & IBV_SEND_SIGNALED)
        complete(qp->qp.send_cq, qp, wqe->wr_id, IBV_WC_SUCCESS, IBV_WC_BIND_MW, 0, NULL, 0);
      ring_take(&qp->sends);
      continue;
    }
    int status;
    if (wqe->send.opcode == IBV_WR_BIND_MW || wqe->send.opcode == IBV_WR_LOCAL_INV) {
      opcode = wqe->send.opcode == IBV_WR_BIND_MW ? IBV_WC_BIND_MW : IBV_WC_LOCAL_INV;
      status = bind_2(qp, &wqe->send) ? IBV_WC_MW_BIND_ERR : 0;
    } else {
      status = transfer(qp, wqe, &opcode);
    }
    if (status < 0) return;
    const struct wqe done = *wqe;
    ring_take(&qp->sends);
    if (status || (done.send.send_flags & IBV_SEND_SIGNALED))
      complete(qp->qp.send_cq, qp, done.wr_id, (enum ibv_wc_status)status, opcode, (uint32_t)length_of(&done),
               &done.send, 0); /* with the flag of immediate data, as soft-RoCE has it */
    if (status) to_error(qp);
  }
}

static void run_all(void) {
  for (int i = 0; i < KEYS; i++)
    if (qps[i]) run(qps[i]);
}

EXPORT int ibv_modify_qp(struct ibv_qp *of, struct ibv_qp_attr *attr, int mask) {
  OR_ERRNO;
  struct fake_qp *const qp = (struct fake_qp *)of;
  if ((mask & IBV_QP_ACCESS_FLAGS) && (attr->qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC) && !has.atomics) return EINVAL;
  if (!(mask & IBV_QP_STATE)) return EINVAL;
  switch (attr->qp_state) {
    case IBV_QPS_INIT:
      if (of->state != IBV_QPS_RESET && of->state != IBV_QPS_INIT) return EINVAL;
      break;
    case IBV_QPS_RTR:
      if (of->state != IBV_QPS_INIT || !(mask & IBV_QP_DEST_QPN)) return EINVAL;
      qp->peer = attr->dest_qp_num;
      break;
    case IBV_QPS_RTS:
      if (of->state != IBV_QPS_RTR) return EINVAL;
      break;
    case IBV_QPS_ERR:
      to_error(qp);
      return 0;
    default:
      return EINVAL;
  }
  of->state = attr->qp_state;
  if (mask & IBV_QP_TIMEOUT) qp->attr.timeout = attr->timeout;
  if (mask & IBV_QP_RETRY_CNT) qp->attr.retry_cnt = attr->retry_cnt;
  if (mask & IBV_QP_RNR_RETRY) qp->attr.rnr_retry = attr->rnr_retry;
  if (mask & IBV_QP_MIN_RNR_TIMER) qp->attr.min_rnr_timer = attr->min_rnr_timer;
  if (mask & IBV_QP_MAX_QP_RD_ATOMIC) qp->attr.max_rd_atomic = attr->max_rd_atomic;
  if (mask & IBV_QP_MAX_DEST_RD_ATOMIC) {
    qp->attr.max_dest_rd_atomic = attr->max_dest_rd_atomic;
    qp->answers_no_read = !attr->max_dest_rd_atomic;
  }
  run_all();
  return 0;
}

EXPORT int ibv_destroy_qp(struct ibv_qp *of) {
  OR_ERRNO;
  struct fake_qp *const qp = (struct fake_qp *)of;
  events_purge(&async_events, context.async_fd, async_is_of, qp);
  qps[of->qp_num % KEYS] = NULL;
  ((struct fake_cq *)of->send_cq)->users--;
  ((struct fake_cq *)of->recv_cq)->users--;
  if (of->srq) ((struct fake_srq *)of->srq)->users--;
  leave_pd(of->pd);
  free(qp->sends.wqes);
  free(qp->recvs.wqes);
  memset(qp, 0xDB, sizeof *qp);
  drop(QP, qp);
  return 0;
}

static void load(struct wqe *wqe, uint64_t wr_id, const struct ibv_sge *list, int count) {
  wqe->wr_id = wr_id;
  wqe->num_sge = count;
  if (count) memcpy(wqe->sge, list, (size_t)count * sizeof *list);
}

static int post_one(struct fake_qp *qp, struct ibv_send_wr *wr) {
  if (qp->qp.state != IBV_QPS_RTS && qp->qp.state != IBV_QPS_ERR) return EINVAL;
  if ((unsigned int)wr->num_sge > qp->sends.max_sge) return EINVAL;
  struct wqe *const wqe = ring_add(&qp->sends);
  if (!wqe) return ENOMEM;
  wqe->send = *wr;
  load(wqe, wr->wr_id, wr->sg_list, wr->num_sge);
  uint32_t length = 0;
  for (int i = 0; (wr->send_flags & IBV_SEND_INLINE) && i < wr->num_sge; i++) {
    memcpy(wqe->data + length, (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
    length += wr->sg_list[i].length;
  }
  if (qp->qp.state == IBV_QPS_ERR)
    flush(qp);
  else
    run(qp);
  return 0;
}

static int post_send(struct ibv_qp *of, struct ibv_send_wr *wr, struct ibv_send_wr **bad) {
  LOCKED;
  *bad = wr;
  if (fails(__func__)) return fail_errno;
  for (; wr; wr = wr->next) {
    *bad = wr;
    const int result = post_one((struct fake_qp *)of, wr);
    if (result) return result;
  }
  return 0;
}

static int post_recvs(struct ring *ring, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
  for (; wr; wr = wr->next) {
    *bad = wr;
    if ((unsigned int)wr->num_sge > ring->max_sge) return EINVAL;
    struct wqe *const wqe = ring_add(ring);
    if (!wqe) return ENOMEM;
    load(wqe, wr->wr_id, wr->sg_list, wr->num_sge);
  }
  return 0;
}

static int post_recv(struct ibv_qp *of, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
  LOCKED;
  *bad = wr;
  if (fails(__func__)) return fail_errno;
  if (of->srq || of->state == IBV_QPS_RESET) return EINVAL;
  const int result = post_recvs(&((struct fake_qp *)of)->recvs, wr, bad);
  run_all(); /* in the error state nothing happens, as with soft-RoCE, until it is told of that state again */
  return result;
}

static int post_srq_recv(struct ibv_srq *of, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
  LOCKED;
  *bad = wr;
  if (fails(__func__)) return fail_errno;
  const int result = post_recvs(&((struct fake_srq *)of)->ring, wr, bad);
  run_all();
  return result;
}

static int bind_mw(struct ibv_qp *of, struct ibv_mw *window, struct ibv_mw_bind *bind) {
  OR_ERRNO;
  struct fake_qp *const qp = (struct fake_qp *)of;
  struct fake_mw *const mw = (struct fake_mw *)window;
  if (window->type != IBV_MW_TYPE_1) return EINVAL;
  if (!bind->bind_info.mr) {
    violation("ibv_bind_mw: no region, not even of an unbind; rxe and mlx4 crash");
    return EINVAL;
  }
  if (bind->bind_info.length && !may_bind((struct fake_mr *)bind->bind_info.mr, bind->bind_info.mw_access_flags))
    return EPERM;
  struct wqe *const wqe = ring_add(&qp->sends);
  if (!wqe) return ENOMEM;
  memset(wqe, 0, sizeof *wqe);
  wqe->wr_id = bind->wr_id;
  wqe->send.opcode = (enum ibv_wr_opcode)-1;
  wqe->send.send_flags = bind->send_flags;
  windows[window->rkey % KEYS] = NULL;
  do window->rkey++;
  while (regions[window->rkey % KEYS] || windows[window->rkey % KEYS] || window->rkey % KEYS == 0);
  windows[window->rkey % KEYS] = mw;
  mw->mr = bind->bind_info.length ? (struct fake_mr *)bind->bind_info.mr : NULL;
  mw->addr = bind->bind_info.addr;
  mw->length = bind->bind_info.length;
  mw->access = bind->bind_info.mw_access_flags;
  if (of->state == IBV_QPS_ERR)
    flush(qp);
  else
    run(qp);
  return 0;
}

/* The connection manager. */

static int is_iwarp(void) { return device.transport_type == IBV_TRANSPORT_IWARP; }

/* InfiniBand pads private data, iWARP does not. */
static uint8_t padded(const struct rdma_conn_param *param, uint8_t length) {
  return is_iwarp() ? param->private_data_len : length;
}

/* iWARP has no reasons. */
static int reason(int infiniband) { return !is_iwarp() ? infiniband : infiniband == 8 ? -ECONNRESET : -ECONNREFUSED; }

/* With iWARP the device connects the queue pair itself. */
static void connect_by_device(uint32_t number, uint32_t peer) {
  struct fake_qp *const qp = qps[number % KEYS];
  if (!qp || qp->qp.qp_num != number || qp->qp.state == IBV_QPS_ERR) return;
  qp->peer = peer;
  qp->qp.state = IBV_QPS_RTS;
}

enum cm_state { IDLE, LISTENING, CONNECTING, REQUESTED, ACCEPTED, RESPONDED, CONNECTED, DREQ_SENT, DREQ_RECEIVED, OVER };

struct fake_event_channel {
  struct rdma_event_channel channel;
  struct events events;
  int ids;
};

struct fake_id {
  struct rdma_cm_id id;
  enum cm_state state;
  struct fake_id *peer;
  uint32_t qp_num, peer_qp_num;
  int unacked;
  struct fake_id *next;
};

struct cm_item {
  struct item item;
  struct rdma_cm_event event;
  uint8_t data[256];
};

static struct fake_id *ids;
static int next_port = 40000;

EXPORT struct rdma_event_channel *rdma_create_event_channel(void) {
  OR_NULL;
  if (no_devices) {
    errno = ENODEV;
    return NULL;
  }
  struct fake_event_channel *const channel = make(EVENT_CHANNEL, sizeof *channel);
  channel->channel.fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
  events_init(&channel->events);
  return &channel->channel;
}

EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *channel) {
  CANNOT_FAIL;
  if (((struct fake_event_channel *)channel)->ids) violation("rdma_destroy_event_channel: it has ids");
  close(channel->fd);
  drop(EVENT_CHANNEL, channel);
}

static struct fake_id *new_id(struct rdma_event_channel *channel, void *of) {
  struct fake_id *const id = make(ID, sizeof *id);
  id->id.channel = channel;
  id->id.context = of;
  id->id.ps = RDMA_PS_TCP;
  id->id.qp_type = IBV_QPT_RC;
  ((struct fake_event_channel *)channel)->ids++;
  id->next = ids;
  ids = id;
  return id;
}

static void cm_event(struct fake_id *id, struct fake_id *listen, enum rdma_cm_event_type type, int status,
                     const struct rdma_conn_param *param, uint8_t room) {
  struct cm_item *const item = calloc(1, sizeof *item);
  item->event.id = &id->id;
  item->event.listen_id = listen ? &listen->id : NULL;
  item->event.event = type;
  item->event.status = status;
  if (param) {
    item->event.param.conn = *param;
    if (param->private_data) memcpy(item->data, param->private_data, param->private_data_len);
    item->event.param.conn.private_data = room ? item->data : NULL;
    item->event.param.conn.private_data_len = room; /* padded, as the transport does */
    item->event.param.conn.responder_resources = param->initiator_depth; /* as it looks from here */
    item->event.param.conn.initiator_depth = param->responder_resources;
  }
  struct rdma_event_channel *const channel = (listen ? listen : id)->id.channel;
  events_add(&((struct fake_event_channel *)channel)->events, channel->fd, &item->item);
}

EXPORT int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **into, void *of,
                          UNUSED enum rdma_port_space ps) {
  OR_MINUS;
  *into = &new_id(channel, of)->id;
  return 0;
}

static int cm_is_of(struct item *item, void *id) {
  const struct rdma_cm_event *const event = &((struct cm_item *)item)->event;
  return event->id == id || event->listen_id == id;
}

static void forget(struct fake_id *id) {
  for (struct fake_id **link = &ids; *link; link = &(*link)->next)
    if (*link == id) {
      *link = id->next;
      break;
    }
  for (struct fake_id *other = ids; other; other = other->next)
    if (other->peer == id) other->peer = NULL;
  ((struct fake_event_channel *)id->id.channel)->ids--;
  memset(id, 0xDB, sizeof *id);
  drop(ID, id);
}

/* Requests that nobody read end with their listener. */
static void forget_unread(struct fake_id *listener) {
  struct item *item = ((struct fake_event_channel *)listener->id.channel)->events.first;
  for (; item; item = item->next) {
    struct rdma_cm_event *const event = &((struct cm_item *)item)->event;
    if (event->listen_id == &listener->id) {
      struct fake_id *const unread = (struct fake_id *)event->id;
      if (unread->peer) cm_event(unread->peer, NULL, RDMA_CM_EVENT_REJECTED, reason(8), NULL, 0);
      event->id = &listener->id;
      forget(unread);
    }
  }
}

EXPORT int rdma_destroy_id(struct rdma_cm_id *of) {
  OR_MINUS;
  struct fake_id *const id = (struct fake_id *)of;
  await_acks(&id->unacked, "rdma_destroy_id hangs: events are not acknowledged");
  struct fake_id *const peer = id->peer;
  if (id->state == LISTENING) forget_unread(id);
  if (peer && id->state == CONNECTED && peer->state == CONNECTED) {
    peer->state = DREQ_RECEIVED;
    cm_event(peer, NULL, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
  } else if (peer && (id->state == REQUESTED || id->state == RESPONDED || id->state == ACCEPTED)) {
    peer->state = OVER;
    cm_event(peer, NULL, RDMA_CM_EVENT_REJECTED, reason(28), NULL, 0);
  }
  struct fake_event_channel *const channel = (struct fake_event_channel *)of->channel;
  events_purge(&channel->events, of->channel->fd, cm_is_of, of);
  forget(id);
  return 0;
}

EXPORT int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address) {
  OR_MINUS;
  const struct sockaddr_in *const v4 = (const struct sockaddr_in *)address;
  if (address->sa_family == AF_INET && (ntohl(v4->sin_addr.s_addr) >> 24) == 127) return refuse(ENODEV);
  const uint16_t port = v4->sin_port; /* at the same place in sockaddr_in6 */
  for (struct fake_id *other = ids; port && other; other = other->next)
    if (other->id.route.addr.src_sin.sin_port == port) return refuse(EADDRINUSE);
  memcpy(&id->route.addr.src_addr, address,
         address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
  if (!port) id->route.addr.src_sin.sin_port = htons((uint16_t)next_port++);
  id->verbs = &context;
  id->port_num = 1;
  return 0;
}

EXPORT int rdma_listen(struct rdma_cm_id *id, UNUSED int backlog) {
  OR_MINUS;
  ((struct fake_id *)id)->state = LISTENING;
  return 0;
}

EXPORT __be16 rdma_get_src_port(struct rdma_cm_id *id) {
  CANNOT_FAIL;
  return id->route.addr.src_sin.sin_port;
}

/* What this connection manager takes by itself, unlike what any test asks for. */
enum { PATH_TIMEOUT = 19, PEERS_RETRIES = 5, PEERS_RNR_RETRIES = 4, PEERS_READS = 11 };

/* The last byte of an address in 198.51.100.0/24, where nobody is and every kind of failure can be had; else 0. */
static int nowhere(const struct rdma_cm_id *id) {
  const uint32_t address = ntohl(id->route.addr.dst_sin.sin_addr.s_addr);
  return address >> 8 == 0xC63364 ? (int)(address & 0xFF) : 0;
}

EXPORT int rdma_resolve_addr(struct rdma_cm_id *id, UNUSED struct sockaddr *source, struct sockaddr *to,
                             UNUSED int timeout) {
  OR_MINUS;
  memcpy(&id->route.addr.dst_addr, to,
         to->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
  if (nowhere(id) == 1)
    cm_event((struct fake_id *)id, NULL, RDMA_CM_EVENT_ADDR_ERROR, -EHOSTUNREACH, NULL, 0);
  else
    cm_event((struct fake_id *)id, NULL, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
  return 0;
}

EXPORT int rdma_resolve_route(struct rdma_cm_id *id, UNUSED int timeout) {
  OR_MINUS;
  if (nowhere(id) == 2)
    cm_event((struct fake_id *)id, NULL, RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT, NULL, 0);
  else
    cm_event((struct fake_id *)id, NULL, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
  return 0;
}

EXPORT int rdma_init_qp_attr(struct rdma_cm_id *of, struct ibv_qp_attr *attr, int *mask) {
  OR_MINUS;
  struct fake_id *const id = (struct fake_id *)of;
  *mask = IBV_QP_STATE | 0x200000; /* and a bit that verbs does not know */
  switch (attr->qp_state) {
    case IBV_QPS_INIT:
      attr->port_num = 1;
      *mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
      break;
    case IBV_QPS_RTR:
      attr->dest_qp_num = id->peer_qp_num;
      *mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
               IBV_QP_MIN_RNR_TIMER;
      attr->max_dest_rd_atomic = PEERS_READS;
      break;
    default:
      attr->timeout = PATH_TIMEOUT;
      attr->retry_cnt = PEERS_RETRIES;
      attr->rnr_retry = PEERS_RNR_RETRIES;
      attr->max_rd_atomic = PEERS_READS;
      *mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
      break;
  }
  return 0;
}

EXPORT int rdma_connect(struct rdma_cm_id *of, struct rdma_conn_param *param) {
  OR_MINUS;
  struct fake_id *const id = (struct fake_id *)of;
  id->qp_num = param->qp_num;
  id->state = CONNECTING;
  if (nowhere(of) == 3) {
    id->state = OVER;
    if (is_iwarp()) return refuse(ECONNRESET);
    cm_event(id, NULL, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL, 0);
    return 0;
  }
  struct fake_id *listener = ids;
  while (listener && !(listener->state == LISTENING && listener->id.route.addr.src_sin.sin_port ==
                                                           of->route.addr.dst_sin.sin_port))
    listener = listener->next;
  if (!listener) {
    id->state = OVER;
    cm_event(id, NULL, RDMA_CM_EVENT_REJECTED, reason(8), NULL, 0);
    return 0;
  }
  struct fake_id *const request = new_id(listener->id.channel, listener->id.context);
  request->id.verbs = &context;
  request->id.port_num = 1;
  request->id.route.addr.src_storage = of->route.addr.dst_storage;
  request->id.route.addr.dst_storage = of->route.addr.src_storage;
  request->id.route.addr.src_sin.sin_port = 0; /* the listener's, but not in the way of others */
  request->state = REQUESTED;
  request->peer = id;
  request->peer_qp_num = param->qp_num;
  id->peer = request;
  cm_event(request, listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0, param, padded(param, 56));
  return 0;
}

EXPORT int rdma_accept(struct rdma_cm_id *of, struct rdma_conn_param *param) {
  OR_MINUS;
  struct fake_id *const id = (struct fake_id *)of;
  id->qp_num = param->qp_num;
  id->state = ACCEPTED;
  if (!id->peer || id->peer->state != CONNECTING) {
    id->state = OVER;
    cm_event(id, NULL, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL, 0);
    return 0;
  }
  if (is_iwarp()) {
    id->state = id->peer->state = CONNECTED;
    connect_by_device(id->peer->qp_num, param->qp_num);
    cm_event(id->peer, NULL, RDMA_CM_EVENT_ESTABLISHED, 0, param, param->private_data_len);
    cm_event(id, NULL, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
    return 0;
  }
  id->peer->state = RESPONDED;
  id->peer->peer_qp_num = param->qp_num;
  cm_event(id->peer, NULL, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, param, 196);
  return 0;
}

EXPORT int rdma_establish(struct rdma_cm_id *of) {
  OR_MINUS;
  struct fake_id *const id = (struct fake_id *)of;
  if (id->state != RESPONDED) return refuse(EINVAL);
  id->state = CONNECTED;
  if (id->peer && id->peer->state == ACCEPTED) {
    id->peer->state = CONNECTED;
    cm_event(id->peer, NULL, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
  }
  return 0;
}

static int say_no(struct fake_id *id, int why, const void *data, uint8_t length) {
  if (!id->peer || (id->state != REQUESTED && id->state != RESPONDED)) return refuse(is_iwarp() ? ECONNRESET : EINVAL);
  const struct rdma_conn_param param = {.private_data = data, .private_data_len = length};
  id->peer->state = OVER;
  cm_event(id->peer, NULL, RDMA_CM_EVENT_REJECTED, reason(why), &param, padded(&param, 148));
  id->state = OVER;
  return 0;
}

EXPORT int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t length) {
  OR_MINUS;
  return say_no((struct fake_id *)id, 28, data, length);
}

EXPORT int rdma_reject_ece(struct rdma_cm_id *id, const void *data, uint8_t length) {
  OR_MINUS;
  return say_no((struct fake_id *)id, 35, data, length);
}

EXPORT int rdma_notify(struct rdma_cm_id *of, UNUSED enum ibv_event_type event) {
  OR_MINUS;
  struct fake_id *const id = (struct fake_id *)of;
  if (id->state != ACCEPTED) return refuse(EISCONN);
  id->state = CONNECTED;
  cm_event(id, NULL, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
  return 0;
}

EXPORT int rdma_disconnect(struct rdma_cm_id *of) {
  OR_MINUS;
  struct fake_id *const id = (struct fake_id *)of;
  struct fake_id *const peer = id->peer;
  if (id->state == CONNECTED) {
    id->state = DREQ_SENT;
    if (peer && peer->state == CONNECTED) {
      peer->state = DREQ_RECEIVED;
      cm_event(peer, NULL, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
    } else {
      cm_event(id, NULL, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
    }
  } else if (id->state == DREQ_RECEIVED) {
    id->state = OVER;
    if (peer && peer->state == DREQ_SENT) {
      peer->state = OVER;
      cm_event(peer, NULL, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
      cm_event(peer, NULL, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, NULL, 0);
    }
  } else {
    return refuse(EINVAL);
  }
  return 0;
}

EXPORT int rdma_get_cm_event(struct rdma_event_channel *of, struct rdma_cm_event **into) {
  OR_MINUS;
  struct cm_item *const item = (struct cm_item *)events_get(&((struct fake_event_channel *)of)->events, of->fd);
  if (!item) return -1;
  struct rdma_cm_event *const event = &item->event;
  ((struct fake_id *)(event->listen_id ? event->listen_id : event->id))->unacked++;
  live[EVENT]++;
  *into = event;
  return 0;
}

EXPORT int rdma_ack_cm_event(struct rdma_cm_event *event) {
  CANNOT_FAIL;
  ((struct fake_id *)(event->listen_id ? event->listen_id : event->id))->unacked--;
  pthread_cond_broadcast(&acked);
  memset(event->param.conn.private_data ? (void *)(uintptr_t)event->param.conn.private_data : event, 0xDB, 1);
  drop(EVENT, (char *)event - offsetof(struct cm_item, event));
  return 0;
}

/* What nobody calls unasked: a call is a violation. */

EXPORT int ibv_fork_init(void) {
  LOCKED;
  violation("ibv_fork_init");
  return 0;
}

/* A device that has everything. */
static void have_all(void) {
  device.transport_type = IBV_TRANSPORT_IB;
  memset(device.name, 0, sizeof device.name);
  strcpy(device.name, "fake0");
  has.vendor = 0;
  has.srqs = has.windows = MOST;
  has.windows_2 = 1;
  has.atomics = 1;
  has.inline_data = INLINE;
}

__attribute__((constructor)) static void init(void) {
  have_all();
  const char *const none = getenv("FAKE_NO_DEVICES");
  no_devices = none && *none;
  const char *const plant = getenv("FAKE_OVERRUN");
  overrun = plant && *plant;
  context.device = &device;
  context.async_fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
  context.ops.poll_cq = poll_cq;
  context.ops.req_notify_cq = req_notify_cq;
  context.ops.post_send = post_send;
  context.ops.post_recv = post_recv;
  context.ops.post_srq_recv = post_srq_recv;
  context.ops.alloc_mw = alloc_mw;
  context.ops.dealloc_mw = dealloc_mw;
  context.ops.bind_mw = bind_mw;
  events_init(&async_events);
}

/* A system call of the library: see syscalls.c. */
EXPORT int fake_fails(const char *name) {
  LOCKED;
  return fails(name);
}

/* What Java controls: class Fake. */

#define CONTROL(type, name, ...) \
  JNIEXPORT type JNICALL Java_org_jdapl_rdmacore_Fake_##name(UNUSED JNIEnv *env, UNUSED jclass class, ##__VA_ARGS__)

CONTROL(void, failAt, jlong call, jint code) {
  LOCKED;
  calls = 0;
  fail_at = call;
  fail_errno = code;
  failed_name[0] = '\0';
}

CONTROL(void, failNext, jstring name, jint code) {
  LOCKED;
  (*env)->GetStringUTFRegion(env, name, 0, (*env)->GetStringLength(env, name), fail_name);
  fail_errno = code;
}

CONTROL(jlong, calls) {
  LOCKED;
  return calls;
}

CONTROL(jlong, sequence) {
  LOCKED;
  const uint64_t so_far = sequence;
  sequence = 0;
  return (jlong)so_far;
}

CONTROL(jstring, failed) { return (*env)->NewStringUTF(env, failed_name); }

CONTROL(jstring, failedEver) { return (*env)->NewStringUTF(env, failed); }

CONTROL(void, pauseAfter, jstring name) {
  pthread_mutex_lock(&pause_lock);
  (*env)->GetStringUTFRegion(env, name, 0, (*env)->GetStringLength(env, name), pause_name);
  pthread_mutex_unlock(&pause_lock);
}

CONTROL(void, awaitPause) {
  pthread_mutex_lock(&pause_lock);
  while (!paused) pthread_cond_wait(&pause_changed, &pause_lock);
  pthread_mutex_unlock(&pause_lock);
}

CONTROL(void, resume) {
  pthread_mutex_lock(&pause_lock);
  paused = 0;
  pthread_cond_broadcast(&pause_changed);
  pthread_mutex_unlock(&pause_lock);
}

CONTROL(void, reset) {
  LOCKED;
  calls = fail_at = 0;
  fail_name[0] = failed_name[0] = '\0';
  have_all();
  while (async_events.first) free(events_get(&async_events, context.async_fd));
}

CONTROL(void, identify, jstring name, jint vendor) {
  LOCKED;
  memset(device.name, 0, sizeof device.name);
  (*env)->GetStringUTFRegion(env, name, 0, (*env)->GetStringLength(env, name), device.name);
  has.vendor = vendor;
}

CONTROL(void, speakIwarp) {
  LOCKED;
  device.transport_type = IBV_TRANSPORT_IWARP;
}

CONTROL(void, limit, jint srqs, jint mws, jboolean atomics, jint inline_data) {
  LOCKED;
  has.srqs = srqs;
  has.windows = mws;
  has.windows_2 = mws > 1;
  has.atomics = atomics;
  has.inline_data = inline_data;
}

CONTROL(jstring, called) { return (*env)->NewStringUTF(env, called); }

CONTROL(jstring, violations) { return (*env)->NewStringUTF(env, violations); }

CONTROL(void, forget, jstring name) {
  char kind[32] = "";
  LOCKED;
  (*env)->GetStringUTFRegion(env, name, 0, (*env)->GetStringLength(env, name), kind);
  for (int i = 0; i < KINDS; i++) live[i] -= !strcmp(KIND_NAMES[i], kind);
}

CONTROL(jstring, live) {
  char text[512] = "";
  LOCKED;
  for (int i = 0; i < KINDS; i++) {
    char one[64];
    if (live[i]) {
      snprintf(one, sizeof one, "%ld %s, ", live[i], KIND_NAMES[i]);
      strcat(text, one);
    }
  }
  return (*env)->NewStringUTF(env, text);
}

CONTROL(jintArray, attributes, jint number) {
  LOCKED;
  const struct ibv_qp_attr *const attr = &qps[(unsigned int)number % KEYS]->attr;
  const jint values[] = {attr->timeout,       attr->retry_cnt,     attr->rnr_retry,
                         attr->min_rnr_timer, attr->max_rd_atomic, attr->max_dest_rd_atomic};
  const jintArray array = (*env)->NewIntArray(env, 6);
  if (array) (*env)->SetIntArrayRegion(env, array, 0, 6, values);
  return array;
}

CONTROL(void, raiseQp, jint number, jint type) {
  LOCKED;
  struct fake_qp *const qp = qps[(unsigned int)number % KEYS];
  if (qp) async_add((enum ibv_event_type)type, qp, 0);
}

CONTROL(void, raiseDevice, jint type, jint port) {
  LOCKED;
  async_add((enum ibv_event_type)type, NULL, port);
}

CONTROL(void, removeDevice) {
  LOCKED;
  for (struct fake_id *id = ids; id; id = id->next)
    if (id->id.context) cm_event(id, NULL, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL, 0);
}
