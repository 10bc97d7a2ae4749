// Fuzz target of pbs_iff. It must read any bytes as a server's answer, in pieces of any size, and any words
// as its arguments. The server's decoder must read the requests that pbs_iff writes.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/iff/pbs_iff.h"
#include "ifl/reply.h"
#include "ifl/request.h"
#include "text/pointers.h"

using namespace pbs::ifl;

namespace {

void check(bool holds) {
    if (!holds) std::abort();
}

// Copies the bytes into memory of exactly their size, so that a sanitizer finds a read beyond the end.
iff_state read(std::string_view bytes, iff_answer& answer, std::string& text) {
    const std::vector<char> exact(bytes.begin(), bytes.end());
    const iff_state state = iff_read_answer(exact.data(), exact.size(), &answer);
    if (state == iff_complete && answer.length > 0) {
        check(answer.text >= exact.data() && answer.length <= iff_longest_text);
        check(static_cast<std::size_t>(answer.text - exact.data()) + answer.length <= exact.size());
        text.assign(answer.text, answer.length);
    }
    return state;
}

void read_answer(std::string_view input) {
    iff_answer answer{};
    std::string text;
    const iff_state state = read(input, answer, text);
    // A beginning of the answer is incomplete until it is long enough to have the same state as the whole.
    for (std::size_t size = 0; size < input.size(); size += 1 + size / 16) {
        iff_answer part{};
        std::string part_text;
        const iff_state of_part = read(input.substr(0, size), part, part_text);
        check(of_part == iff_incomplete || of_part == state);
    }
    if (state != iff_complete) return;
    PacketReader packets(iff_longest_answer);
    packets.feed(input);
    const auto packet = packets.next();
    check(packet && *packet);
    const auto reply = decode_reply(**packet);
    if (!reply) return;  // pbs_iff doesn't check the reply's body
    check(reply->code == answer.code);
    if (const auto* said = std::get_if<TextReply>(&reply->body); said && reply->code != 0)
        check(text == said->text.substr(0, iff_longest_text));
}

void read_arguments(std::string_view input) {
    std::vector<std::string> words{"pbs_iff"};
    for (std::size_t begin = 0; begin < input.size();) {
        const std::size_t end = std::min(input.find('\n', begin), input.size());
        words.emplace_back(input.substr(begin, end - begin));
        begin = end + 1;
    }
    iff_arguments arguments{};
    if (iff_read_arguments(static_cast<int>(words.size()), pbs::text::pointers(words).data(), &arguments) !=
        nullptr)
        return;
    check(arguments.port >= 1024 && arguments.descriptor > 2);
    check(words.size() >= 4 && words.size() <= 7);
}

void write_request(std::string_view input) {
    const std::string user(input.substr(0, std::strlen(std::string(input).c_str())));
    if (iff_is_user(user.c_str()) == 0) return;
    std::vector<char> bytes(512);
    const std::uint16_t port = static_cast<std::uint16_t>(input.size() * 251);
    const std::size_t size = iff_write_authenticate(bytes.data(), bytes.size(), user.c_str(), port);
    check(size > 0 && size <= bytes.size());
    RequestDecoder decoder(RequestLimits::before_authentication());
    decoder.feed({bytes.data(), size});
    const auto decoded = decoder.next();
    const auto* request = std::get_if<Request>(&decoded);
    check(request != nullptr && request->user == user && !decoder.in_progress());
    check(std::get<Authenticate>(request->body) == Authenticate{"resvport", "", port});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    read_answer(input);
    read_arguments(input);
    write_request(input);
    return 0;
}
