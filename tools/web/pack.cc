#include "tools/web/pack.h"

#include <zlib.h>

namespace pbs::web {
namespace {

constexpr std::size_t kLeast = 1024;
constexpr int kWithGzipHeader = MAX_WBITS + 16;
constexpr int kMemory = 8;

}  // namespace

std::string packed(std::string_view text) {
    z_stream stream{};
    if (text.size() < kLeast ||
        deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kWithGzipHeader, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
        return {};
    std::string out(deflateBound(&stream, text.size()), '\0');
    // The cast is safe: zlib doesn't write to its input.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return done && out.size() < text.size() ? out : std::string();
}

}  // namespace pbs::web
