// Replies from any server: what is decoded encodes back to the same reply, and the same bytes in pieces give
// the same replies.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "ifl/reply.h"

namespace {

using pbs::ifl::Reply;
using pbs::ifl::ReplyDecoder;

void require(bool condition) {
    if (!condition) std::abort();
}

struct Outcome {
    std::vector<Reply> replies;
    bool malformed = false;
    bool operator==(const Outcome&) const = default;
};

// Feeds the bytes in pieces of `size` and takes all that comes out.
Outcome decode_stream(std::string_view bytes, std::size_t size) {
    Outcome outcome;
    ReplyDecoder decoder;
    while (!bytes.empty() && !outcome.malformed) {
        decoder.feed(bytes.substr(0, size));
        bytes.remove_prefix(std::min(size, bytes.size()));
        for (;;) {
            auto decoded = decoder.next();
            if (std::holds_alternative<ReplyDecoder::NeedMore>(decoded)) break;
            if (const auto* bad = std::get_if<ReplyDecoder::Malformed>(&decoded)) {
                require(bad->error.code != 0 && !bad->error.message.empty());
                outcome.malformed = true;
                break;
            }
            outcome.replies.push_back(std::get<Reply>(std::move(decoded)));
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
    return 0;
}
