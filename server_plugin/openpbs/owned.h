// The attributes that the plugin adds to OpenPBS's objects. The shim takes them out of requests to the server
// and adds them to the server's listings. objects/host_attributes.cc has the same attributes; a test compares
// them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "server_plugin/plugin/pbs_plugin.h"
#include "values/text.h"

namespace pbs::openpbs {

struct OwnedAttribute {
    std::uint32_t object_type;
    const char* name;
    bool settable;  // false: it is only shown
};

inline constexpr std::array kOwned{
    OwnedAttribute{PBS_OBJ_SERVER, "non_work_days", true},
    OwnedAttribute{PBS_OBJ_SERVER, "time_zone", false},
    OwnedAttribute{PBS_OBJ_SERVER, "server_time", false},
    OwnedAttribute{PBS_OBJ_SERVER, "policy_attached", false},
    OwnedAttribute{PBS_OBJ_QUEUE, "time_window", true},
    OwnedAttribute{PBS_OBJ_QUEUE, "execution_type", true},
    OwnedAttribute{PBS_OBJ_SCHED, "policy", true},
    OwnedAttribute{PBS_OBJ_SCHED, "sched_config", false},
    OwnedAttribute{PBS_OBJ_SCHED, "active_policy", false},
    OwnedAttribute{PBS_OBJ_SCHED, "prime_time", false},
    OwnedAttribute{PBS_OBJ_SCHED, "dedicated_time", false},
    OwnedAttribute{PBS_OBJ_SCHED, "next_policy_change", false},
    OwnedAttribute{PBS_OBJ_SCHED, "configuration_error", false},
    OwnedAttribute{PBS_OBJ_SCHED, "migration_error", false},
    OwnedAttribute{PBS_OBJ_SCHED, "unsupported_settings", false},
    OwnedAttribute{PBS_OBJ_SCHED, "policy_service", false},
    OwnedAttribute{PBS_OBJ_SCHED, "scheduled_by", false},
    OwnedAttribute{PBS_OBJ_SCHED, "model_checks", false},
};

// An attribute of OpenPBS's objects that pbs_sched acts on, and the plugin doesn't.
struct NotActedOn {
    std::uint32_t object_type;
    const char* name;
    const char* why;
};
inline constexpr std::array kNotActedOn{
    NotActedOn{PBS_OBJ_SCHED, "opt_backfill_fuzzy", "the start of a top job is computed to the second"}};

inline const OwnedAttribute* find_owned(std::uint32_t object_type, const std::string& name) {
    const auto* found = std::ranges::find_if(kOwned, [&](const OwnedAttribute& one) {
        return one.object_type == object_type && values::same_word(one.name, name);
    });
    return found == kOwned.end() ? nullptr : found;
}

inline const NotActedOn* find_not_acted_on(std::uint32_t object_type, const std::string& name) {
    const auto* found = std::ranges::find_if(kNotActedOn, [&](const NotActedOn& one) {
        return one.object_type == object_type && values::same_word(one.name, name);
    });
    return found == kNotActedOn.end() ? nullptr : found;
}
// Returns the text "sched default: ATTRIBUTE has no effect: WHY".
inline std::string text_of(const NotActedOn& one, const std::string& sched) {
    return "sched " + sched + ": " + one.name + " has no effect: " + one.why;
}

// Returns the warning about the first of the attributes that the plugin doesn't act on; empty: there is none.
template <class Attributes>
std::string warning_of(std::uint32_t object_type, const std::string& object, const Attributes& attributes) {
    for (const auto& attribute : attributes)
        if (const NotActedOn* found = find_not_acted_on(object_type, attribute.name))
            return text_of(*found, object.empty() ? "default" : object);
    return {};
}

// Returns whether the plugin has this attribute and a request may set it.
inline bool is_ours(std::uint32_t object_type, const std::string& name) {
    const OwnedAttribute* found = find_owned(object_type, name);
    return found != nullptr && found->settable;
}

}  // namespace pbs::openpbs
