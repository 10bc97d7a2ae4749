// Stores a text that is too long for memory, in a file without a name, which disappears with the object or
// the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace pbs::plugin {

// A file without a name, to which texts are appended. Only one thread at a time may use an object.
class SpoolFile {
  public:
    // The file is made in `folder` at the first write. It stops growing when the disk has less free space
    // than the file has bytes.
    explicit SpoolFile(std::string folder) : folder_(std::move(folder)) {}
    ~SpoolFile();
    SpoolFile(const SpoolFile&) = delete;
    SpoolFile& operator=(const SpoolFile&) = delete;

    // Appends text. After a failed write nothing more is written.
    void append(std::string_view text);
    // Returns the reason why a part of the text is missing; empty: the text is complete.
    const std::string& error() const { return error_; }
    // Returns the size in bytes.
    std::int64_t size() const { return size_; }
    // Returns `most` bytes from `offset` on, or fewer at the end. An error is a text for the client.
    tl::expected<std::string, std::string> part(std::int64_t offset, std::size_t most) const;
    // Shortens the file in a step of a few milliseconds, because closing a long file at once takes long.
    // Returns false if nothing is left.
    bool shrink();

  private:
    bool has_room(std::size_t more);

    std::string folder_;
    int fd_ = -1;
    std::int64_t size_ = 0;
    std::string error_;
};

}  // namespace pbs::plugin
