// The state of a loaded plugin. The files of this folder are functions on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "objects/store.h"
#include "rrule/zone.h"
#include "server_plugin/plugin/allocation_files.h"
#include "server_plugin/plugin/background_queries.h"
#include "server_plugin/plugin/dynamic_resources.h"
#include "server_plugin/plugin/external_files.h"
#include "server_plugin/plugin/host.h"
#include "server_plugin/plugin/long_change.h"
#include "server_plugin/plugin/sched_config.h"
#include "server_plugin/plugin/site_program.h"
#include "server_plugin/plugin/translate.h"
#include "server_plugin/plugin/usage.h"
#include "server_plugin/plugin/usage_file.h"
#include "server_plugin/record/change_log.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::plugin {

// A file that a policy names, and the result of the last attempt to write it.
struct WrittenFile {
    std::string_view what;  // such as "The schedule log"
    std::string path;       // the path as the policy has it
    std::string why_not;    // empty: the file is written
};

// A cycle, from its start until the host takes its decisions. Meanwhile the cycle's thread writes
// State::decisions, `files`, and the members after `files`.
struct CycleInFlight {
    bool on_its_way = false;
    bool put_off = false;  // the cycle decides nothing, because programs have to report amounts first
    std::string sched;
    std::string home;
    std::string sched_priv;  // the scheduler's folder
    std::vector<WrittenFile> files;
    std::vector<std::string> log;
    std::vector<std::string_view> wants;  // sched::Decisions::wants
    std::int64_t log_event = -1;
    std::shared_ptr<BackgroundQuery> record;  // the cycle's record, if a client waits for it; else null
};

// The record of one scheduler's cycle for which a client waits (requests/record.h).
struct NextRecord {
    std::int64_t cycles = 0;                     // the number of this scheduler's cycles that have begun
    std::optional<sched::Instant> wanted_until;  // the next cycle is recorded if it begins by this instant
    std::int64_t recorded = 0;                   // the number of the cycle in `record`, counted from 1
    std::shared_ptr<BackgroundQuery> record;     // null: there is no record, or it was fetched
    sched::Instant kept_until{};                 // no client has fetched it: drop it after this
};

using UnsupportedKey = std::pair<objects::ObjectType, std::string>;

// The changed objects whose settings without effect still have to be logged. `lines`: the number of lines
// that have been logged about the change.
struct ChangedSettings {
    std::deque<UnsupportedKey> objects;
    std::size_t lines = 0;
};

// Settings of a queue that some policies don't act on.
struct QueueSettings {
    std::string name;
    std::string partition;
    std::string priority;
    std::string backfill_depth;  // empty: not set
};

struct State {
    State(const pbs_host& table, rrule::Zone server_zone)
        : host(table),
          zone(server_zone),
          // With pbs_sched, nobody asks for changes before a scheduler is the plugin's own.
          changes(table.first_change, !host.has_pbs_sched()),
          scheduler(std::move(server_zone)) {}

    Host host;
    rrule::Zone zone;
    // The decisions of the last cycle. The cycle's thread writes here. Declared before the scheduler, because
    // members are destroyed in reverse order, and the scheduler's destructor waits for the thread.
    DecisionArray decisions;
    DecisionArray placed;  // the decision of the last place_job()
    CycleInFlight in_flight;
    std::int64_t jobs_considered = 0;
    bool takes_preemptions = true;                   // the host preempts jobs, as it said for the last cycle
    std::map<std::string, NextRecord> next_records;  // by scheduler
    record::ChangeLog changes;                       // changes of the objects that the scheduler knows
    BackgroundQueries queries;
    sched::Scheduler scheduler;
    Translator translator;
    std::vector<sched::DueSched> due;  // the schedulers for which the last tick() wants a cycle

    // prepare() sets these. The store exists, unless `failure` has a reason.
    bool prepared = false;
    std::string failure;
    std::optional<objects::Store> store;
    LongChange long_change;  // while it is busy, nothing else may change the store
    UsageSaver usage;
    bool shares_came = false;  // the store has got usage of fair shares that the scheduler lacks
    std::vector<std::unique_ptr<SiteProgram>> programs = site_programs();
    AllocationFiles allocation_files;
    DynamicResources dynamic_resources;
    UsageFileTimer usage_file;
    std::string migration_error;  // the first mistake in the files to migrate; empty: none, or corrected
    std::string
        configuration_error;  // why an older configuration stays in force; empty: the last one is in force

    std::vector<objects::KnownResource> resources;  // the host's resources, until the store is open
    std::map<std::string, std::uint32_t, std::less<>> resource_ids;  // the ids of the host's resources
    std::map<std::string, std::string> sched_priv;                   // scheduler -> its folder
    std::map<std::string, std::string> sched_directives;  // scheduler -> pbs_sched_record::directives
    std::map<std::string, std::string> partitions;        // scheduler -> partition of its queues
    std::set<std::string, std::less<>> own_scheds;        // with pbs_sched: the plugin's own schedulers
    // has_pbs_sched_alone() returns whether pbs_sched schedules all jobs; has_pbs_sched(), whether it
    // schedules those of one scheduler.
    bool has_pbs_sched_alone() const { return host.has_pbs_sched() && own_scheds.empty(); }
    bool has_pbs_sched(std::string_view sched) const {
        return host.has_pbs_sched() && !own_scheds.contains(sched);
    }
    // Returns the host's abilities, and whether pbs_sched schedules. New settings of policies are checked
    // against these.
    objects::ServerAbilities abilities() const {
        objects::ServerAbilities all = host.abilities();
        if (host.has_pbs_sched())
            all.pbs_sched = has_pbs_sched_alone() ? objects::PbsSched::runs : objects::PbsSched::replaced;
        return all;
    }
    std::string server_formula;               // the server's deprecated job_sort_formula
    std::int64_t server_backfill_depth = -1;  // the server's deprecated backfill_depth; -1: not set
    SchedConfigs sched_configs;               // the sched_config files of schedulers without a policy
    // SchedConfigs::names when set_queue_types() last succeeded; empty: it never has.
    std::optional<std::uint64_t> queue_types_names;
    sched::Instant queue_types_again{};  // the time of its next try after a failure; the Epoch: it succeeded
    ExternalFiles external_files;        // the files of pbs_sched that are made from policies
    // The configuration that the scheduler got last; null: none yet. The store may have a newer one.
    std::shared_ptr<const objects::Snapshot> adopted;
    // The objects with settings that nothing acts on, and the lines that were logged about each.
    std::map<UnsupportedKey, std::vector<std::string>> unsupported;
    ChangedSettings changed_settings;
    std::map<uint64_t, QueueSettings> queue_settings;  // by handle; queues that have such settings
    std::set<uint64_t> queues_to_tell;                 // queues whose settings still have to be logged
    // By scheduler: the policy in force when the settings of its queues were last logged.
    std::map<std::string, std::optional<objects::Object>> told_policies;
    std::set<std::string> said_unwritable;  // names of files that couldn't be written, which was logged
};

}  // namespace pbs::plugin
