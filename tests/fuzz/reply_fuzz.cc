// Fuzz target of the decoder of a server's replies. A decoded reply, encoded and decoded again, must be the
// same. The same bytes in pieces must give the same replies.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ifl/reply.h"

namespace {

using pbs::ifl::AttributeView;
using pbs::ifl::ObjectSink;
using pbs::ifl::ObjectStatus;
using pbs::ifl::ObjectView;
using pbs::ifl::Reply;
using pbs::ifl::ReplyDecoder;
using pbs::ifl::StatusReply;

void require(bool condition) {
    if (!condition) std::abort();
}

struct Outcome {
    std::vector<Reply> replies;
    bool malformed = false;
    bool operator==(const Outcome&) const = default;
};

ObjectStatus copy_of(const ObjectView& object) {
    ObjectStatus copy{object.type, std::string(object.name), {}};
    for (const AttributeView& attribute : object.attributes) {
        copy.attributes.push_back({std::string(attribute.name), std::string(attribute.resource),
                                   std::string(attribute.value), attribute.op});
    }
    return copy;
}

// Feeds the bytes to the decoder in pieces of `size`, and returns the replies. With `sink`, the decoder
// passes on the objects of status replies one by one, and this function adds them to their replies.
Outcome decode_stream(std::string_view bytes, std::size_t size, bool sink = false) {
    Outcome outcome;
    ReplyDecoder decoder;
    std::vector<ObjectStatus> objects;
    ObjectSink take;
    if (sink) take = [&objects](const ObjectView& object) { objects.push_back(copy_of(object)); };
    while (!bytes.empty() && !outcome.malformed) {
        const std::string_view piece = bytes.substr(0, size);
        std::copy(piece.begin(), piece.end(), decoder.room(piece.size() + 1));
        decoder.filled(piece.size());
        bytes.remove_prefix(piece.size());
        for (;;) {
            auto decoded = decoder.next(take);
            if (std::holds_alternative<ReplyDecoder::NeedMore>(decoded)) break;
            if (const auto* bad = std::get_if<ReplyDecoder::Malformed>(&decoded)) {
                require(bad->error.code != 0 && !bad->error.message.empty());
                outcome.malformed = true;
                break;
            }
            Reply& reply = outcome.replies.emplace_back(std::get<Reply>(std::move(decoded)));
            auto* status = std::get_if<StatusReply>(&reply.body);
            require(objects.empty() || (status && status->objects.empty()));
            if (sink && status) status->objects = std::exchange(objects, {});
        }
    }
    return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (const auto reply = pbs::ifl::decode_reply(bytes)) {
        const auto again = pbs::ifl::decode_reply(pbs::ifl::encode_reply(*reply));
        require(again && *again == *reply);
    }
    const Outcome whole = decode_stream(bytes, bytes.size());
    require(decode_stream(bytes, 1) == whole);
    require(decode_stream(bytes, 7) == whole);
    require(decode_stream(bytes, bytes.size(), true) == whole);
    require(decode_stream(bytes, 7, true) == whole);
    return 0;
}
