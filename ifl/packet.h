// Reads and writes the packets of the batch protocol over a stream, as OpenPBS 20 and later frame it.
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
    auth_token = 1,  // token of an authentication method
    auth_error = 2,
    auth_done = 3,
    encrypted = 4,
};

/// Returns a packet with a copy of `data`, which must not be empty.
std::string make_packet(std::string_view data, PacketType type = PacketType::dis);

/// Begins a packet at the end of `out`, to which the caller then appends the data. Returns the packet's place
/// for end_packet(). end_packet() fills in the length of the data: the bytes that `out` has after the header,
/// and `more` bytes to be sent after `out`.
std::size_t begin_packet(std::string& out, PacketType type = PacketType::dis);
void end_packet(std::string& out, std::size_t begin, std::size_t more = 0);

/// The number of bytes to read from a socket at a time.
inline constexpr std::size_t kReadSize = 65536;

/// Splits a stream of bytes into packets.
class PacketReader {
  public:
    /// `max_data`: the longest accepted data, in bytes; a longer packet is an error as soon as its header is
    /// read.
    explicit PacketReader(std::size_t max_data) : max_data_(max_data) {}

    void set_max_data(std::size_t max_data) { max_data_ = max_data; }
    void feed(std::string_view bytes) { buffer_.append(bytes); }
    /// For reading into the buffer instead of feed(): room() returns space for `size` bytes; then filled()
    /// says how many were read. No other member may be called in between.
    char* room(std::size_t size);
    void filled(std::size_t size);
    /// The data of the next packet, valid until the next call of a member; nullopt: more bytes are needed; an
    /// error (PBSE_DISPROTO): the bytes are no packet, and only errors follow.
    Result<std::optional<std::string_view>> next();
    /// The sender's type of the packet last returned by next(): any byte.
    PacketType type() const { return type_; }
    /// Returns whether a packet has begun that isn't complete, for timeouts of stalled peers.
    bool in_progress() const { return unread() != 0; }
    /// The number of buffered bytes that next() hasn't returned.
    std::size_t unread() const { return buffer_.size() - consumed_; }
    /// The number of bytes of memory in use.
    std::size_t size() const { return buffer_.capacity(); }

  private:
    void drop_consumed();

    std::size_t max_data_;
    std::string buffer_;
    std::size_t room_ = 0;  // bytes that room() added at the end of buffer_
    std::size_t consumed_ = 0;
    PacketType type_ = PacketType::dis;
};

}  // namespace pbs::ifl
