// How far the write-ahead log of an SQLite database is whole, by its own checksums
// (https://www.sqlite.org/fileformat2.html, "The Write-Ahead Log").
//
// SQLite takes the first frame that isn't right for the end of the log, whatever comes after it.
#pragma once

#include <cstdint>
#include <string>

#include "sqlite/result.h"

namespace pbs::sqlite {

struct WalExtent {
    std::int64_t size = 0;     // bytes of the file; 0: there is none, or it can't be read
    std::int64_t whole = 0;    // bytes up to the end of the last frame that is right
    std::int64_t commits = 0;  // among these frames
};

// Reads the log of the database at `path`, that is `path`-wal.
WalExtent extent_of_wal(const std::string& path);

// Brings the log to the disk. What a connection has committed before is there then, or in the database, where
// a checkpoint has brought it to the disk. Errors: a text with the path.
Result<void> sync_wal(const std::string& path);

}  // namespace pbs::sqlite
