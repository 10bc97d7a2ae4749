// Finds out which part of an SQLite database's write-ahead log is intact, by the log's own checksums
// (https://www.sqlite.org/fileformat2.html, "The Write-Ahead Log").
//
// SQLite takes the first frame with a wrong checksum for the end of the log, whatever comes after it.
#pragma once

#include <cstdint>
#include <string>

#include "sqlite/result.h"

namespace pbs::sqlite {

struct WalExtent {
    std::int64_t size = 0;     // bytes of the file; 0: there is no file, or it can't be read
    std::int64_t whole = 0;    // bytes up to the end of the last intact frame
    std::int64_t commits = 0;  // commits in the intact frames
};

// Reads the log of the database at `path`: the file `path`-wal.
WalExtent extent_of_wal(const std::string& path);

// Brings the log to the disk. Everything that a connection committed before is then on the disk: in the log,
// or in the database by a checkpoint. Errors: a text with the path.
Result<void> sync_wal(const std::string& path);

}  // namespace pbs::sqlite
