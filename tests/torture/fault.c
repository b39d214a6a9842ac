// Stands between the command and the system: writes down every call that touches a folder, and
// fails, cuts short or ends the process at the k-th of them. Loaded with LD_PRELOAD.
//
//   FAULT_UNDER=DIR    calls on DIR and all below it count; without it nothing happens
//   FAULT_LOG=FILE     each call that counted is appended: a line of fields, then the data written
//   FAULT_CALLS=a,b    which calls are candidates for the fault (all, if not given)
//   FAULT_AT=K         the fault begins at the K-th candidate, from 1
//   FAULT_FOR=N        and lasts for N candidates; 0: for ever (1)
//   FAULT_DO=WHAT      kill (before the call), kill-after, short (half of the bytes), one (a single
//                      byte), skip (says that it is done, and does nothing, and is not written
//                      down), or the number of an error
//
// Calls go to the system directly, so that nothing here depends on the C library's own wrappers.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { kPath = 2 * PATH_MAX };
enum Fault { kNone, kKill, kKillAfter, kShort, kOne, kSkip, kError };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char* under;
static size_t under_length;
static const char* calls;
static long at, lasts = 1, candidates, all;
static enum Fault fault = kNone;
static int fault_error;
static int log_file = -1;

__attribute__((constructor)) static void begin(void) {
  under = getenv("FAULT_UNDER");
  if (!under) return;
  under_length = strlen(under);
  calls = getenv("FAULT_CALLS");
  if (getenv("FAULT_AT")) at = atol(getenv("FAULT_AT"));
  if (getenv("FAULT_FOR")) lasts = atol(getenv("FAULT_FOR"));
  const char* what = getenv("FAULT_DO");
  if (what && at > 0) {
    if (!strcmp(what, "kill"))
      fault = kKill;
    else if (!strcmp(what, "kill-after"))
      fault = kKillAfter;
    else if (!strcmp(what, "short"))
      fault = kShort;
    else if (!strcmp(what, "one"))
      fault = kOne;
    else if (!strcmp(what, "skip"))
      fault = kSkip;
    else
      fault = kError, fault_error = atoi(what);
  }
  const char* file = getenv("FAULT_LOG");
  if (file) {
    const int opened =
        (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    log_file = fcntl(opened, F_DUPFD_CLOEXEC, 500);  // out of the way
    syscall(SYS_close, opened);
  }
}

static int is_under(const char* path) {
  return under && !strncmp(path, under, under_length) &&
         (path[under_length] == 0 || path[under_length] == '/');
}

static int path_of(int descriptor, char* out) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, out, kPath - 1);
  if (length <= 0) return 0;
  out[length] = 0;
  return 1;
}

static int path_at(int folder, const char* name, char* out) {
  if (name[0] == '/') return snprintf(out, kPath, "%s", name) < kPath;
  if (folder == AT_FDCWD) {
    if (!getcwd(out, kPath)) return 0;
  } else if (!path_of(folder, out)) {
    return 0;
  }
  const size_t length = strlen(out);
  return snprintf(out + length, kPath - length, "/%s", name) < (int)(kPath - length);
}

static int is_candidate(const char* name) {
  if (!calls) return 1;
  const size_t length = strlen(name);
  for (const char* found = calls; (found = strstr(found, name)); found += length) {
    if ((found == calls || found[-1] == ',') && (found[length] == 0 || found[length] == ',')) {
      return 1;
    }
  }
  return 0;
}

// Takes the lock; what becomes of this call.
static enum Fault enter(const char* name) {
  pthread_mutex_lock(&lock);
  ++all;
  if (!is_candidate(name)) return kNone;
  ++candidates;
  if (fault == kNone || candidates < at || (lasts > 0 && candidates >= at + lasts)) return kNone;
  if (fault == kKill) kill(getpid(), SIGKILL);
  return fault;
}

// kind, result, error, inode, two numbers, two paths, length of the data
static void leave(enum Fault done, const char* name, long result, int error, long inode, long first,
                  long second, const char* path, const char* other, const void* data) {
  if (done == kKillAfter) kill(getpid(), SIGKILL);
  if (log_file >= 0 && done != kSkip) {
    static char line[3 * kPath];
    const long length = data && result > 0 ? result : 0;
    const int size =
        snprintf(line, sizeof line, "%s\t%ld\t%d\t%ld\t%ld\t%ld\t%s\t%s\t%ld\n", name, result,
                 result < 0 ? error : 0, inode, first, second, path, other, length);
    struct iovec parts[2] = {{line, (size_t)size}, {(void*)data, (size_t)length}};
    syscall(SYS_writev, log_file, parts, length > 0 ? 2 : 1);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
}

static long inode_of(int descriptor) {
  struct stat status;
  return syscall(SYS_newfstatat, descriptor, "", &status, AT_EMPTY_PATH) == 0 ? (long)status.st_ino
                                                                              : 0;
}

// The call itself, or what is done instead of it.
#define FAULTY(done, call) \
  ((done) == kError ? (errno = fault_error, -1L) : (done) == kSkip ? 0L : (long)(call))

static int do_open(int folder, const char* name, int flags, mode_t mode) {
  char path[kPath];
  const int kept = errno;
  if (!under || !path_at(folder, name, path) || !is_under(path)) {
    return (int)syscall(SYS_openat, folder, name, flags, mode);
  }
  errno = kept;
  const enum Fault done = enter("open");
  const long result =
      FAULTY(done == kSkip ? kNone : done, syscall(SYS_openat, folder, name, flags, mode));
  const int error = errno;
  leave(done, "open", result, error, result >= 0 ? inode_of((int)result) : 0, flags, mode, path, "",
        NULL);
  return (int)result;
}

static mode_t mode_in(int flags, va_list rest) {
  return (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;
}

#define OPEN(name)                               \
  int name(const char* path, int flags, ...) {   \
    va_list rest;                                \
    va_start(rest, flags);                       \
    const mode_t mode = mode_in(flags, rest);    \
    va_end(rest);                                \
    return do_open(AT_FDCWD, path, flags, mode); \
  }
#define OPENAT(name)                                       \
  int name(int folder, const char* path, int flags, ...) { \
    va_list rest;                                          \
    va_start(rest, flags);                                 \
    const mode_t mode = mode_in(flags, rest);              \
    va_end(rest);                                          \
    return do_open(folder, path, flags, mode);             \
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int file, const void* data, size_t length) {
  char path[kPath];
  if (!under || file <= 2 || !path_of(file, path) || !is_under(path)) {
    return syscall(SYS_write, file, data, length);
  }
  const enum Fault done = enter("write");
  const size_t most = done == kShort ? (length + 1) / 2 : done == kOne ? (length > 0) : length;
  const long result = FAULTY(done, syscall(SYS_write, file, data, most));
  const int error = errno;
  const long place = result > 0 ? syscall(SYS_lseek, file, 0, SEEK_CUR) - result : 0;
  leave(done, "write", result, error, inode_of(file), place, 0, path, "", data);
  return result;
}

ssize_t read(int file, void* data, size_t length) {
  char path[kPath];
  if (!under || file <= 2 || !path_of(file, path) || !is_under(path)) {
    return syscall(SYS_read, file, data, length);
  }
  const enum Fault done = enter("read");
  const size_t most = done == kShort ? (length + 1) / 2 : done == kOne ? (length > 0) : length;
  const long result = FAULTY(done, syscall(SYS_read, file, data, most));
  const int error = errno;
  leave(done, "read", result, error, inode_of(file), 0, 0, path, "", NULL);
  return result;
}

// Calls on a descriptor alone.
#define ON_FILE(name, word, argument, number, call)                                         \
  int name(int file argument) {                                                             \
    char path[kPath];                                                                       \
    if (!under || file <= 2 || !path_of(file, path) || !is_under(path)) return (int)(call); \
    const long inode = inode_of(file);                                                      \
    const enum Fault done = enter(word);                                                    \
    const long result = FAULTY(done, call);                                                 \
    const int error = errno;                                                                \
    leave(done, word, result, error, inode, (long)(number), 0, path, "", NULL);             \
    return (int)result;                                                                     \
  }
#define NOTHING
#define AND_LENGTH , off_t length
#define AND_MODE , mode_t mode
#define AND_HOW , int how
ON_FILE(fsync, "fsync", NOTHING, 0, syscall(SYS_fsync, file))
ON_FILE(fdatasync, "fsync", NOTHING, 0, syscall(SYS_fdatasync, file))
ON_FILE(ftruncate, "ftruncate", AND_LENGTH, length, syscall(SYS_ftruncate, file, length))
ON_FILE(ftruncate64, "ftruncate", AND_LENGTH, length, syscall(SYS_ftruncate, file, length))
ON_FILE(fchmod, "fchmod", AND_MODE, mode, syscall(SYS_fchmod, file, mode))
ON_FILE(flock, "flock", AND_HOW, how, syscall(SYS_flock, file, how))

// A close that fails has closed all the same.
int close(int file) {
  char path[kPath];
  if (!under || file <= 2 || file == log_file || !path_of(file, path) || !is_under(path)) {
    return (int)syscall(SYS_close, file);
  }
  const long inode = inode_of(file);
  const enum Fault done = enter("close");
  long result = syscall(SYS_close, file);
  if (done == kError) errno = fault_error, result = -1;
  const int error = errno;
  leave(done == kSkip ? kNone : done, "close", result, error, inode, 0, 0, path, "", NULL);
  return (int)result;
}

// Calls on a name in a folder.
static int on_name(const char* word, int folder, const char* name, long number, long call,
                   long flags) {
  char path[kPath];
  const int ours = under && path_at(folder, name, path) && is_under(path);
  const enum Fault done = ours ? enter(word) : kNone;
  const long result = FAULTY(done, syscall(call, folder, name, flags));
  const int error = errno;
  struct stat status;
  long inode = 0;
  if (ours && !strcmp(word, "mkdir") && result == 0 &&
      syscall(SYS_newfstatat, folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
    inode = (long)status.st_ino;
  }
  if (ours) leave(done, word, result, error, inode, number, 0, path, "", NULL);
  errno = error;
  return (int)result;
}

int mkdirat(int folder, const char* name, mode_t mode) {
  return on_name("mkdir", folder, name, mode, SYS_mkdirat, mode);
}
int mkdir(const char* name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }
int unlinkat(int folder, const char* name, int flags) {
  return on_name(flags & AT_REMOVEDIR ? "rmdir" : "unlink", folder, name, 0, SYS_unlinkat, flags);
}
int unlink(const char* name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char* name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

// Calls on two names.
static int on_names(const char* word, int from_folder, const char* from, int to_folder,
                    const char* to, long call, long flags) {
  char path[kPath], other[kPath];
  const int ours = under && path_at(from_folder, from, path) && path_at(to_folder, to, other) &&
                   (is_under(path) || is_under(other));
  const enum Fault done = ours ? enter(word) : kNone;
  const long result = FAULTY(done, syscall(call, from_folder, from, to_folder, to, flags));
  const int error = errno;
  if (ours) leave(done, word, result, error, 0, flags, 0, path, other, NULL);
  errno = error;
  return (int)result;
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  return on_names("rename", from_folder, from, to_folder, to, SYS_renameat2, flags);
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return renameat2(from_folder, from, to_folder, to, 0);
}
int rename(const char* from, const char* to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  return on_names("link", from_folder, from, to_folder, to, SYS_linkat, flags);
}
int link(const char* from, const char* to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

// Looking at a file.
static int do_look(int folder, const char* name, void* status, int flags) {
  char path[kPath];
  const int kept = errno;
  const int found = name[0] == 0 ? path_of(folder, path) : path_at(folder, name, path);
  const int ours = under && found && is_under(path) && !(name[0] == 0 && folder <= 2);
  errno = kept;
  const enum Fault done = ours ? enter("look") : kNone;
  const long result =
      FAULTY(done == kSkip ? kNone : done, syscall(SYS_newfstatat, folder, name, status, flags));
  const int error = errno;
  if (ours) leave(done, "look", result, error, 0, flags, 0, path, "", NULL);
  errno = error;
  return (int)result;
}

int fstat(int file, struct stat* status) { return do_look(file, "", status, AT_EMPTY_PATH); }
int fstat64(int file, struct stat64* status) { return do_look(file, "", status, AT_EMPTY_PATH); }
int stat(const char* path, struct stat* status) { return do_look(AT_FDCWD, path, status, 0); }
int stat64(const char* path, struct stat64* status) { return do_look(AT_FDCWD, path, status, 0); }
int fstatat(int folder, const char* name, struct stat* status, int flags) {
  return do_look(folder, name, status, flags);
}
int fstatat64(int folder, const char* name, struct stat64* status, int flags) {
  return do_look(folder, name, status, flags);
}
