// What a job lacks of resources_available of a queue or of the server.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "server_plugin/scheduler/framework/filter.h"
#include "server_plugin/scheduler/model/words.h"

namespace pbs::sched {

// Returns `reason` with the amounts of what is lacking; nothing if there is enough. Of numbers that aren't
// consumable jobs use up nothing. A text has to be one of those that there are.
inline Reason lack_of(CycleState& state, const Request& request, const KeptAmount& available,
                      std::int64_t in_use, Reason reason) {
    const std::uint32_t resource = available.resource;
    if (state.resources->is_text(resource)) {
        const auto asked = std::ranges::find(request.amounts, resource, &KeptAmount::resource);
        if (asked == request.amounts.end() || has_word(available.text, asked->text)) return {};
        reason.code = differs(reason.code);
        reason.a = state.strings->id(fmt::format("{} != {}", asked->text, available.text));
        return reason;
    }
    const auto asked = number_of(request.totals, resource);
    if (!asked) return {};
    if (state.resources->is_boolean(resource)) {
        if (*asked == available.number) return {};
        reason.code = differs(reason.code);
        reason.a = state.strings->id(fmt::format("{} != {}", state.resources->format(resource, *asked),
                                                 state.resources->format(resource, available.number)));
        return reason;
    }
    if (*asked == 0 || in_use + *asked <= available.number) return {};
    reason.a = *asked;
    reason.b = available.number - in_use;
    reason.c = available.number;
    return reason;
}

}  // namespace pbs::sched
