#include "server_plugin/openpbs/status_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "server_plugin/plugin/pbs_plugin.h"
#include "values/object_types.h"

namespace pbs::openpbs {
namespace {

struct Kind {
    std::string_view name;
    std::uint32_t type;
};
// Kinds of objects that exist only if the plugin's own scheduler schedules.
constexpr std::array kOfCycles{Kind{"explanation", PBS_OBJ_EXPLANATION}, Kind{"record", PBS_OBJ_RECORD},
                               Kind{"fairshare", PBS_OBJ_FAIRSHARE}, Kind{"quota_use", PBS_OBJ_QUOTA_USE},
                               Kind{"changes", PBS_OBJ_CHANGES}};
constexpr std::array kKinds{Kind{"configuration", PBS_OBJ_CONFIGURATION}, Kind{"history", PBS_OBJ_HISTORY}};

}  // namespace

std::uint32_t status_type(std::string_view kind, bool cycles) {
    if (const auto* own = values::find_type(kind); own != nullptr && own->own)
        return static_cast<std::uint32_t>(own->type);
    const auto in = [kind](const auto& kinds) {
        const auto* found = std::ranges::find(kinds, kind, &Kind::name);
        return found == kinds.end() ? 0 : found->type;
    };
    if (const std::uint32_t type = in(kKinds); type != 0) return type;
    return cycles ? in(kOfCycles) : 0;
}

std::string instead_of(std::string_view kind) {
    constexpr std::string_view kWhy = "pbs_sched schedules for this server";
    if (kind == "explanation")
        return fmt::format(
            "{}, and says why a job waits in the job's comment (qstat -f) and in its log, "
            "PBS_HOME/sched_logs (tracejob)",
            kWhy);
    if (kind == "record")
        return fmt::format("{}, and keeps no records of its cycles; its log is in PBS_HOME/sched_logs", kWhy);
    if (kind == "fairshare") return fmt::format("{}, and keeps the usage of shares itself: use pbsfs", kWhy);
    if (kind == "quota_use") return fmt::format("{}, and knows no quotas", kWhy);
    if (kind == "changes" || kind == "registration" || kind == "start")
        return fmt::format(
            "{}: a program of the site can schedule, and starts are tested, where the plugin is installed "
            "with "
            "pbs_policy_install --scheduler",
            kWhy);
    if (kind == "accounting")
        return "the accounting records of this server are files, in PBS_HOME/server_priv/accounting";
    return fmt::format("No support for requested service: {}", kind);
}

}  // namespace pbs::openpbs
