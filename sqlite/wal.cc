#include "sqlite/wal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <vector>

namespace pbs::sqlite {
namespace {

constexpr std::size_t kHeader = 32;
constexpr std::size_t kFrameHeader = 24;
constexpr std::uint32_t kMagic = 0x377f0682;  // last bit set: checksums read words in big-endian order
constexpr std::uint32_t kLargestPage = 65536;

using Bytes = std::vector<unsigned char>;

std::uint32_t big_endian(const unsigned char* at) {
    return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 | at[3];
}
std::uint32_t little_endian(const unsigned char* at) {
    return std::uint32_t{at[3]} << 24 | std::uint32_t{at[2]} << 16 | std::uint32_t{at[1]} << 8 | at[0];
}

class Checksum {
  public:
    explicit Checksum(bool big) : word_(big ? big_endian : little_endian) {}
    void add(const unsigned char* bytes, std::size_t size) {
        for (std::size_t i = 0; i + 8 <= size; i += 8) {
            first_ += word_(bytes + i) + second_;
            second_ += word_(bytes + i + 4) + first_;
        }
    }
    bool is_at(const unsigned char* at) const {
        return first_ == big_endian(at) && second_ == big_endian(at + 4);
    }

  private:
    std::uint32_t (*word_)(const unsigned char*);
    std::uint32_t first_ = 0;
    std::uint32_t second_ = 0;
};

bool read(std::ifstream& file, Bytes& bytes) {
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return file.gcount() == static_cast<std::streamsize>(bytes.size());
}

}  // namespace

WalExtent extent_of_wal(const std::string& path) {
    WalExtent extent;
    std::ifstream file(path + "-wal", std::ios::binary | std::ios::ate);
    if (!file) return extent;
    extent.size = std::max<std::int64_t>(file.tellg(), 0);
    file.seekg(0);
    Bytes header(kHeader);
    if (!read(file, header) || (big_endian(header.data()) & ~1U) != kMagic) return extent;
    const std::uint32_t page = big_endian(&header[8]);
    Checksum sum((big_endian(header.data()) & 1U) != 0);
    sum.add(header.data(), 24);
    if (!sum.is_at(&header[24]) || page < 512 || page > kLargestPage || (page & (page - 1)) != 0)
        return extent;
    extent.whole = kHeader;
    Bytes frame(kFrameHeader + page);
    while (read(file, frame)) {
        sum.add(frame.data(), 8);
        sum.add(frame.data() + kFrameHeader, page);
        const bool of_this_log = std::equal(&frame[8], &frame[16], &header[16]);
        if (!of_this_log || big_endian(frame.data()) == 0 || !sum.is_at(&frame[16])) break;
        extent.whole += static_cast<std::int64_t>(frame.size());
        if (big_endian(&frame[4]) != 0) ++extent.commits;
    }
    return extent;
}

// Opening and closing the log here drops no lock of this process: SQLite locks the database and its -shm
// file, but never the log.
Result<void> sync_wal(const std::string& path) {
    const std::string log = path + "-wal";
    const int fd = ::open(log.c_str(), O_RDONLY | O_CLOEXEC);
    const bool done = fd >= 0 ? ::fdatasync(fd) == 0 : errno == ENOENT;
    const int why = errno;
    if (fd >= 0) ::close(fd);
    if (done) return {};
    return tl::unexpected(fmt::format("{} can not be brought to the disk: {}", log,
                                      std::error_code(why, std::generic_category()).message()));
}

}  // namespace pbs::sqlite
