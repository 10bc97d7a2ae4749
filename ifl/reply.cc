#include "ifl/reply.h"

#include <fmt/format.h>

#include <iterator>

#include "ifl/error_text.h"
#include "ifl/pbs_error.h"
#include "ifl/request.h"

namespace pbs::ifl {

namespace {

// The shortest object of a status reply: type, name and number of attributes.
constexpr std::size_t kMinObject = 6;
constexpr std::size_t kMinString = 2;
constexpr std::size_t kMinNumber = 2;

void put_header(DisWriter& out, const Reply& reply) {
    out.put_unsigned(kProtocolType);
    out.put_unsigned(kProtocolVersion);
    out.put_signed(reply.code);
    out.put_signed(reply.auxiliary);
    out.put_unsigned(reply.body.index() + 1);  // choices count from 1, in the variant's order
    out.put_unsigned(reply.more_parts ? 1 : 0);
}

void put_object(DisWriter& out, std::uint32_t type, std::string_view name, const Attributes& attributes) {
    out.put_unsigned(type);
    out.put_string(name);
    put_attributes(out, attributes);
}

// ---- The bodies: a put and a get each. ----

void put(DisWriter&, const NullReply&) {}
void get(DisReader&, const ReplyLimits&, NullReply&) {}

void put(DisWriter& out, const QueueReply& body) {
    out.put_string(body.job);
}
void get(DisReader& in, const ReplyLimits& limits, QueueReply& body) {
    body.job = in.get_string("job", limits.name);
}

void put(DisWriter& out, const ReadyToCommitReply& body) {
    out.put_string(body.job);
}
void get(DisReader& in, const ReplyLimits& limits, ReadyToCommitReply& body) {
    body.job = in.get_string("job", limits.name);
}

void put(DisWriter& out, const CommitReply& body) {
    out.put_string(body.job);
}
void get(DisReader& in, const ReplyLimits& limits, CommitReply& body) {
    body.job = in.get_string("job", limits.name);
}

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
    out.put_unsigned(body.objects.size());
    for (const ObjectStatus& object : body.objects)
        put_object(out, object.type, object.name, object.attributes);
}

void get(DisReader& in, const ReplyLimits& limits, StatusReply& body) {
    const std::size_t count = in.get_count("number of objects", limits.objects, kMinObject);
    body.objects.reserve(count);
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        ObjectStatus object;
        object.type = in.get_u32("object type");
        object.name = in.get_string("object name", limits.name);
        object.attributes = get_attributes(in, {limits.attributes, limits.name, limits.value});
        body.objects.push_back(std::move(object));
    }
}

void put(DisWriter& out, const TextReply& body) {
    out.put_string(body.text);
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

// The decoder of each choice, in the variant's order.
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

constexpr auto kDecoders = decoders(static_cast<const ReplyBody*>(nullptr));

void put_reply(std::string& out, const Reply& reply) {
    DisWriter dis(out);
    put_header(dis, reply);
    std::visit([&dis](const auto& body) { put(dis, body); }, reply.body);
}

}  // namespace

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

Result<Reply> decode_reply(std::string_view data, const ReplyLimits& limits) {
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
    if (!in.failed()) reply.body = kDecoders[choice - 1](in, limits);
    if (!in.failed() && !in.at_end())
        in.fail("end of the reply", fmt::format("{} bytes follow it", in.remaining()));
    if (in.failed())
        return tl::unexpected(Error{PBSE_PROTOCOL, fmt::format("malformed reply: {}", in.error())});
    return reply;
}

void StatusReplyWriter::add(std::uint32_t type, std::string_view name, const Attributes& attributes) {
    DisWriter dis(objects_);
    put_object(dis, type, name, attributes);
    ++count_;
}

std::string StatusReplyWriter::packet(bool more_parts) {
    std::string packet;
    const std::size_t begin = begin_packet(packet);
    Reply reply;
    reply.body = StatusReply{};
    reply.more_parts = more_parts;
    DisWriter dis(packet);
    put_header(dis, reply);
    dis.put_unsigned(count_);
    packet.append(objects_);
    end_packet(packet, begin);
    objects_.clear();
    count_ = 0;
    return packet;
}

ReplyDecoder::Decoded ReplyDecoder::malformed(Error error) {
    malformed_ = std::move(error);
    return Malformed{malformed_};
}

ReplyDecoder::Decoded ReplyDecoder::next() {
    if (malformed_.code != 0) return Malformed{malformed_};
    for (;;) {
        auto packet = packets_.next();
        if (!packet) return malformed(std::move(packet.error()));
        if (!*packet) return NeedMore{};
        auto reply = decode_reply(**packet, limits_);
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
