// Copies a cycle's decision about one job or reservation from the plugin's memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/names.h"
#include "cluster/place.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::cluster {

struct Decision {
    // The kinds are in the order of enum pbs_decision_kind. For confirm and deny, `job` is the handle of a
    // reservation.
    enum class Kind : std::uint8_t {
        run,
        comment,
        reject,
        move,
        estimate,
        preempt,
        accrue,
        confirm,
        deny,
        weigh
    } kind = Kind::comment;
    std::uint64_t job = 0;
    std::uint64_t queue = 0;  // 0: the job stays in its queue
    std::string text;
    std::vector<std::pair<std::uint32_t, std::string>> set_resources;  // pairs of a resource's id and value
    std::vector<Place> places;
    std::int64_t start = 0;          // estimate: when the job starts; 0: no start is expected any more
    std::uint64_t for_job = 0;       // preempt: the job that gets the place
    std::string methods{};           // preempt: letters of the methods to try in turn: S, C, R, D
    bool after_preemptions = false;  // run: the job starts once the preempted jobs are gone
    // run: the number of decisions, from this one on, of which all are carried out or none; 0: it is alone
    std::uint32_t together = 0;
    int accrue_type = 0;  // accrue: the new type
    int weight = 100;     // weigh: the new weight of the job's processes
};

// Translates a decision. Omits resources and vnodes that `names` doesn't know. A decision of an unknown kind
// becomes a comment.
Decision decision_of(const pbs_decision& in, const Names& names);

// The reason for a preemption, for comments and logs: "for job 7.server"; for an empty id, a text that says
// that the queue's time_window ends.
std::string occasion_of_preemption(std::string_view for_job);
// Returns the comment of a job that goes on at its places after a suspension, which its comment of that time
// tells.
std::string resumed_comment(std::string_view comment, std::string_view exec_vnode);
// Returns whether the comment names the job for which another one was preempted. Hosts keep such a comment.
bool names_preemption(std::string_view comment);

}  // namespace pbs::cluster
