// The way back: legacy files from objects.
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

// What files are made from.
struct ExportSource {
    const objects::Snapshot& snapshot;
    rrule::Zone zone;  // the server's
    std::chrono::sys_seconds now{};
    std::string sched = "default";           // whose policies
    std::vector<std::string> queues{};       // the server's, among which a prefix has to choose
    std::vector<std::string> consumables{};  // its custom consumable resources
    std::vector<FoundQueueType> queue_types{};
    std::vector<std::string> others{};  // its custom resources that aren't consumable, and those that a
                                        // migrated sched_config named
    bool knows_queue_types = false;     // queues that `queue_types` doesn't name run jobs at any time
    // Elements of server_dyn_res that pbs_sched may run as root; null: all of them.
    const objects::RootPrograms* root_programs = nullptr;
    std::string before{};  // sched_config as it was: options that the objects have no words for stay
};

struct Exported {
    std::string text;
    // What the objects say and the file can't, a line each, with a reason.
    std::vector<std::string> left_out;
};

// A kind of file; one source file each (export_sched_config.cc, ...).
struct Exporter {
    std::string_view kind;  // as the option --export has it
    std::string_view file;  // its usual name
    Exported (*write)(const ExportSource& source);
};
// sched_config, holidays, dedicated_time, resource_group and configfile. Read back, a file means what the
// objects mean but for what is left out.
std::span<const Exporter> exporters();

// holidays is in the form of the scheduler whose algorithm the policy has.
Exported export_sched_config(const ExportSource& source);
Exported export_holidays(const ExportSource& source);
Exported export_dedicated_time(const ExportSource& source);
Exported export_resource_group(const ExportSource& source);
Exported export_configfile(const ExportSource& source);

}  // namespace pbs::migrate
