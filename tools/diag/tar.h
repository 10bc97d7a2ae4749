// Writes an archive of texts for tar(1).
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace pbs::diag {

/// An archive in memory, in the format ustar (POSIX.1-2001, pax, "ustar Interchange Format").
class Tar {
  public:
    /// `now` becomes the date of all files.
    explicit Tar(std::chrono::sys_seconds now) : now_(now) {}
    /// Adds a file that only its owner may read and write. The name has at most 100 bytes.
    void add(std::string_view name, std::string_view text);
    /// Returns the whole archive with its end mark. Add nothing afterwards.
    std::string finish();

  private:
    std::chrono::sys_seconds now_;
    std::string archive_;
};

}  // namespace pbs::diag
