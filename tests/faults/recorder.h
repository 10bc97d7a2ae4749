/* Functions by which faults.c records the calls that it makes (record.h). */
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

struct recording {
    volatile int locked;
    volatile long entries;
};

void begin_recording(struct recording* with);
/* lock_record() has to be called before a call that is to be recorded, and unlock_record() after recording
 * it. lock_record() returns 0 if there is no record. */
int lock_record(void);
void unlock_record(void);

int is_missing(int folder, const char* path);
void record_opened(int fd, int missing, int emptied);
void record_written(int fd, const void* data, ssize_t size, off64_t at);
void record_vector(int fd, const struct iovec* parts, int count, ssize_t size);
void record_sized(int fd, off64_t size);
void record_allocated(int fd, off64_t end);
long entries_so_far(void);
/* Records that a sync has put the entries before `before` on the disk. Locks the record only for this, not
 * during the sync, which takes long. */
void record_synced(int fd, long before);
void record_name(int type, int folder, const char* path, int other_folder, const char* other);
