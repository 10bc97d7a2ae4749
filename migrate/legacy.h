// The legacy files of one scheduler: their names, their texts, and what was read from them.
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
#include "migrate/origin_holidays.h"
#include "migrate/pbs_holidays.h"
#include "migrate/problem.h"
#include "migrate/qmgr_print.h"
#include "migrate/resource_group.h"
#include "migrate/resourcedef.h"
#include "migrate/sched_config.h"
#include "migrate/sched_formula.h"

namespace pbs::migrate {

// Paths of legacy files; empty: there is none.
struct LegacyFiles {
    std::string config;            // of an Origin scheduler
    std::string holidays;          // of the same, or with sched_config of its scheduler
    std::string sched_config{};    // of the scheduler of PBS or TORQUE; instead of config
    std::string dedicated_time{};  // beside sched_config
    std::string resource_group{};  // beside sched_config
    std::string sched_formula{};   // where PBS kept job_sort_formula
    std::string qmgr_print{};      // what qmgr -c "print server" wrote of a PBS server
    std::string resourcedef{};     // the resources of a PBS server
    std::string usage{};           // of entities in the tree of resource_group
    std::string decay_usage{};     // beside config
    std::string allocations{};     // of groups at an Origin system, and
    std::string current{};         // what they have used of them

    bool empty() const;
};

struct LegacyText {
    std::string file;  // its name in messages
    std::string text;
};

// As LegacyFiles; not set: there is none.
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
};

// One of the files, by the name that options and requests have for it.
struct LegacyKind {
    std::string_view name;  // "sched_config"
    std::string LegacyFiles::*file;
    std::optional<LegacyText> LegacyTexts::*text;
};
std::span<const LegacyKind> legacy_kinds();

// What the texts say; not set: there is no such file.
struct Legacy {
    std::optional<ConfigFile> config{};
    std::optional<HolidaysFile> origin_holidays{};  // without a sched_config
    std::optional<SchedConfig> sched_config{};
    std::optional<PbsHolidays> pbs_holidays{};  // beside a sched_config
    std::optional<DedicatedTime> dedicated_time{};
    std::optional<ResourceGroup> resource_group{};
    std::optional<SchedFormula> sched_formula{};
    std::optional<QmgrPrint> qmgr_print{};
    std::optional<QmgrPrint> resourcedef{};
    std::optional<FairshareUsage> usage{};
    std::optional<DecayUsage> decay_usage{};
    std::optional<Allocations> allocations{};
    std::optional<CurrentUsage> current{};
    // What is wrong in the files and was no obstacle for the older schedulers either.
    Problems mistakes{};
};

// The files of a home: sched_priv/config (else sched_priv/CONFIGFILE), and beside it sched_priv/holidays,
// else /usr/lib/acct/holidays, sched_priv/decay_usage and sched_priv/qmgr_print. A home without a
// configuration of an Origin scheduler has sched_priv/sched_config (which PBS puts into every home, in use or
// not), and beside it sched_priv/holidays in PBS's form, sched_priv/dedicated_time,
// sched_priv/resource_group, sched_priv/usage, sched_priv/sched_formula, and sched_priv/qmgr_print, where an
// administrator puts what qmgr printed of the older server, and server_priv/resourcedef. Without either there
// is nothing to migrate and all are empty.
LegacyFiles find_legacy_files(const std::string& home);
// The files of another scheduler of PBS, whose sched_priv the folder is: of its policies alone.
LegacyFiles find_files_of_sched(const std::string& folder);

// Reads the files, and adds to `problems` those that can't be read. With a `home`: the server reads them
// there, and what is wrong in them is shown to everybody; a file has to be one that
// objects::open_plain_file() takes, or a symbolic link to one that everybody may read.
LegacyTexts read_files(const LegacyFiles& files, Problems& problems, const std::string& home = {});

// Parses the texts. Problems: those of all of them, which with `strict` are mistakes too. A sched_config that
// is the configuration of an Origin scheduler is read as one, and so are the holidays beside it.
//
// /usr/lib/acct/holidays, which belongs to the system, is left out unless the configuration has
// ENFORCE_PRIME_TIME.
Result<Legacy> parse(const LegacyTexts& texts, bool strict = false);

}  // namespace pbs::migrate
