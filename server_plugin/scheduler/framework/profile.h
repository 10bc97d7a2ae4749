// A profile: an algorithm as a table of rules by extension point. `origin` and `standard` are in profiles/;
// the loop doesn't know which of them a policy has.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "server_plugin/scheduler/framework/after_refusal.h"
#include "server_plugin/scheduler/framework/cycle_log.h"
#include "server_plugin/scheduler/framework/decide.h"
#include "server_plugin/scheduler/framework/filter.h"
#include "server_plugin/scheduler/framework/node_order.h"
#include "server_plugin/scheduler/framework/policy.h"
#include "server_plugin/scheduler/framework/questions.h"
#include "server_plugin/scheduler/pending/deal.h"

namespace pbs::sched {

// Where jobs come from.
enum class JobSource : std::uint8_t {
    // Those of the submit queue and the special queue start in the batch queues, those of dedicated and
    // external queues where they are.
    named_queues,
    // Those of every execution queue of the scheduler start where they are.
    every_queue,
};

struct Profile {
    std::string_view name;  // as the attribute `algorithm` has it
    JobSource intake = JobSource::every_queue;
    // Sort. The chain for the jobs of a class, and what of it is left within a lane.
    const Chain& (*chain)(const Policy& policy, JobClass job_class, bool prime_time) = nullptr;
    const Chain& (*lane_chain)(const Policy& policy, JobClass job_class, bool prime_time) = nullptr;
    // Makes the chains of a policy anew, where they depend on the resources that are known. May be null.
    void (*make_chains)(Policy& policy, const Resources& resources) = nullptr;
    // Deal. The first that the policy wants for a class.
    std::span<const Deal* const> deals{};
    // Filter. In the order of the tests; those that are asked for each job are asked behind all others.
    std::span<const Admission* const> admissions{};
    std::span<const Filter* const> filters{};
    // What its rules ask the site.
    std::span<const QuestionRule* const> questions{};
    // Node order. Null: the order in which the vnodes were made.
    const NodeOrder* node_order = nullptr;
    // After refusal. All of them are told of a refusal.
    std::span<const AfterRefusalRule* const> after_refusal{};
    // Decide, in the order of the decisions.
    std::span<const Decide* const> decides{};
    // Log.
    std::span<const CycleLogRule* const> logs{};
    std::array<std::string_view, 6> class_names{};  // by JobClass
    bool counts_nodes = false;     // what jobs ask for, and what queues have, is also reckoned in ssinodes
    bool divides_chunks = false;   // where the host can give a chunk in pieces
    bool comments_starts = false;  // else the host says where a job runs
    // Takes out of a policy what only other algorithms act on. May be null.
    void (*keep_own)(Settings& settings) = nullptr;
};

// That of a policy: `profile` of the settings, else by their algorithm.
const Profile& profile_of(const Settings& settings);

// All of them.
std::span<const Profile* const> all_profiles();

// All that any profile has, each once.
std::vector<const Filter*> all_filters();
std::vector<const Admission*> all_admissions();

// Those that a policy switches on at an instant.
std::vector<const Filter*> filters_of(const Settings& settings, Instant now);
// Makes `filters` what filters_of() gives. False: that is what it was.
bool renew_filters(const Settings& settings, Instant now, std::vector<const Filter*>& filters);
std::vector<const Admission*> admissions_of(const Settings& settings, Instant now);

}  // namespace pbs::sched
