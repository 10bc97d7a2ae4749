#include "migrate/earlier_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "migrate/object_names.h"

namespace pbs::migrate {
namespace {

using objects::ObjectType;

const char* hours_of(PrimeTime prime) {
    switch (prime) {
        case PrimeTime::always:
            return "it is always prime time";
        case PrimeTime::never:
            return "it is never prime time";
        case PrimeTime::at_hours:
            break;
    }
    return "prime time has hours";
}

}  // namespace

PrimeTime prime_time(const PbsHolidays& file) {
    if (!file.in_use()) return PrimeTime::always;
    return prime_windows(file).empty() ? PrimeTime::never : PrimeTime::at_hours;
}

PrimeTime prime_time(const Ledger& before) {
    if (before.has(ObjectType::server, "", kNeverPrime)) return PrimeTime::never;
    const bool window = std::ranges::any_of(before.lines, [](const LedgerLine& line) {
        return line.part == Part::holidays && line.type == ObjectType::time_window;
    });
    return window ? PrimeTime::at_hours : PrimeTime::always;
}

bool had_config(const Ledger& before) {
    return policy_value(before, Part::options, kPolicy, "algorithm") == "origin";
}

bool had_sched_config(const Ledger& before) {
    const bool options = std::ranges::any_of(before.lines, [](const LedgerLine& line) {
        return line.part == Part::options && line.type == ObjectType::policy;
    });
    return options && !had_config(before);
}

std::string policy_value(const Ledger& before, Part part, const std::string& policy,
                         const std::string& attribute) {
    const auto found = std::ranges::find_if(before.lines, [&](const LedgerLine& line) {
        return line.part == part && line.type == ObjectType::policy && line.object == policy &&
               line.attribute == attribute;
    });
    return found == before.lines.end() ? std::string() : found->value;
}

Result<void> check_companions(const Legacy& files, const Ledger& before) {
    const PrimeTime earlier = prime_time(before);
    if (files.config && !files.origin_holidays && earlier == PrimeTime::at_hours &&
        files.config->find("PRIME_TIME_START") != nullptr)
        return refuse_file(
            files.config->file,
            "has PRIME_TIME_START, but the hours of prime time here are those of a holidays file: "
            "expected --holidays with that file beside it");
    if (files.origin_holidays && !files.config && (had_sched_config(before) || earlier != PrimeTime::always))
        return refuse_file(files.origin_holidays->file,
                           "has no line for weekday or a day of the week, so that it may be a file of PBS or "
                           "one of an Origin "
                           "scheduler: expected --sched-config (or --config) beside it");
    if (!files.pbs_holidays || files.sched_config) return {};
    const PbsHolidays& holidays = *files.pbs_holidays;
    if (had_config(before))
        return refuse_file(holidays.file,
                           "is a holidays file of PBS, and the policy has the options of an Origin "
                           "scheduler: expected --sched-config beside it");
    const PrimeTime now = prime_time(holidays);
    const bool hours_alone = now == earlier || (earlier == PrimeTime::always && now == PrimeTime::at_hours);
    if (had_sched_config(before) && !hours_alone)
        return refuse_file(holidays.file,
                           fmt::format("by this file {}, and by the migrated one {}, so that other options "
                                       "of sched_config count: expected --sched-config beside it",
                                       hours_of(now), hours_of(earlier)));
    return {};
}

}  // namespace pbs::migrate
