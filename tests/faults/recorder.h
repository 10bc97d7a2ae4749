/* By these functions faults.c adds the calls that it makes to the record (record.h). */
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

struct recording {
    volatile int locked;
    volatile long entries;
};

void begin_recording(struct recording* with);
/* A call is made and recorded between lock_record(), which returns 0 if there is no record, and
   unlock_record(). */
int lock_record(void);
void unlock_record(void);

int is_missing(int folder, const char* path);
void record_opened(int fd, int missing, int emptied);
void record_written(int fd, const void* data, ssize_t size, off64_t at);
void record_vector(int fd, const struct iovec* parts, int count, ssize_t size);
void record_sized(int fd, off64_t size);
void record_allocated(int fd, off64_t end);
long entries_so_far(void);
/* Records a sync of the entries before `before`. Locks only for this, as the sync itself takes long. */
void record_synced(int fd, long before);
void record_name(int type, int folder, const char* path, int other_folder, const char* other);
