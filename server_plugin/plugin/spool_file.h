// A text that is too long for memory, in a file without a name: it goes with the object, and with the
// process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace pbs::plugin {

// One thread at a time.
class SpoolFile {
  public:
    // The file lies in `folder`; it is made when something is to be written. It takes no more of the disk
    // than is left free.
    explicit SpoolFile(std::string folder) : folder_(std::move(folder)) {}
    ~SpoolFile();
    SpoolFile(const SpoolFile&) = delete;
    SpoolFile& operator=(const SpoolFile&) = delete;

    // Nothing is written any more once something couldn't be.
    void append(std::string_view text);
    // Why the text isn't whole; empty: it is.
    const std::string& error() const { return error_; }
    // Bytes.
    std::int64_t size() const { return size_; }
    // At most so many bytes from `offset` on, fewer at the end only. Errors: a text for the one who asked.
    tl::expected<std::string, std::string> part(std::int64_t offset, std::size_t most) const;
    // Cuts off some of its end, as much as takes some milliseconds; a long file takes long to close. False:
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
