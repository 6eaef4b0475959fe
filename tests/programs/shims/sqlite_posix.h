// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Included before SQLite: the POSIX names that its unix layer mentions and wasi-libc's headers lack. Record
// locks do not exist under WASI (fcntl answers EINVAL); the driver opens databases with lock files.
#pragma once
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>
#ifndef F_SETLK
#define F_GETLK 5
#define F_SETLK 6
#define F_SETLKW 7
#define F_RDLCK 0
#define F_WRLCK 1
#define F_UNLCK 2
#endif
static inline uid_t geteuid(void) { return 0; }
