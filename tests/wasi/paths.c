// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Path functions of the C library as a program calls them; prints one line per call. Compiled for
// WASI and natively, both must print paths.expected. Runs in the directory given as the argument,
// which is empty at first. Calls that leave it are not made here: nothing native compares.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char* name(int error) {
  static const struct {
    int number;
    const char* name;
  } kNames[] = {{EACCES, "EACCES"},       {EBUSY, "EBUSY"},   {EEXIST, "EEXIST"},
                {EINVAL, "EINVAL"},       {EISDIR, "EISDIR"}, {ELOOP, "ELOOP"},
                {ENAMETOOLONG, "ENAMETOOLONG"}, {ENOENT, "ENOENT"}, {ENOTDIR, "ENOTDIR"},
                {ENOTEMPTY, "ENOTEMPTY"}, {EPERM, "EPERM"},   {EBADF, "EBADF"},
                {ESPIPE, "ESPIPE"},       {ENXIO, "ENXIO"},   {ENOTSUP, "ENOTSUP"}};
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; ++i) {
    if (kNames[i].number == error) return kNames[i].name;
  }
  return strerror(error);
}

static void report(const char* call, const char* path, int result) {
  printf("%s %s: %s\n", call, path, result < 0 ? name(errno) : "ok");
}

static int open_and_close(const char* path, int flags) {
  int fd = open(path, flags, 0666);
  if (fd >= 0) close(fd);
  return fd;
}

static void all(const char* path) {
  struct stat s;
  char buffer[100];
  report("stat", path, stat(path, &s));
  report("lstat", path, lstat(path, &s));
  report("open", path, open_and_close(path, O_RDONLY));
  report("opendir", path, open_and_close(path, O_RDONLY | O_DIRECTORY));
  report("nofollow", path, open_and_close(path, O_RDONLY | O_NOFOLLOW));
  report("excl", path, open_and_close(path, O_WRONLY | O_CREAT | O_EXCL) < 0 ? -1 : unlink(path));
  report("readlink", path, (int)readlink(path, buffer, sizeof buffer));
  report("mkdir", path, mkdir(path, 0777) < 0 ? -1 : rmdir(path));
  report("access", path, access(path, F_OK));
}

int main(int argc, char** argv) {
  if (argc != 2 || chdir(argv[1]) != 0) {
    fprintf(stderr, "paths: needs a directory to work in\n");
    return 2;
  }
  int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0666);
  report("write", "file", (int)write(fd, "0123456789", 10));
  report("lseek", "file", (int)lseek(fd, 4, SEEK_SET));
  report("ftruncate", "file", ftruncate(fd, 6));
  close(fd);
  fd = open("file", O_WRONLY | O_APPEND);
  report("append", "file", (int)write(fd, "abc", 3));
  report("close", "file", close(fd));
  report("close again", "file", close(fd));
  report("mkdir", "dir", mkdir("dir", 0777));
  report("mkdir", "dir/sub", mkdir("dir/sub", 0777));
  report("symlink", "link", symlink("file", "link"));
  report("symlink", "dirlink", symlink("dir", "dirlink"));
  report("symlink", "dangling", symlink("nowhere", "dangling"));
  report("symlink", "loop", symlink("loop", "loop"));
  report("symlink", "link", symlink("file", "link"));
  static const char* const kPaths[] = {"file",    "file/",     "file/x",    "dir",       "dir/",
                                       "dir/.",   "dir/..",    "missing",   "missing/x", "link",
                                       "link/",   "dirlink",   "dirlink/",  "dirlink/sub", "dangling",
                                       "dangling/", "loop",    "loop/x",    "./file",    "dir/../file"};
  for (size_t i = 0; i < sizeof kPaths / sizeof *kPaths; ++i) all(kPaths[i]);
  char long_name[300];
  memset(long_name, 'x', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = 0;
  struct stat s;
  printf("long: %s\n", stat(long_name, &s) < 0 ? name(errno) : "ok");
  report("rmdir", "dir", rmdir("dir"));
  report("rmdir", "file", rmdir("file"));
  report("unlink", "dir", unlink("dir"));
  report("unlink", "missing", unlink("missing"));
  report("rename", "file dir", rename("file", "dir"));
  report("rename", "dir file", rename("dir", "file"));
  report("rename", "file file2", rename("file", "file2"));
  report("rename", "missing x", rename("missing", "x"));
  report("rename", "dir dir/sub/x", rename("dir", "dir/sub/x"));
  report("link", "file2 file", link("file2", "file"));
  report("link", "dir dir2", link("dir", "dir2"));
  report("stat", "file", stat("file", &s));
  printf("links %d, size %d\n", (int)s.st_nlink, (int)s.st_size);
  DIR* d = opendir(".");
  int entries = 0;
  while (readdir(d) != NULL) ++entries;
  closedir(d);
  printf("%d entries\n", entries);
  report("rmdir", "dir/sub", rmdir("dir/sub"));
  report("rmdir", "dir", rmdir("dir"));
  return 0;
}
