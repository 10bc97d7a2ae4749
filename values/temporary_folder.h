// A temporary folder.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace pbs::values {

// A folder of this process, which is removed with this object.
class TemporaryFolder {
  public:
    // Makes a folder that only this user may enter, where programs keep temporary files (TMPDIR, or /tmp).
    // Its name begins with `program`. The error names the folder and the reason.
    static tl::expected<TemporaryFolder, std::string> make(std::string_view program);
    TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    ~TemporaryFolder();

    const std::string& path() const { return path_; }
    // The path of a file in the folder.
    std::string file(std::string_view name) const { return path_ + '/' + std::string(name); }

  private:
    explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

}  // namespace pbs::values
