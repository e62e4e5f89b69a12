/* The system calls of the library, linked with --wrap: each counts as a call of the fake libraries, and can fail. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

static int fails(const char *name) {
  int (*ask)(const char *) = NULL;
  void *const found = dlsym(RTLD_DEFAULT, "fake_fails");
  memcpy(&ask, &found, sizeof found);
  return ask && ask(name);
}

#define WRAP(name, parameters, arguments) \
  int __real_##name parameters;           \
  int __wrap_##name parameters;           \
  int __wrap_##name parameters { return fails(#name) ? -1 : __real_##name arguments; }

WRAP(epoll_create1, (int flags), (flags))
WRAP(epoll_ctl, (int epoll, int what, int fd, struct epoll_event *event), (epoll, what, fd, event))
WRAP(epoll_wait, (int epoll, struct epoll_event *events, int max, int millis), (epoll, events, max, millis))
WRAP(eventfd, (unsigned int count, int flags), (count, flags))
WRAP(eventfd_read, (int fd, eventfd_t *value), (fd, value))
WRAP(eventfd_write, (int fd, eventfd_t value), (fd, value))

int __real_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, ...) {
  va_list list;
  va_start(list, what);
  const long argument = va_arg(list, long);
  va_end(list);
  return fails("fcntl") ? -1 : __real_fcntl(fd, what, argument);
}

/* The descriptor is closed all the same, as on Linux. */
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd) {
  const int result = __real_close(fd);
  return fails("close") ? -1 : result;
}
