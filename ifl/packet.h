// The packets that carry the batch protocol over a stream, as OpenPBS 20 and later frame it.
//
//   offset  length  contents
//        0       6  "PKTV1" and a NUL byte
//        6       1  type (PacketType); senders of DIS data leave it undefined, so a receiver ignores it there
//        7       4  length of the data, big endian; at least 1
//       11     ...  the data: one request, one reply or one part of a reply, or an authentication token
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ifl/error.h"

namespace pbs::ifl {

inline constexpr std::size_t kPacketHeaderSize = 11;

enum class PacketType : std::uint8_t {
    dis = 0,
    auth_token = 1,  // of an authentication method's handshake
    auth_error = 2,
    auth_done = 3,
    encrypted = 4,
};

/// A packet with a copy of `data`, which must not be empty.
std::string make_packet(std::string_view data, PacketType type = PacketType::dis);

/// Begins a packet at the end of `out`; the data is appended by the caller. Returns where it began, for
/// end_packet(), which fills in the length: of what is in `out` and of `more` bytes that are sent behind it.
std::size_t begin_packet(std::string& out, PacketType type = PacketType::dis);
void end_packet(std::string& out, std::size_t begin, std::size_t more = 0);

/// How many bytes are worth reading from a socket at a time.
inline constexpr std::size_t kReadSize = 65536;

/// Takes packets out of a stream of bytes that arrives in pieces.
class PacketReader {
  public:
    /// `max_data`: the longest data accepted, in bytes; a longer one is an error as soon as its header is
    /// here.
    explicit PacketReader(std::size_t max_data) : max_data_(max_data) {}

    void set_max_data(std::size_t max_data) { max_data_ = max_data; }
    void feed(std::string_view bytes) { buffer_.append(bytes); }
    /// As feed(), for bytes that are yet to be read: room for `size` of them, of which filled() then says how
    /// many came. No other member is called in between.
    char* room(std::size_t size);
    void filled(std::size_t size);
    /// The data of the next packet, valid until the next call of a member; nullopt when more bytes are
    /// needed; an error (PBSE_DISPROTO) when the bytes are no packet, after which only errors follow.
    Result<std::optional<std::string_view>> next();
    /// What the sender says that the last packet of next() is: any byte.
    PacketType type() const { return type_; }
    /// Whether a packet has begun and isn't whole: what a timeout for stalled peers asks.
    bool in_progress() const { return unread() != 0; }
    /// Bytes of packets that weren't handed out yet.
    std::size_t unread() const { return buffer_.size() - consumed_; }
    /// Bytes of memory that it keeps.
    std::size_t size() const { return buffer_.capacity(); }

  private:
    void drop_consumed();

    std::size_t max_data_;
    std::string buffer_;
    std::size_t room_ = 0;  // of buffer_, at its end
    std::size_t consumed_ = 0;
    PacketType type_ = PacketType::dis;
};

}  // namespace pbs::ifl
