/*
 * The record of all that programs do to the files below a folder, in order: from it a test makes the states
 * in which a power failure may leave the disk (crash_states.h). The file that PBSPOLICY_RECORD names gets an
 * entry for each call; PBSPOLICY_RECORD_BELOW names the folder.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum record_type {
    record_make = 1, /* path is a new file */
    record_write,    /* data at `at` */
    record_size,     /* the file has `at` bytes, the new ones 0 */
    record_sync,     /* the entries before entry number `at` about the file or folder are on the disk */
    record_rename,   /* path is other from here on */
    record_link,     /* path has the name other too */
    record_unlink,
    record_mkdir,
    record_rmdir,
    record_mark /* from the test: data says what has been acknowledged */
};

struct record_entry {
    uint32_t type;
    uint32_t path_size; /* of what follows: path, other and data */
    uint32_t other_size;
    uint32_t data_size;
    uint64_t file; /* its number, for types about a file */
    int64_t at;
};

#ifdef __cplusplus
}
#endif
