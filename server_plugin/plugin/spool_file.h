// A text that is too long for memory, in a file without a name: the file ends with the object, or with the
// process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace pbs::plugin {

// For one thread at a time.
class SpoolFile {
  public:
    // The file lies in `folder`; it is made at the first write. It takes no more of the disk than it leaves
    // free.
    explicit SpoolFile(std::string folder) : folder_(std::move(folder)) {}
    ~SpoolFile();
    SpoolFile(const SpoolFile&) = delete;
    SpoolFile& operator=(const SpoolFile&) = delete;

    // Appends text. After a failed write nothing more is written.
    void append(std::string_view text);
    // The reason why the text isn't whole; empty: it is.
    const std::string& error() const { return error_; }
    // The size in bytes.
    std::int64_t size() const { return size_; }
    // Returns at most `most` bytes from `offset` on, fewer at the end only. Errors: a text for the client.
    tl::expected<std::string, std::string> part(std::int64_t offset, std::size_t most) const;
    // Cuts off as much of its end as takes some milliseconds, because a long file takes long to close. False:
    // nothing is left.
    bool shrink();

  private:
    bool has_room(std::size_t more);

    std::string folder_;
    int fd_ = -1;
    std::int64_t size_ = 0;
    std::string error_;
};

}  // namespace pbs::plugin
