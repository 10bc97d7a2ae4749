#include "text/xml.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pbs::text {
namespace {

constexpr std::array<std::pair<std::string_view, char>, 5> kEntities = {
    {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};

}  // namespace

std::string to_xml(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto* const found = std::ranges::find(kEntities, c, [](const auto& e) { return e.second; });
        if (found == kEntities.end()) {
            out += c;
        } else {
            out += found->first;
        }
    }
    return out;
}

std::string from_xml(std::string_view xml) {
    std::string out;
    while (!xml.empty()) {
        const auto* const found =
            std::ranges::find_if(kEntities, [&](const auto& e) { return xml.starts_with(e.first); });
        const bool entity = found != kEntities.end();
        out += entity ? found->second : xml.front();
        xml.remove_prefix(entity ? found->first.size() : 1);
    }
    return out;
}

}  // namespace pbs::text
