#include "tools/web/counts.h"

#include "ifl/cmds/text.h"
#include "values/text.h"

namespace pbs::web {

Json counts_of(std::string_view state_count) {
    Json out = Json::object();
    for (const std::string_view one : values::split(state_count, ' ')) {
        const std::size_t colon = one.find(':');
        if (colon == std::string_view::npos) continue;
        if (const auto count = cmds::parse_integer(one.substr(colon + 1)))
            out[std::string(one.substr(0, colon))] = *count;
    }
    return out;
}

}  // namespace pbs::web
