/* What the parts of the native library share. It is thin on purpose: one verb each, -errno out, no exceptions. */
#ifndef JDAPL_H
#define JDAPL_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <jni.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>
#include <string.h>

/* A native method; the table at the end of its file registers it. */
#define NATIVE(type, name, ...) \
  static type name(__attribute__((unused)) JNIEnv *env, __attribute__((unused)) jclass class, ##__VA_ARGS__)

#define METHOD(name, signature, function) {(char *)(name), (char *)(signature), (void *)(function)}
#define COUNT(array) ((jint)(sizeof(array) / sizeof((array)[0])))

/* Java holds pointers as longs; it never makes one up. */
#define POINTER(type, value) ((type *)(intptr_t)(value))

/* The exported functions of libibverbs and librdmacm, looked up when the libraries are opened. The rest of the verbs
   are inline functions of the headers that go through the context's table. */
#define VERBS(f)                                                                                                      \
  f(ibv_get_device_list) f(ibv_free_device_list) f(ibv_get_device_name) f(ibv_query_device) f(ibv_query_port)         \
  f(ibv_alloc_pd) f(ibv_dealloc_pd) f(ibv_reg_mr) f(ibv_dereg_mr)                                                     \
  f(ibv_create_comp_channel) f(ibv_destroy_comp_channel)                                                              \
  f(ibv_create_cq) f(ibv_resize_cq) f(ibv_destroy_cq) f(ibv_get_cq_event) f(ibv_ack_cq_events)                        \
  f(ibv_create_srq) f(ibv_modify_srq) f(ibv_destroy_srq)                                                              \
  f(ibv_create_qp) f(ibv_modify_qp) f(ibv_destroy_qp)                                                                 \
  f(ibv_get_async_event) f(ibv_ack_async_event)
#define CM(f)                                                                                                         \
  f(rdma_create_event_channel) f(rdma_destroy_event_channel) f(rdma_create_id) f(rdma_destroy_id) f(rdma_bind_addr)   \
  f(rdma_listen) f(rdma_get_src_port) f(rdma_resolve_addr) f(rdma_resolve_route) f(rdma_init_qp_attr)                 \
  f(rdma_connect) f(rdma_establish) f(rdma_accept) f(rdma_reject) f(rdma_reject_ece) f(rdma_disconnect)               \
  f(rdma_notify) f(rdma_get_cm_event) f(rdma_ack_cm_event)

struct functions {
#define DECLARE(name) __typeof__(name) *name;
  VERBS(DECLARE)
  CM(DECLARE)
#undef DECLARE
};

extern struct functions lib;

/* The result of a verb that returns 0, an errno, an errno negated (as some drivers do), or -1 with errno; if errno was
   cleared before the verb and is clear still, -1 is an errno negated as well. */
static inline jint errno_of(int result) {
  if (result >= 0) return -result;
  return result == -1 && errno ? -errno : result;
}

/* Calls a verb, and says what errno_of says. */
#define negative_errno(call) (errno = 0, errno_of(call))

static inline jlong pointer_of(const void *result) {
  if (result) return (jlong)(intptr_t)result;
  return errno ? -errno : -EIO;
}

/* Calls a verb that returns a pointer, or NULL with errno. */
#define pointer_or_errno(call) (errno = 0, pointer_of(call))

/* Each registers its table; -1 if the Java class is not the one this library was built with. */
jint register_verbs(JNIEnv *env);
jint register_cm(JNIEnv *env);
jint register_poller(JNIEnv *env);
jint register_table(JNIEnv *env, const char *class, const JNINativeMethod *table, jint count);

#endif
