// prefer of a job: resources that its vnodes should have if possible.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/scheduler/model/cluster.h"
#include "server_plugin/scheduler/model/resources.h"
#include "values/comparison.h"

namespace pbs::sched {

struct Preference {
    std::uint32_t resource = kNoResource;  // kNoResource: there is no such resource, and no vnode has it
    values::Comparison how = values::Comparison::equal;
    std::int64_t number = 0;
    std::string pattern;  // the pattern of a text, with * and ?
    std::string text;     // the preference in the job's words

    // Returns whether a vnode with this number, or with this text, meets the preference. A list of texts
    // meets it if one of them matches.
    bool is_met(std::int64_t has) const { return values::holds(has, how, number); }
    bool is_met(std::string_view has) const;
};

inline constexpr std::string_view kPreferencesForm =
    "at most 20 with + between, each RESOURCE=VALUE, or with one of != < <= > >= (texts: = or !=)";

// Reads "gpu_model=a100+mem>=64gb": at most 20 of them, each a resource, one of = != < <= > >=, and a value;
// texts have only = and !=. nullopt: the text is malformed.
std::optional<std::vector<Preference>> parse_preferences(std::string_view text, const Resources& resources);

}  // namespace pbs::sched
