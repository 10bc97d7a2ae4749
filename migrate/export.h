// Writes legacy files from objects: the reverse of a conversion (convert.h).
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/queue_types.h"
#include "objects/root_programs.h"
#include "objects/snapshot.h"
#include "rrule/zone.h"

namespace pbs::migrate {

// Everything that an exporter reads.
struct ExportSource {
    const objects::Snapshot& snapshot;
    rrule::Zone zone;  // the server's zone
    std::chrono::sys_seconds now{};
    std::string sched = "default";           // scheduler whose policies are exported
    std::vector<std::string> queues{};       // all queues of the server: a prefix must not select a queue
                                             // of another type
    std::vector<std::string> consumables{};  // the server's custom consumable resources
    std::vector<FoundQueueType> queue_types{};
    std::vector<std::string> others{};  // custom resources that aren't consumable, and resources that a
                                        // migrated sched_config named
    bool knows_queue_types = false;     // whether queues that `queue_types` doesn't name run jobs at any time
    // Elements of server_dyn_res that pbs_sched may run as root; null: all.
    const objects::RootPrograms* root_programs = nullptr;
    std::string before{};  // the earlier sched_config: its options that no object can express are kept
};

struct Exported {
    std::string text;
    // Settings of the objects that the file can't express: a line each, with the reason.
    std::vector<std::string> left_out;
};

// Writes one kind of file. Each exporter has a source file (export_sched_config.cc, ...).
struct Exporter {
    std::string_view kind;  // argument of the option --export
    std::string_view file;  // usual name of the file
    Exported (*write)(const ExportSource& source);
};
// The exporters for sched_config, holidays, dedicated_time, resource_group and configfile. A file that is
// read back gives the same objects, apart from `left_out`.
std::span<const Exporter> exporters();

// Each function exports one file. The holidays file is in the format of the scheduler that has the policy's
// algorithm.
Exported export_sched_config(const ExportSource& source);
Exported export_holidays(const ExportSource& source);
Exported export_dedicated_time(const ExportSource& source);
Exported export_resource_group(const ExportSource& source);
Exported export_configfile(const ExportSource& source);

}  // namespace pbs::migrate
