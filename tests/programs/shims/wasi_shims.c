// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the C library that WASI preview 1 cannot offer; programs ask for them at link time only.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>

int system(const char* command) {
  (void)command;
  errno = ENOSYS;
  return -1;
}
FILE* tmpfile(void) {
  errno = ENOSYS;
  return NULL;
}
char* tmpnam(char* buffer) {
  (void)buffer;
  return NULL;
}
int chmod(const char* path, mode_t mode) {
  (void)path, (void)mode;
  return 0;
}
int fchmod(int fd, mode_t mode) {
  (void)fd, (void)mode;
  return 0;
}
int chown(const char* path, uid_t user, gid_t group) {
  (void)path, (void)user, (void)group;
  return 0;
}
int fchown(int fd, uid_t user, gid_t group) {
  (void)fd, (void)user, (void)group;
  return 0;
}
mode_t umask(mode_t mask) {
  (void)mask;
  return 022;
}
