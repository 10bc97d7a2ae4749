// Fuzz target of credentials. A credential that was read, written and read again must be equal. The decoder
// of a connection that isn't authenticated yet must survive any bytes, read as requests and tokens in turn.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ifl/credential.h"
#include "ifl/request.h"

using namespace pbs::ifl;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    if (const auto text = parse_credential_text(input)) {
        const auto again = parse_credential_text(credential_text(*text));
        if (!again || *again != *text) std::abort();
    }
    RequestDecoder decoder(RequestLimits::before_authentication());
    decoder.feed(input);
    for (bool token = false;; token = !token) {
        if (token) {
            const auto next = decoder.next_token();
            if (!next || !*next) break;
            if ((*next)->data.empty() || (*next)->data.size() > kLongestToken) std::abort();
        } else if (!std::holds_alternative<Request>(decoder.next())) {
            break;
        }
    }
    return 0;
}
