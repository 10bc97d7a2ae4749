/* What faults.c tells the record (record.h) of the calls that it has made. */
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

struct recording {
    volatile int locked;
    volatile long entries;
};

void begin_recording(struct recording* with);
/* Between these two the call is made and told. Returns 0 if there is no record. */
int lock_record(void);
void unlock_record(void);

int is_missing(int folder, const char* path);
void record_opened(int fd, int missing, int emptied);
void record_written(int fd, const void* data, ssize_t size, off64_t at);
void record_vector(int fd, const struct iovec* parts, int count, ssize_t size);
void record_sized(int fd, off64_t size);
void record_allocated(int fd, off64_t end);
long entries_so_far(void);
/* Locks by itself, as a sync takes long. */
void record_synced(int fd, long before);
void record_name(int type, int folder, const char* path, int other_folder, const char* other);
