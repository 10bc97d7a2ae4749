// An archive of texts, for tar(1).
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace pbs::diag {

/// The archive in the format ustar (POSIX.1-2001, pax, "ustar Interchange Format"), in memory.
class Tar {
  public:
    /// `now`: the date of all its files.
    explicit Tar(std::chrono::sys_seconds now) : now_(now) {}
    /// Adds a file that its owner reads and writes. The name has at most 100 bytes.
    void add(std::string_view name, std::string_view text);
    /// The whole archive, with its end; nothing is added afterwards.
    std::string finish();

  private:
    std::chrono::sys_seconds now_;
    std::string archive_;
};

}  // namespace pbs::diag
