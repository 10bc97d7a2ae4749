// The state of one loaded plugin. The files of this folder are functions on it.
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
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::plugin {

// A file that a policy wanted written.
struct WrittenFile {
    std::string_view what;  // "The schedule log"
    std::string path;       // as configured
    std::string why_not;    // empty: it is written
};

// A cycle from its start until the host takes what it decided. In between the thread of the cycle writes the
// last ones, and State::decisions.
struct CycleInFlight {
    bool on_its_way = false;
    bool put_off = false;  // it decides nothing, because programs have to report amounts first
    std::string sched;
    std::string home;
    std::string sched_priv;  // the scheduler's folder
    std::vector<WrittenFile> files;
    std::vector<std::string> log;
    std::vector<std::string_view> wants;  // sched::Decisions::wants
    std::int64_t log_event = -1;
    std::shared_ptr<BackgroundQuery> record;  // the cycle's record, if somebody waits for it; or null
};

// The record of a cycle that somebody waits for (requests/record.h), for one scheduler.
struct NextRecord {
    std::int64_t cycles = 0;                     // the number of cycles that have begun
    std::optional<sched::Instant> wanted_until;  // the next one is recorded if it begins by then
    std::int64_t recorded = 0;                   // the cycle whose record `record` is, counted from 1
    std::shared_ptr<BackgroundQuery> record;     // null: there is none, or it was fetched
    sched::Instant kept_until{};                 // for a client that has stopped asking
};

using UnsupportedKey = std::pair<objects::ObjectType, std::string>;

// Changed objects whose settings the log is still to be told of, and the number of lines so far.
struct ChangedSettings {
    std::deque<UnsupportedKey> objects;
    std::size_t lines = 0;
};

// Settings of a queue that a policy may not act on.
struct QueueSettings {
    std::string name;
    std::string partition;
    std::string priority;
    std::string backfill_depth;  // empty: not set
};

struct State {
    State(const pbs_host& table, rrule::Zone server_zone)
        : host(table), zone(server_zone), scheduler(std::move(server_zone)) {}

    Host host;
    rrule::Zone zone;
    // The decisions of the last cycle. Its thread writes here, so the scheduler, which waits for the thread,
    // has to be destroyed first.
    DecisionArray decisions;
    DecisionArray placed;  // the decision of the last place_job()
    CycleInFlight in_flight;
    std::int64_t jobs_considered = 0;
    bool takes_preemptions = true;  // the host preempts jobs, as it declared for the last cycle
    std::map<std::string, NextRecord> next_records;  // by scheduler
    BackgroundQueries queries;
    sched::Scheduler scheduler;
    Translator translator;
    std::vector<sched::DueSched> due;  // of the last tick

    // Set by prepare(). The store is there unless `failure` says why it isn't.
    bool prepared = false;
    std::string failure;
    std::optional<objects::Store> store;
    LongChange long_change;  // while it is busy, nothing else may change the store
    UsageSaver usage;
    bool shares_came = false;  // usage of fair shares was stored, which the scheduler is to be given
    std::vector<std::unique_ptr<SiteProgram>> programs = site_programs();
    AllocationFiles allocation_files;
    DynamicResources dynamic_resources;
    UsageFileTimer usage_file;
    std::string migration_error;  // error of the first start; empty: none, or corrected since
    std::string
        configuration_error;  // the reason why an older configuration stays in force; empty: it doesn't

    std::vector<std::string> resources;             // names of the host's resources, until the store is open
    std::map<std::string, std::string> sched_priv;  // scheduler -> its folder
    std::map<std::string, std::string> sched_directives;  // scheduler -> pbs_sched_record::directives
    std::map<std::string, std::string> partitions;  // scheduler -> partition of the queues that it serves
    std::set<std::string, std::less<>> own_scheds;  // on a host with pbs_sched: the plugin's schedulers
    // Does pbs_sched schedule for all schedulers, or for this one?
    bool has_pbs_sched_alone() const { return host.has_pbs_sched() && own_scheds.empty(); }
    bool has_pbs_sched(std::string_view sched) const {
        return host.has_pbs_sched() && !own_scheds.contains(sched);
    }
    // The host's abilities, with what pbs_sched schedules now; policies that are being set are checked
    // against them.
    objects::ServerAbilities abilities() const {
        objects::ServerAbilities all = host.abilities();
        if (host.has_pbs_sched())
            all.pbs_sched = has_pbs_sched_alone() ? objects::PbsSched::runs : objects::PbsSched::replaced;
        return all;
    }
    std::string server_formula;               // its deprecated job_sort_formula
    std::int64_t server_backfill_depth = -1;  // its deprecated backfill_depth
    SchedConfigs sched_configs;               // of schedulers without a policy
    std::uint64_t queue_types_names = 0;      // sched_configs.names at the last set_queue_types()
    ExternalFiles external_files;             // of hosts with pbs_sched
    // The configuration that the scheduler was last given; null: none yet. Later commits have other
    // snapshots.
    std::shared_ptr<const objects::Snapshot> adopted;
    // Objects with settings that nothing acts on, with the lines that the log was told of each.
    std::map<UnsupportedKey, std::vector<std::string>> unsupported;
    ChangedSettings changed_settings;
    std::map<uint64_t, QueueSettings> queue_settings;  // by the host's handles; queues with such settings
    std::set<uint64_t> queues_to_tell;                 // queues whose settings the log is still to be told of
    // By scheduler, the policy in force when the log was told of its queues.
    std::map<std::string, std::optional<objects::Object>> told_policies;
    std::set<std::string> said_unwritable;  // dump files that couldn't be written, as already logged
};

}  // namespace pbs::plugin
