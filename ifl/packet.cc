#include "ifl/packet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "ifl/pbs_error.h"

namespace pbs::ifl {

namespace {

constexpr std::string_view kMagic{"PKTV1\0", 6};
constexpr std::size_t kTypeOffset = 6;
constexpr std::size_t kLengthOffset = 7;
constexpr std::size_t kKept = std::size_t{256} << 10;

std::size_t load_length(std::string_view header) {
    std::size_t length = 0;
    for (std::size_t i = kLengthOffset; i < kPacketHeaderSize; ++i) {
        length = length << 8 | static_cast<unsigned char>(header[i]);
    }
    return length;
}

}  // namespace

std::size_t begin_packet(std::string& out, PacketType type) {
    const std::size_t begin = out.size();
    out.append(kMagic);
    out.push_back(static_cast<char>(type));
    out.append(kPacketHeaderSize - kLengthOffset, '\0');
    return begin;
}

void end_packet(std::string& out, std::size_t begin, std::size_t more) {
    const std::size_t length = out.size() - begin - kPacketHeaderSize + more;
    assert(length > 0 && length <= UINT32_MAX);
    for (std::size_t i = 0; i < 4; ++i) {
        out[begin + kLengthOffset + i] = static_cast<char>(length >> (24 - 8 * i) & 0xff);
    }
}

std::string make_packet(std::string_view data, PacketType type) {
    std::string packet;
    packet.reserve(kPacketHeaderSize + data.size());
    const std::size_t begin = begin_packet(packet, type);
    packet.append(data);
    end_packet(packet, begin);
    return packet;
}

char* PacketReader::room(std::size_t size) {
    // the view of the last packet, which next() returned, is no longer valid: drop its bytes, so that they
    // don't pile up
    drop_consumed();
    room_ = size;
    buffer_.resize(buffer_.size() + size);
    return buffer_.data() + buffer_.size() - size;
}

void PacketReader::filled(std::size_t size) {
    assert(size <= room_);
    buffer_.resize(buffer_.size() - room_ + size);
    room_ = 0;
}

// Drops the bytes of packets that next() has returned: all of the buffer if nothing follows them, else only
// when they are most of the buffer, because moving the rest each time would be quadratic. Gives back the
// memory of a long packet.
void PacketReader::drop_consumed() {
    if (consumed_ == buffer_.size()) {
        buffer_.clear();
        if (buffer_.capacity() > kKept) buffer_.shrink_to_fit();
        consumed_ = 0;
    } else if (consumed_ > buffer_.size() / 2) {
        buffer_.erase(0, consumed_);
        consumed_ = 0;
    }
}

Result<std::optional<std::string_view>> PacketReader::next() {
    // drop the bytes of the last packet only now: the view of them was valid until this call
    drop_consumed();
    const std::string_view pending = std::string_view(buffer_).substr(consumed_);
    // check the first bytes one by one: a peer of another protocol may not send a whole header
    const std::size_t magic = std::min(pending.size(), kMagic.size());
    if (pending.substr(0, magic) != kMagic.substr(0, magic)) {
        return tl::unexpected(Error{PBSE_DISPROTO, "a packet of the batch protocol (PKTV1) expected"});
    }
    if (pending.size() < kPacketHeaderSize) return std::nullopt;
    const std::size_t length = load_length(pending);
    if (length == 0 || length > max_data_) {
        return tl::unexpected(Error{
            PBSE_DISPROTO, fmt::format("a packet of 1 to {} bytes expected, found {}", max_data_, length)});
    }
    if (pending.size() - kPacketHeaderSize < length) return std::nullopt;
    type_ = static_cast<PacketType>(pending[kTypeOffset]);
    consumed_ += kPacketHeaderSize + length;
    return pending.substr(kPacketHeaderSize, length);
}

}  // namespace pbs::ifl
