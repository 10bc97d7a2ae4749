// Fuzz target of the decoder of a client's requests. A decoded request, encoded and decoded again, must be
// the same. The same bytes in pieces must give the same requests.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "ifl/request.h"

namespace {

using pbs::ifl::Request;
using pbs::ifl::RequestDecoder;

void require(bool condition) {
    if (!condition) std::abort();
}

struct Outcome {
    std::vector<Request> requests;
    bool malformed = false;
    bool operator==(const Outcome&) const = default;
};

// Feeds the bytes to the decoder in pieces of `size`, and returns the requests.
Outcome decode_stream(std::string_view bytes, std::size_t size) {
    Outcome outcome;
    RequestDecoder decoder;
    while (!bytes.empty() && !outcome.malformed) {
        decoder.feed(bytes.substr(0, size));
        bytes.remove_prefix(std::min(size, bytes.size()));
        for (;;) {
            auto decoded = decoder.next();
            if (std::holds_alternative<RequestDecoder::NeedMore>(decoded)) break;
            if (const auto* bad = std::get_if<RequestDecoder::Malformed>(&decoded)) {
                require(bad->error.code != 0 && !bad->error.message.empty());
                outcome.malformed = true;
                break;
            }
            outcome.requests.push_back(std::get<Request>(std::move(decoded)));
        }
    }
    return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (const auto request = pbs::ifl::decode_request(bytes)) {
        const auto again = pbs::ifl::decode_request(pbs::ifl::encode_request(*request));
        require(again && *again == *request);
    }
    const Outcome whole = decode_stream(bytes, bytes.size());
    require(decode_stream(bytes, 1) == whole);
    require(decode_stream(bytes, 7) == whole);
    return 0;
}
