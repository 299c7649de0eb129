/* Preloaded before libc: fails the n-th call of a kind, or logs what changes files.

   FAULT_UNDER  folder whose files count (sockets and memory count everywhere)
   FAULT_SHARED file of 8-byte numbers shared by all processes: calls met so far, failed
   FAULT_CALL   open write fsync rename unlink mkdir socket memory
   FAULT_NTH    which call fails, from 1
   FAULT_ERRNO  with which error
   FAULT_LOG    file to which every change below the folder is appended

   A process armed after its start calls faults_arm(); others are armed as they start. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 1024
#define LARGE (1 << 20)
#define REAL(name) ({ static typeof(&name) real; \
    if (!real) { real = (typeof(&name))dlsym(RTLD_NEXT, #name); } real; })

static const char *under, *call;
static long nth, error_number;
static long *shared;
static int log_handle = -1;
static char names[FILES][512];

static int counts(const char *path) {
    return under && path && !strncmp(path, under, strlen(under));
}

static int known(int handle) {
    return under && handle >= 0 && handle < FILES && names[handle][0];
}

/* Tell whether this call is the one that fails. */
static int fails(const char *kind) {
    if (!shared || !call || strcmp(kind, call)) return 0;
    long met = __atomic_add_fetch(&shared[0], 1, __ATOMIC_SEQ_CST);
    /* A disk that is full stays full. */
    if (met < nth || (met > nth && error_number != ENOSPC)) return 0;
    shared[1] = 1;
    errno = (int)error_number;
    return 1;
}

static void note(const char *kind, const char *path, const char *other, long at,
                 const void *data, size_t size) {
    char *line;
    if (log_handle < 0) return;
    int head = asprintf(&line, "%s\t%s\t%s\t%ld\t%zu\n", kind, path, other, at, size);
    line = realloc(line, head + size);
    if (size) memcpy(line + head, data, size);
    if (REAL(write)(log_handle, line, head + size) < 0) abort();
    free(line);
}

void faults_arm(void) {
    const char *path = getenv("FAULT_SHARED"), *log = getenv("FAULT_LOG");
    if (!path) return;
    int handle = REAL(open)(path, O_RDWR);
    void *found = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
    if (handle < 0 || found == MAP_FAILED) abort();
    close(handle);
    shared = found;
    call = getenv("FAULT_CALL");
    nth = atol(getenv("FAULT_NTH"));
    error_number = atol(getenv("FAULT_ERRNO"));
    if (log && *log) log_handle = fcntl(REAL(open)(log, O_WRONLY | O_APPEND | O_CLOEXEC),
                                        F_DUPFD_CLOEXEC, FILES);
    under = getenv("FAULT_UNDER");
}

__attribute__((constructor)) static void begin(void) { faults_arm(); }

static int opened(int handle, const char *path, int flags, int was_there) {
    if (handle >= 0 && handle < FILES && counts(path)) {
        snprintf(names[handle], sizeof names[handle], "%s", path);
        if ((flags & O_CREAT) && !was_there) note("create", path, "", 0, 0, 0);
        if (flags & O_TRUNC) note("truncate", path, "", 0, 0, 0);
    }
    return handle;
}

#define OPEN(name) int name(const char *path, int flags, ...) { \
    va_list rest; va_start(rest, flags); int mode = va_arg(rest, int); va_end(rest); \
    if (!counts(path)) return REAL(name)(path, flags, mode); \
    if (fails("open")) return -1; \
    int there = !access(path, F_OK); \
    return opened(REAL(name)(path, flags, mode), path, flags, there); }
OPEN(open)
OPEN(open64)

#define OPENAT(name) int name(int at, const char *path, int flags, ...) { \
    va_list rest; va_start(rest, flags); int mode = va_arg(rest, int); va_end(rest); \
    if (!counts(path)) return REAL(name)(at, path, flags, mode); \
    if (fails("open")) return -1; \
    int there = !access(path, F_OK); \
    return opened(REAL(name)(at, path, flags, mode), path, flags, there); }
OPENAT(openat)
OPENAT(openat64)

int close(int handle) {
    if (handle >= 0 && handle < FILES) names[handle][0] = 0;
    return REAL(close)(handle);
}

ssize_t write(int handle, const void *data, size_t size) {
    if (!known(handle)) return REAL(write)(handle, data, size);
    if (fails("write")) return -1;
    ssize_t done = REAL(write)(handle, data, size);
    if (done > 0) note("write", names[handle], "", lseek(handle, 0, SEEK_CUR) - done,
                       data, done);
    return done;
}

ssize_t pwrite64(int handle, const void *data, size_t size, off64_t at) {
    if (!known(handle)) return REAL(pwrite64)(handle, data, size, at);
    if (fails("write")) return -1;
    ssize_t done = REAL(pwrite64)(handle, data, size, at);
    if (done > 0) note("write", names[handle], "", at, data, done);
    return done;
}

int ftruncate64(int handle, off64_t size) {
    int done = REAL(ftruncate64)(handle, size);
    if (!done && known(handle)) note("truncate", names[handle], "", size, 0, 0);
    return done;
}

int fsync(int handle) {
    if (!known(handle)) return REAL(fsync)(handle);
    if (fails("fsync")) return -1;
    int done = REAL(fsync)(handle);
    if (!done) note("fsync", names[handle], "", 0, 0, 0);
    return done;
}

int rename(const char *from, const char *to) {
    if (!counts(to)) return REAL(rename)(from, to);
    if (fails("rename")) return -1;
    int done = REAL(rename)(from, to);
    if (!done) note("rename", from, to, 0, 0, 0);
    return done;
}

int unlink(const char *path) {
    if (!counts(path)) return REAL(unlink)(path);
    if (fails("unlink")) return -1;
    int done = REAL(unlink)(path);
    if (!done) note("unlink", path, "", 0, 0, 0);
    return done;
}

int mkdir(const char *path, mode_t mode) {
    if (!counts(path)) return REAL(mkdir)(path, mode);
    if (fails("mkdir")) return -1;
    int done = REAL(mkdir)(path, mode);
    if (!done) note("mkdir", path, "", 0, 0, 0);
    return done;
}

int socket(int domain, int type, int protocol) {
    return fails("socket") ? -1 : REAL(socket)(domain, type, protocol);
}

/* dlsym may allocate itself, so libc's own names are called. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

void *malloc(size_t size) {
    return size > LARGE && fails("memory") ? 0 : __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
    return n * size > LARGE && fails("memory") ? 0 : __libc_calloc(n, size);
}

void *realloc(void *block, size_t size) {
    return size > LARGE && fails("memory") ? 0 : __libc_realloc(block, size);
}
