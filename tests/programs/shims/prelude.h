// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Included before each guest source: declares what wasi_shims.c defines and wasi-libc's headers omit.
#pragma once
#include <stdio.h>
#include <sys/types.h>
int system(const char* command);
FILE* tmpfile(void);
char* tmpnam(char* buffer);
int chmod(const char* path, mode_t mode);
int fchmod(int fd, mode_t mode);
int chown(const char* path, uid_t user, gid_t group);
int fchown(int fd, uid_t user, gid_t group);
mode_t umask(mode_t mask);
