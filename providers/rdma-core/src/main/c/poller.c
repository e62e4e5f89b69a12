/* Where an event channel sleeps: epoll over the descriptors of its devices, and an eventfd that wakes it. */
#include "jdapl.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* How many descriptors one wait reports; the others are reported by the next one. */
#define EVENTS 16

static jint descriptor_or_errno(int fd) { return fd < 0 ? -errno : fd; }

NATIVE(jint, create) { return descriptor_or_errno(epoll_create1(EPOLL_CLOEXEC)); }

NATIVE(jint, create_wakeup) { return descriptor_or_errno(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

NATIVE(jint, add, jint epoll, jint fd, jlong tag) {
  struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)tag};
  return negative_errno(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
}

NATIVE(jint, remove_fd, jint epoll, jint fd) { return negative_errno(epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL)); }

NATIVE(jint, set_non_blocking, jint fd) {
  const int flags = fcntl(fd, F_GETFL);
  return flags < 0 ? negative_errno(flags) : negative_errno(fcntl(fd, F_SETFL, flags | O_NONBLOCK));
}

/* Waits, and writes the tags of what is ready. */
NATIVE(jint, wait_for, jint epoll, jlong into, jint timeout_millis) {
  struct epoll_event events[EVENTS];
  uint64_t *const tags = POINTER(uint64_t, into);
  const int count = epoll_wait(epoll, events, EVENTS, timeout_millis);
  if (count < 0) return errno == EINTR ? 0 : negative_errno(count);
  for (int i = 0; i < count; i++) tags[i] = events[i].data.u64;
  return count;
}

NATIVE(jint, wake, jint fd) { return negative_errno(eventfd_write(fd, 1)); }

NATIVE(void, clear_wakeup, jint fd) {
  eventfd_t count;
  (void)eventfd_read(fd, &count);
}

NATIVE(jint, close_fd, jint fd) { return negative_errno(close(fd)); }

static const JNINativeMethod METHODS[] = {
    METHOD("create", "()I", create),
    METHOD("createWakeup", "()I", create_wakeup),
    METHOD("add", "(IIJ)I", add),
    METHOD("remove", "(II)I", remove_fd),
    METHOD("setNonBlocking", "(I)I", set_non_blocking),
    METHOD("await", "(IJI)I", wait_for),
    METHOD("wake", "(I)I", wake),
    METHOD("clearWakeup", "(I)V", clear_wakeup),
    METHOD("close", "(I)I", close_fd),
};

jint register_poller(JNIEnv *env) {
  return register_table(env, "org/jdapl/rdmacore/jni/Poller", METHODS, COUNT(METHODS));
}
