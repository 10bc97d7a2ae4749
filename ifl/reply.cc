#include "ifl/reply.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <type_traits>
#include <utility>

#include "ifl/error_text.h"
#include "ifl/pbs_error.h"
#include "ifl/request.h"

namespace pbs::ifl {

namespace {

// The length of the shortest object of a status reply, in bytes: type, name and number of attributes.
constexpr std::size_t kMinObject = 6;
constexpr std::size_t kMinNumber = 2;

void put_header(DisWriter& out, const Reply& reply) {
    out.put_unsigned(kProtocolType);
    out.put_unsigned(kProtocolVersion);
    out.put_signed(reply.code);
    out.put_signed(reply.auxiliary);
    out.put_unsigned(reply.body.index() + 1);  // choices count from 1, in the variant's order
    out.put_unsigned(reply.more_parts ? 1 : 0);
}

template <class List>
void put_object(DisWriter& out, std::uint32_t type, std::string_view name, const List& attributes) {
    out.put_unsigned(type);
    out.put_text(name);
    put_attributes(out, attributes);
}

// Passes each object of a status reply's body to `take`.
template <class Take>
void get_objects(DisReader& in, const ReplyLimits& limits, std::size_t count, Take&& take) {
    std::vector<AttributeView> attributes;
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        ObjectView object;
        object.type = in.get_u32("object type");
        object.name = in.get_text("object name", limits.name);
        get_attributes(in, {limits.attributes, limits.name, limits.value}, attributes);
        if (in.failed()) return;
        object.attributes = attributes;
        take(object);
    }
}

std::size_t get_object_count(DisReader& in, const ReplyLimits& limits) {
    return in.get_count("number of objects", limits.objects, kMinObject);
}

ObjectStatus status_of(const ObjectView& object) {
    return {object.type, std::string(object.name), copy_of(object.attributes)};
}

// ---- The bodies: a put() and a get() for each ----

void put(DisWriter&, const NullReply&) {}
void get(DisReader&, const ReplyLimits&, NullReply&) {}

// QueueReply, ReadyToCommitReply and CommitReply have a job alone.
template <class Body>
void put(DisWriter& out, const Body& body) requires requires {
    body.job;
}
{
    static_assert(sizeof(Body) == sizeof body.job);  // further members need functions of their own
    out.put_string(body.job);
}
template <class Body>
void get(DisReader& in, const ReplyLimits& limits, Body& body) requires requires {
    body.job;
}
{ body.job = in.get_string("job", limits.name); }

void put(DisWriter& out, const SelectReply& body) {
    out.put_unsigned(body.jobs.size());
    for (const std::string& job : body.jobs) out.put_string(job);
}

void get(DisReader& in, const ReplyLimits& limits, SelectReply& body) {
    const std::size_t count = in.get_count("number of jobs", limits.objects, kMinString);
    body.jobs.reserve(count);
    for (std::size_t i = 0; i < count && !in.failed(); ++i)
        body.jobs.push_back(in.get_string("job", limits.name));
}

void put(DisWriter& out, const StatusReply& body) {
    std::size_t count = body.objects.size();
    for (const StatusPart& part : body.encoded) count += part.count;
    out.put_unsigned(count);
    for (const ObjectStatus& object : body.objects)
        put_object(out, object.type, object.name, object.attributes);
    for (const StatusPart& part : body.encoded) out.put_encoded(part.objects);
}

void get(DisReader& in, const ReplyLimits& limits, StatusReply& body) {
    const std::size_t count = get_object_count(in, limits);
    body.objects.reserve(count);
    get_objects(in, limits, count,
                [&body](const ObjectView& object) { body.objects.push_back(status_of(object)); });
}

void put(DisWriter& out, const TextReply& body) {
    out.put_text(body.text);
}
void get(DisReader& in, const ReplyLimits& limits, TextReply& body) {
    body.text = in.get_string("text", limits.value);
}

void put(DisWriter& out, const LocateReply& body) {
    out.put_string(body.server);
}
void get(DisReader& in, const ReplyLimits& limits, LocateReply& body) {
    body.server = in.get_string("server", limits.name);
}

void put(DisWriter& out, const ResourceQueryReply& body) {
    out.put_unsigned(body.available.size());
    for (const auto* numbers : {&body.available, &body.allocated, &body.reserved, &body.down}) {
        for (const std::uint32_t number : *numbers) out.put_unsigned(number);
    }
}

void get(DisReader& in, const ReplyLimits& limits, ResourceQueryReply& body) {
    const std::size_t count = in.get_count("number of resources", limits.attributes, 4 * kMinNumber);
    for (auto* numbers : {&body.available, &body.allocated, &body.reserved, &body.down}) {
        numbers->reserve(count);
        for (std::size_t i = 0; i < count && !in.failed(); ++i)
            numbers->push_back(in.get_u32("amount of a resource"));
    }
}

void put(DisWriter& out, const PreemptReply& body) {
    out.put_unsigned(body.jobs.size());
    for (const PreemptReply::Job& job : body.jobs) {
        out.put_string(job.job);
        out.put_string(job.order);
    }
}

void get(DisReader& in, const ReplyLimits& limits, PreemptReply& body) {
    const std::size_t count = in.get_count("number of jobs", limits.objects, 2 * kMinString);
    body.jobs.reserve(count);
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        PreemptReply::Job job;
        job.job = in.get_string("job", limits.name);
        job.order = in.get_string("order", limits.name);
        body.jobs.push_back(std::move(job));
    }
}

void put(DisWriter& out, const DeleteReply& body) {
    out.put_unsigned(body.failed.size());
    for (const DeleteReply::Job& job : body.failed) {
        out.put_string(job.job);
        out.put_unsigned(job.code);
    }
}

void get(DisReader& in, const ReplyLimits& limits, DeleteReply& body) {
    const std::size_t count = in.get_count("number of jobs", limits.objects, kMinString + kMinNumber);
    body.failed.reserve(count);
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        DeleteReply::Job job;
        job.job = in.get_string("job", limits.name);
        job.code = in.get_u32("code");
        body.failed.push_back(std::move(job));
    }
}

// A function that decodes one kind of body. kDecoders has them in the order of the variant ReplyBody.
using GetBody = ReplyBody (*)(DisReader&, const ReplyLimits&);

template <class Body>
ReplyBody get_body(DisReader& in, const ReplyLimits& limits) {
    Body body;
    get(in, limits, body);
    return body;
}

template <class... Bodies>
constexpr auto decoders(const std::variant<Bodies...>*) {
    return std::array<GetBody, sizeof...(Bodies)>{get_body<Bodies>...};
}

constexpr auto kDecoders = decoders(static_cast<const AnyReplyBody*>(nullptr));
constexpr std::uint64_t kStatusChoice = 6;
static_assert(std::is_same_v<std::variant_alternative_t<kStatusChoice - 1, AnyReplyBody>, StatusReply>);

void put_reply(std::string& out, const Reply& reply) {
    DisWriter dis(out);
    put_header(dis, reply);
    std::visit([&dis](const auto& body) { put(dis, body); }, reply.body);
}

}  // namespace

ReplyBody::ReplyBody() = default;
ReplyBody::ReplyBody(const ReplyBody&) = default;
ReplyBody::ReplyBody(ReplyBody&&) noexcept = default;
ReplyBody& ReplyBody::operator=(const ReplyBody&) = default;
ReplyBody& ReplyBody::operator=(ReplyBody&&) noexcept = default;
ReplyBody::~ReplyBody() = default;
bool ReplyBody::operator==(const ReplyBody& other) const {
    return static_cast<const AnyReplyBody&>(*this) == static_cast<const AnyReplyBody&>(other);
}

Reply Reply::error(int code, std::string_view text) {
    Reply reply;
    reply.code = code;
    if (text.empty()) text = error_text(code);
    if (!text.empty()) reply.body = TextReply{std::string(text)};
    return reply;
}

Reply Reply::warning(std::string_view text) {
    Reply reply;
    reply.body = TextReply{std::string(text)};
    return reply;
}

std::string encode_reply(const Reply& reply) {
    std::string data;
    put_reply(data, reply);
    return data;
}

std::string reply_packet(const Reply& reply) {
    std::string packet;
    const std::size_t begin = begin_packet(packet);
    put_reply(packet, reply);
    end_packet(packet, begin);
    return packet;
}

Result<Reply> decode_reply(std::string_view data, const ReplyLimits& limits, const ObjectSink& sink) {
    DisReader in(data);
    if (in.get_unsigned("protocol type") != kProtocolType) in.fail("protocol type", "2 expected");
    if (in.get_unsigned("protocol version") != kProtocolVersion) in.fail("protocol version", "2 expected");
    Reply reply;
    reply.code = in.get_i32("code");
    reply.auxiliary = in.get_i32("auxiliary code");
    const std::uint64_t choice = in.get_unsigned("choice", kDecoders.size());
    if (choice == 0)
        in.fail("choice", fmt::format("a number from 1 to {} expected, found 0", kDecoders.size()));
    reply.more_parts = in.get_unsigned("more parts follow", 1) == 1;
    if (!in.failed() && sink && choice == kStatusChoice) {
        reply.body = StatusReply{};
        get_objects(in, limits, get_object_count(in, limits), sink);
    } else if (!in.failed()) {
        reply.body = kDecoders[choice - 1](in, limits);
    }
    if (!in.failed() && !in.at_end())
        in.fail("end of the reply", fmt::format("{} bytes follow it", in.remaining()));
    if (in.failed())
        return tl::unexpected(Error{PBSE_PROTOCOL, fmt::format("malformed reply: {}", in.error())});
    return reply;
}

std::string encode_object(std::uint32_t type, std::string_view name,
                          std::span<const AttributeView> attributes) {
    std::string object;
    DisWriter dis(object);
    put_object(dis, type, name, attributes);
    return object;
}

// Returns the text to which the next object is appended: that of the last part or, if that is full, of a new
// one.
std::string& StatusParts::next(std::uint32_t type) {
    const bool full = !parts_.empty() && type != kTypeOfSubjob &&
                      (parts_.back().count >= max_objects_ || parts_.back().objects.size() >= max_bytes_);
    if (parts_.empty() || full) {
        const std::size_t expected = parts_.empty() ? 0 : parts_.back().objects.size();
        parts_.emplace_back().objects.reserve(expected + expected / 8);
    }
    ++parts_.back().count;
    return parts_.back().objects;
}

void StatusParts::add(std::uint32_t type, std::string_view name, const Attributes& attributes) {
    DisWriter dis(next(type));
    put_object(dis, type, name, attributes);
}

void StatusParts::add(std::uint32_t type, std::string_view name, std::span<const AttributeView> attributes) {
    DisWriter dis(next(type));
    put_object(dis, type, name, attributes);
}

void StatusParts::add_encoded(std::string_view object) {
    next(0).append(object);
}

std::size_t StatusParts::bytes() const {
    std::size_t bytes = 0;
    for (const StatusPart& part : parts_) bytes += part.objects.size();
    return bytes;
}

std::vector<StatusPart> StatusParts::take() {
    return std::exchange(parts_, {});
}

std::vector<StatusPart> StatusParts::take_full() {
    if (parts_.size() < 2) return {};
    std::vector<StatusPart> full = std::exchange(parts_, {});
    parts_.push_back(std::move(full.back()));
    full.pop_back();
    return full;
}

std::array<std::string, 2> part_packet(StatusPart part, bool more_parts) {
    std::array<std::string, 2> pieces;
    const std::size_t begin = begin_packet(pieces[0]);
    Reply header;
    header.body = StatusReply{};
    header.more_parts = more_parts;
    DisWriter dis(pieces[0]);
    put_header(dis, header);
    dis.put_unsigned(part.count);
    end_packet(pieces[0], begin, part.objects.size());
    pieces[1] = std::move(part.objects);
    return pieces;
}

std::vector<std::string> status_packets(StatusReply reply) {
    StatusParts parts;
    for (const ObjectStatus& object : reply.objects) parts.add(object.type, object.name, object.attributes);
    std::vector<StatusPart> all = parts.take();
    all.insert(all.end(), std::make_move_iterator(reply.encoded.begin()),
               std::make_move_iterator(reply.encoded.end()));
    if (all.empty()) all.emplace_back();
    std::vector<std::string> pieces;
    for (StatusPart& part : all) {
        const bool more_parts = &part != &all.back();
        for (std::string& piece : part_packet(std::move(part), more_parts))
            pieces.push_back(std::move(piece));
    }
    return pieces;
}

ReplyDecoder::Decoded ReplyDecoder::malformed(Error error) {
    malformed_ = std::move(error);
    return Malformed{malformed_};
}

ReplyDecoder::Decoded ReplyDecoder::next(const ObjectSink& sink) {
    if (malformed_.code != 0) return Malformed{malformed_};
    for (;;) {
        auto packet = packets_.next();
        if (!packet) return malformed(std::move(packet.error()));
        if (!*packet) return NeedMore{};
        auto reply = decode_reply(**packet, limits_, sink);
        if (!reply) return malformed(std::move(reply.error()));
        auto* status = std::get_if<StatusReply>(&reply->body);
        if (!in_parts_ && !reply->more_parts) return std::move(*reply);
        if (!status) {
            return malformed({PBSE_PROTOCOL, "malformed reply: a further part of a status reply expected"});
        }
        parts_.objects.insert(parts_.objects.end(), std::make_move_iterator(status->objects.begin()),
                              std::make_move_iterator(status->objects.end()));
        in_parts_ = reply->more_parts;
        if (!in_parts_) {
            *status = std::move(parts_);
            parts_ = {};
            return std::move(*reply);
        }
    }
}

}  // namespace pbs::ifl
