/* Format of a record of all calls by which programs change the files below a folder, in the order of the
 * calls. From it, a test computes states in which a power failure may leave the disk (crash_states.h). The
 * environment variable PBSPOLICY_RECORD names the file that gets an entry for each call, and
 * PBSPOLICY_RECORD_BELOW the folder. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum record_type {
    record_make = 1, /* path is a new file */
    record_write,    /* data is written at offset `at` */
    record_size,     /* the file's size is set to `at` bytes; added bytes are 0 */
    record_sync,     /* all entries about the file or folder before number `at` are on the disk */
    record_rename,   /* path is renamed to other */
    record_link,     /* `other` becomes a second name of `path` */
    record_unlink,
    record_mkdir,
    record_rmdir,
    record_mark /* made by the test: data says how much is acknowledged */
};

struct record_entry {
    uint32_t type;
    uint32_t path_size; /* path, other and data follow the entry */
    uint32_t other_size;
    uint32_t data_size;
    uint64_t file; /* inode number of the file, for types about a file */
    int64_t at;
};

#ifdef __cplusplus
}
#endif
