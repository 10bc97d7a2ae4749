#include "server_plugin/openpbs/messages.h"

#include <fmt/format.h>

#include "ifl/dis.h"
#include "ifl/packet.h"
#include "ifl/pbs_error.h"

namespace pbs::openpbs {
namespace {

// The limits of the attributes in a message: their number, and the bytes of a name and of a value.
constexpr ifl::AttributeLimits kAttributes{1000000, 4096, std::size_t{64} << 20};
constexpr std::size_t kLongestName = 4096;
constexpr std::uint64_t kMostParts = 10000000;

void put(ifl::DisWriter& out, const Ask& ask) {
    out.put_unsigned(ask.ticket);
    out.put_unsigned(static_cast<std::uint64_t>(ask.what));
    out.put_unsigned(ask.privilege);
    out.put_string(ask.address);
    out.put_string(ifl::encode_request(ask.request));
}
void put(ifl::DisWriter& out, const Abandon& abandon) {
    out.put_unsigned(abandon.ticket);
}
void put(ifl::DisWriter& out, const Started& started) {
    out.put_unsigned(started.ticket);
}
void put(ifl::DisWriter& out, const Changed& changed) {
    out.put_unsigned(changed.object_type);
}
void put(ifl::DisWriter& out, const Answer& answer) {
    out.put_unsigned(answer.ticket);
    out.put_unsigned(answer.parts.size());
    for (const std::string& part : answer.parts) out.put_string(part);
}
void put(ifl::DisWriter& out, const AddedAttributes& shown) {
    out.put_unsigned(shown.object_type);
    out.put_string(shown.name);
    ifl::put_attributes(out, shown.attributes);
}
void put(ifl::DisWriter&, const Alive&) {}

// A request in a message was sent by a client of the server, so it may be as long as the server permits.
ifl::RequestLimits request_limits() {
    ifl::RequestLimits limits;
    limits.packet = kLongestMessage;
    limits.attributes = kAttributes.count;
    limits.value = kAttributes.value_length;
    return limits;
}

void get(ifl::DisReader& in, Ask& ask) {
    ask.ticket = in.get_unsigned("ticket");
    ask.what = static_cast<Ask::Kind>(in.get_unsigned("what", 3));
    ask.privilege = in.get_u32("privilege");
    ask.address = in.get_string("address", kLongestName);
    const std::string_view data = in.get_bytes("request", kLongestMessage);
    if (in.failed()) return;
    auto request = ifl::decode_request(data, request_limits());
    if (!request) return in.fail("request", request.error().message);
    ask.request = std::move(*request);
}
void get(ifl::DisReader& in, Abandon& abandon) {
    abandon.ticket = in.get_unsigned("ticket");
}
void get(ifl::DisReader& in, Started& started) {
    started.ticket = in.get_unsigned("ticket");
}
void get(ifl::DisReader& in, Changed& changed) {
    changed.object_type = in.get_u32("object type");
}
void get(ifl::DisReader& in, Answer& answer) {
    answer.ticket = in.get_unsigned("ticket");
    const std::size_t count = in.get_count("number of parts", kMostParts, 2);
    for (std::size_t i = 0; i < count && !in.failed(); ++i)
        answer.parts.emplace_back(in.get_bytes("part", kLongestMessage));
}
void get(ifl::DisReader& in, AddedAttributes& shown) {
    shown.object_type = in.get_u32("object type");
    shown.name = in.get_string("name", kLongestName);
    shown.attributes = ifl::get_attributes(in, kAttributes);
}
void get(ifl::DisReader&, Alive&) {}

template <class Message>
std::string encode(const Message& message) {
    std::string packet;
    const std::size_t begin = ifl::begin_packet(packet);
    ifl::DisWriter out(packet);
    out.put_unsigned(message.index());
    std::visit([&out](const auto& body) { put(out, body); }, message);
    ifl::end_packet(packet, begin);
    return packet;
}

template <class Variant, std::size_t I = 0>
void get_alternative(ifl::DisReader& in, std::uint64_t kind, Variant& out) {
    if constexpr (I < std::variant_size_v<Variant>) {
        if (kind != I) return get_alternative<Variant, I + 1>(in, kind, out);
        get(in, out.template emplace<I>());
    }
}

template <class Variant>
ifl::Result<Variant> decode(std::string_view data) {
    ifl::DisReader in(data);
    const std::uint64_t kind = in.get_unsigned("kind of message", std::variant_size_v<Variant> - 1);
    Variant message;
    if (!in.failed()) get_alternative(in, kind, message);
    if (!in.failed() && !in.at_end()) in.fail("end of the message", "more bytes follow it");
    if (in.failed())
        return tl::unexpected(ifl::Error{PBSE_PROTOCOL, fmt::format("malformed message: {}", in.error())});
    return message;
}

}  // namespace

std::string packet_of(const ToService& message) {
    return encode(message);
}
std::string packet_of(const FromService& message) {
    return encode(message);
}
ifl::Result<ToService> to_service(std::string_view data) {
    return decode<ToService>(data);
}
ifl::Result<FromService> from_service(std::string_view data) {
    return decode<FromService>(data);
}

}  // namespace pbs::openpbs
