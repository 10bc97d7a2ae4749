// Finds, reads and parses the legacy files of one scheduler.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/allocations.h"
#include "migrate/configfile.h"
#include "migrate/current_usage.h"
#include "migrate/decay_usage.h"
#include "migrate/dedicated_time.h"
#include "migrate/fairshare_usage.h"
#include "migrate/grid_engine/grid_engine.h"
#include "migrate/origin_holidays.h"
#include "migrate/pbs_holidays.h"
#include "migrate/problem.h"
#include "migrate/qmgr_print.h"
#include "migrate/resource_group.h"
#include "migrate/resourcedef.h"
#include "migrate/sched_config.h"
#include "migrate/sched_formula.h"

namespace pbs::migrate {

// The paths of the files of an older scheduler that are to be migrated; an empty path: no such file.
struct LegacyFiles {
    std::string config;            // configuration of an Origin scheduler
    std::string holidays;          // holidays for config or for sched_config, in that scheduler's format
    std::string sched_config{};    // for a scheduler of PBS or TORQUE, instead of config
    std::string dedicated_time{};  // beside sched_config
    std::string resource_group{};  // beside sched_config
    std::string sched_formula{};   // the file in which PBS kept job_sort_formula
    std::string qmgr_print{};      // the output of qmgr -c "print server" at a PBS server
    std::string resourcedef{};     // definitions of a PBS server's custom resources
    std::string usage{};           // fair-share usage of entities in the tree of resource_group
    std::string decay_usage{};     // past usage of users, beside config
    std::string allocations{};     // allocations of groups at an Origin system
    std::string current{};         // usage of the groups in allocations
    std::string grid_engine{};     // folder with the output of Grid Engine's qconf; excludes all other files

    bool empty() const;
};

struct LegacyText {
    std::string file;  // file name for messages
    std::string text;
};

// The texts of the files in LegacyFiles; not set: no such file.
struct LegacyTexts {
    std::optional<LegacyText> config{};
    std::optional<LegacyText> holidays{};
    std::optional<LegacyText> sched_config{};
    std::optional<LegacyText> dedicated_time{};
    std::optional<LegacyText> resource_group{};
    std::optional<LegacyText> sched_formula{};
    std::optional<LegacyText> qmgr_print{};
    std::optional<LegacyText> resourcedef{};
    std::optional<LegacyText> usage{};
    std::optional<LegacyText> decay_usage{};
    std::optional<LegacyText> allocations{};
    std::optional<LegacyText> current{};
    std::optional<LegacyText> grid_engine{};  // the files of the folder (grid_engine/folder.h)
};

// A kind of file, by the name that options and requests use for it.
struct LegacyKind {
    std::string_view name;  // as in options and requests: "sched_config"
    std::string LegacyFiles::*file;
    std::optional<LegacyText> LegacyTexts::*text;
};
std::span<const LegacyKind> legacy_kinds();

// The parsed contents of the files in LegacyFiles; not set: no such file.
struct Legacy {
    std::optional<ConfigFile> config{};
    std::optional<HolidaysFile> origin_holidays{};  // of an Origin scheduler
    std::optional<SchedConfig> sched_config{};
    std::optional<PbsHolidays> pbs_holidays{};  // in PBS's format, beside a sched_config or alone
    std::optional<DedicatedTime> dedicated_time{};
    std::optional<ResourceGroup> resource_group{};
    std::optional<SchedFormula> sched_formula{};
    std::optional<QmgrPrint> qmgr_print{};
    std::optional<QmgrPrint> resourcedef{};
    std::optional<FairshareUsage> usage{};
    std::optional<DecayUsage> decay_usage{};
    std::optional<Allocations> allocations{};
    std::optional<CurrentUsage> current{};
    std::optional<GridEngine> grid_engine{};
    // Mistakes that the older schedulers tolerated, too.
    Problems mistakes{};
};

// Finds the legacy files of a home.
//
// An Origin scheduler's home has sched_priv/config (else sched_priv/CONFIGFILE). Its other files are
// sched_priv/holidays (else /usr/lib/acct/holidays), sched_priv/decay_usage and sched_priv/qmgr_print.
//
// Any other home has sched_priv/sched_config, which PBS puts into every home, in use or not. Its other files
// are, in sched_priv, holidays in PBS's format, dedicated_time, resource_group, usage, sched_formula and
// qmgr_print, where an administrator puts the print of the older server; and server_priv/resourcedef.
//
// A home with neither has nothing to migrate: all paths are empty.
LegacyFiles find_legacy_files(const std::string& home);
// Finds the files of an additional scheduler of PBS in its sched_priv: only those about its policies.
LegacyFiles find_files_of_sched(const std::string& folder);

// Reads the files, and adds to `problems` those that can't be read. Pass `home` if the server reads the
// files: everybody sees its messages about mistakes in them, so it must only read files that
// objects::open_plain_file() accepts, and symbolic links to files that everybody may read.
LegacyTexts read_files(const LegacyFiles& files, Problems& problems, const std::string& home = {});

// Parses the texts. Problems: those of all texts; with `strict` also the mistakes. A sched_config that is the
// configuration of an Origin scheduler is read as one, and the holidays beside it likewise. Holidays alone
// are read as PBS's if they have a line that only PBS's format has (is_pbs_holidays), else as an Origin
// scheduler's.
//
// /usr/lib/acct/holidays, which belongs to the system, counts only if the configuration has
// ENFORCE_PRIME_TIME.
Result<Legacy> parse(const LegacyTexts& texts, bool strict = false);

}  // namespace pbs::migrate
