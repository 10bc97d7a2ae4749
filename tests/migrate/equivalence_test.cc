// Migrates the files of sites, from trivial ones to one with every option. Compares the objects with a simple
// reading of the files, minute by minute for two years and option by option. Then exports the objects,
// migrates the exported files, and compares again.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "migrate/export.h"
#include "migrate/migrate.h"
#include "objects/snapshot.h"
#include "objects/store.h"
#include "objects/windows.h"
#include "rrule/window_set.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using objects::Object;
using objects::ObjectType;

constexpr std::chrono::sys_seconds kNow{std::chrono::sys_days{std::chrono::year{2027} / 1 / 1}};
constexpr int kMinutes = 2 * 366 * 1440;
const objects::Identity kRoot{"root", "localhost", objects::manager_privilege};

struct Site {
    std::string name;
    std::string sched_config{};
    std::string holidays{};
    std::string dedicated_time{};
    std::string resource_group{};
    std::string config{};  // configuration of an Origin scheduler; if it isn't empty, sched_config isn't used
};

const std::vector<std::string> kQueues = {"ded1", "dedq", "np_slow", "p_fast", "workq"};

std::vector<Site> sites() {
    const std::string year = "YEAR 2027\n";
    return {
        {.name = "an empty file", .sched_config = "# nothing\n"},
        {.name = "as delivered",
         .sched_config =
             "round_robin: False\tall\nby_queue: True\t\tprime\nby_queue: True\t\tnon_prime\n"
             "strict_ordering: false\tALL\nhelp_starving_jobs: true\tALL\nmax_starve: 24:00:00\n"
             "backfill_prime: false\tALL\nprime_exempt_anytime_queues: false\nprimetime_prefix: p_\n"
             "nonprimetime_prefix: np_\njob_sort_key: \"cput LOW\"\tALL\n"
             "node_sort_key: \"sort_priority HIGH\"\tALL\nprovision_policy: \"aggressive_provision\"\n"
             "resources: \"ncpus, mem, arch, host, vnode, aoe, eoe\"\nload_balancing: false\tALL\n"
             "fair_share: false\tALL\npreemptive_sched: true\tALL\npreempt_queue_prio: 150\n"
             "preempt_prio: \"express_queue, normal_jobs\"\npreempt_order: \"SCR\"\n"
             "preempt_sort: min_time_since_start\ndedicated_prefix: ded\nlog_filter: 3328\n",
         .holidays = "* a comment\n# and another\n"},
        {.name = "office hours",
         .sched_config = "by_queue: True prime\nby_queue: False non_prime\nstrict_ordering: True non_prime\n",
         .holidays =
             year + "weekday 0600 1730\nsaturday none all\nsunday none all\n1 Jan 1\n60 Mar 1\n359 Dec 25\n"},
        {.name = "hours of every kind",
         .sched_config =
             "round_robin: True\tnon_prime\nprime_spill: 01:00:00\tprime\nbackfill: False\tnon_prime\n"
             "job_sort_key: \"ncpus HIGH\" prime\njob_sort_key: \"mem LOW\" non_prime\n",
         .holidays = year + "monday 2200 0600\ntuesday all none\nwednesday none all\nthursday none none\n"
                            "friday 0000 1200\nsaturday 1200 0000\n366 leap\n365\n"},
        {.name = "dedicated times",
         .sched_config = "dedicated_prefix: ded\r\nby_queue: True\r\n",
         .dedicated_time = "01/02/2027 22:00 01/05/2027 06:30\n01/10/2027 12:00 01/10/2027 13:00\n"
                           "01/10/2027 12:30 01/10/2027 14:15\n12/31/2027 23:00 01/01/2028 01:00\n"
                           "02/29/2028 00:00 03/01/2028 00:00"},
        {.name = "everything",
         .sched_config =
             "round_robin: True prime\nby_queue: False\nstrict_fifo: True non_prime\nhelp_starving_jobs: "
             "True\n"
             "max_starve: 48:00:00\njob_sort_key: \"ncpus HIGH\" prime\njob_sort_key: \"mem LOW\"\n"
             "backfill_prime: True\nprime_exempt_anytime_queues: True\nprime_spill: 2:00:00 non_prime\n"
             "dedicated_prefix: ded\nprimetime_prefix: p_\nnonprimetime_prefix: np_\n"
             "resources: \"ncpus, mem, arch\"\nnode_sort_key: \"ncpus HIGH unused\" prime\n"
             "node_sort_key: \"mem LOW\"\nload_balancing: True\nprovision_policy: avoid_provision\n"
             "server_dyn_res: \"mem !/bin/get_mem\"\nfair_share: True\nunknown_shares: 5\n"
             "fairshare_usage_res: \"ncpus*walltime\"\nfairshare_entity: egroup:euser\n"
             "fairshare_decay_time: 6:00:00\nfairshare_decay_factor: 0.8\nfairshare_enforce_no_shares: True\n"
             "preemptive_sched: True\npreempt_queue_prio: 190\npreempt_prio: \"express_queue, normal_jobs\"\n"
             "preempt_order: \"SCR 70 SC 30\"\npreempt_sort: min_time_since_start\nbackfill: False "
             "non_prime\n"
             "peer_queue: \"workq workq@svr1\"\nlog_filter: 256\n",
         .holidays = year + "weekday 0730 1800\nsaturday 0900 1300\nsunday none all\n1\n32\n185 Jul 4\n",
         .dedicated_time = "06/15/2027 08:00 06/16/2027 20:00\n",
         .resource_group = "grp1 50 root 10\ngrp2 51 root 20\nalice 60 grp1 5\ngrp2:bob 61 grp2 1\n"},
        {.name = "a trivial Origin system", .config = "SUBMIT_QUEUE submit\nBATCH_QUEUES execute\n"},
        {.name = "an Origin system with everything",
         .holidays = "* the year's\nYEAR 2027\n1 Jan 1\n60\n185 Jul 4\n359 Dec 25\n",
         .config =
             "SUBMIT_QUEUE submit\nBATCH_QUEUES small@a.b.c\nBATCH_QUEUES large,huge\nSPECIAL_QUEUE special\n"
             "DEDICATED_QUEUES ded\nEXTERNAL_QUEUES compile\nPRIME_TIME_WALLT_LIMIT 2:00:00\n"
             "PRIME_TIME_START 08:00:00\nPRIME_TIME_END 17:30:00\nENFORCE_PRIME_TIME True\nSMALL_JOB_MAX 16\n"
             "WALLT_SMALL_LIMIT 4:00:00\nWALLT_LIMIT_LARGE_JOB 8:00:00\nPRIME_TIME_SMALL_NODE_LIMIT 8\n"
             "PRIME_TIME_SMALL_WALLT_LIMIT 90:00\nENFORCE_DEDICATED_TIME 11/10/1999@17:00:01\n"
             "DEDICATED_TIME_COMMAND /bin/true\nDEDICATED_TIME_CACHE_SECS 300\nSYSTEM_NAME cluster\n"
             "MAX_DEDICATED_JOBS 4\nNON_PRIME_DRAIN_SYS yes\nNP_DRAIN_BACKTIME 30:00\nNP_DRAIN_IDLETIME 900\n"
             "MAX_JOBS 2\nMIN_JOBS 1\nMAX_USER_RUN_JOBS 8\nTARGET_LOAD_PCT 85%\nTARGET_LOAD_VARIANCE "
             "-90%,+10%\n"
             "HIGH_SYSTIME 20\nENFORCE_ALLOCATION 11/01/1998\nSCHED_ACCT_DIR /PBS/acct\nSORT_BY_PAST_USAGE "
             "no\n"
             "DECAY_FACTOR 0.5\nOA_DECAY_FACTOR 1.5\nMAX_QUEUED_TIME 48:00:00\nINTERACTIVE_LONG_WAIT 30:00\n"
             "SORTED_JOB_FILE sortedjobs\nMANAGE_HPM_COUNTERS 1\nREVOKE_HPM_COUNTERS ON\n"
             "SCHED_RESTART_ACTION restart\nSMALL_QUEUED_TIME 1:00:00\nAVOID_FRAGMENTATION off\nTEST_ONLY "
             "False\n"
             "FAKE_MACHINE_MULT 0\nBACKGROUND_QUEUE_NAME back\nCHALLENGE_QUEUE_NAME chal\nSCHED_HOST h.b.c\n"
             "SERVER_HOST s.b.c\nMAX_JOBS 3\n"},
        {.name = "an Origin system whose prime time spans midnight",
         .holidays = "359 Dec 25\n",
         .config =
             "SUBMIT_QUEUE submit\nBATCH_QUEUES execute\nPRIME_TIME_START 22:00:00\nPRIME_TIME_END 06:00:00\n"
             "PRIME_TIME_WALLT_LIMIT 2:00:00\nENFORCE_PRIME_TIME True\n"},
    };
}

// A store into which the files of a site are migrated.
class Migrated {
  public:
    explicit Migrated(const Site& site) {
        auto opened = objects::Store::open(home_.path("policy.db"), {"UTC", {}}, kNow);
        EXPECT_TRUE(opened);
        store_.emplace(std::move(*opened));
        LegacyTexts texts;
        const auto put = [](std::optional<LegacyText>& text, const char* file, const std::string& content) {
            if (!content.empty()) text = LegacyText{file, content};
        };
        put(texts.config, "config", site.config);
        put(texts.sched_config, "sched_config", site.sched_config);
        put(texts.holidays, "holidays", site.holidays);
        put(texts.dedicated_time, "dedicated_time", site.dedicated_time);
        put(texts.resource_group, "resource_group", site.resource_group);
        const auto done = migrate(texts, *store_, kRoot, kNow, {kQueues, {}, {}, kNow});
        EXPECT_TRUE(done) << site.name << testing::PrintToString(test::texts(done.error()));
        if (done) conversion_ = *done;
    }

    const objects::Snapshot& snapshot() const { return *store_->snapshot(); }
    const Conversion& conversion() const { return conversion_; }

    rrule::WindowSet windows(const char* type, const rrule::Zone& zone = rrule::Zone::utc()) const {
        std::vector<rrule::Window> out;
        for (const Object* object : snapshot().time_windows_of_type(type))
            out.push_back(*objects::make_window(*object, zone));
        return rrule::WindowSet(out, *rrule::NonWorkDays::parse(snapshot().non_work_days(), zone));
    }

    // Exports the objects to a file of this kind, as a server with these queues would.
    Exported exported(std::string_view kind) const {
        std::vector<FoundQueueType> types;
        for (const QueueType& type : conversion_.queue_types) types.push_back({type.queue, type.to, ""});
        const ExportSource source{snapshot(), rrule::Zone::utc(), kNow, "default", kQueues, {}, types};
        const auto all = exporters();
        return std::ranges::find(all, kind, &Exporter::kind)->write(source);
    }

  private:
    Folder home_;
    std::optional<objects::Store> store_;
    Conversion conversion_;
};

// ---- A simple reading of the files, as the older schedulers read them.

std::vector<std::vector<std::string>> words_of_lines(const std::string& text, const std::string& comments) {
    std::vector<std::vector<std::string>> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::vector<std::string> found;
        for (std::string word; words >> word;) found.push_back(word);
        if (!found.empty() && comments.find(found[0][0]) == std::string::npos) out.push_back(found);
    }
    return out;
}

struct Minute {
    int day_of_year;
    int weekday;
    int hhmm;
};

Minute minute_at(int minute) {
    const auto t = kNow + std::chrono::minutes{minute};
    const auto day = std::chrono::floor<std::chrono::days>(t);
    const auto year = std::chrono::year_month_day{day}.year();
    const auto of_day = std::chrono::duration_cast<std::chrono::minutes>(t - day).count();
    return {static_cast<int>((day - std::chrono::sys_days{year / 1 / 1}).count()) + 1,
            static_cast<int>(std::chrono::weekday{day}.c_encoding()),
            static_cast<int>(of_day / 60 * 100 + of_day % 60)};
}

// Prime time by PBS's holidays file. If the file has no YEAR, it is always prime time.
class NaivePbs {
  public:
    explicit NaivePbs(const std::string& text) {
        const std::map<std::string, int> days = {{"sunday", 0},    {"monday", 1},   {"tuesday", 2},
                                                 {"wednesday", 3}, {"thursday", 4}, {"friday", 5},
                                                 {"saturday", 6}};
        for (const auto& words : words_of_lines(text, "#*")) {
            if (words[0] == "YEAR") {
                in_use_ = true;
            } else if (words[0] == "weekday") {
                for (int day = 1; day <= 5; ++day) hours_[day] = {words[1], words[2]};
            } else if (days.contains(words[0])) {
                hours_[days.at(words[0])] = {words[1], words[2]};
            } else {
                holidays_.insert(std::stoi(words[0]));
            }
        }
    }
    bool in_use() const { return in_use_; }
    bool prime(const Minute& at) const {
        if (!in_use_) return true;
        if (holidays_.contains(at.day_of_year)) return false;
        const auto found = hours_.find(at.weekday);
        if (found == hours_.end()) return true;
        const auto& [prime, non_prime] = found->second;
        if (prime == "all") return true;
        if (non_prime == "all") return false;
        if (prime == "none") return non_prime == "none";
        if (non_prime == "none") return true;
        const int from = std::stoi(prime);
        const int to = std::stoi(non_prime);
        if (from <= to) return from <= at.hhmm && at.hhmm < to;
        return at.hhmm < to || at.hhmm >= from;
    }

  private:
    bool in_use_ = false;
    std::map<int, std::pair<std::string, std::string>> hours_;
    std::set<int> holidays_;
};

// Prime time of the Origin scheduler: it begins at PRIME_TIME_START on working days, and ends at
// PRIME_TIME_END.
class NaiveOrigin {
  public:
    NaiveOrigin(const std::string& config, const std::string& holidays) {
        for (const auto& words : words_of_lines(config, "#")) {
            if (words[0] == "PRIME_TIME_START") start_ = hhmm(words[1]);
            if (words[0] == "PRIME_TIME_END") end_ = hhmm(words[1]);
        }
        for (const auto& words : words_of_lines(holidays, "*"))
            if (words[0] != "YEAR") holidays_.insert(std::stoi(words[0]));
    }
    bool prime(const Minute& at, const Minute& day_before) const {
        if (start_ < 0) return false;
        if (start_ < end_) return works(at) && start_ <= at.hhmm && at.hhmm < end_;
        return (works(at) && at.hhmm >= start_) || (works(day_before) && at.hhmm < end_);
    }

  private:
    static int hhmm(const std::string& text) { return std::stoi(text.substr(0, 2) + text.substr(3, 2)); }
    bool works(const Minute& day) const {
        return day.weekday != 0 && day.weekday != 6 && !holidays_.contains(day.day_of_year);
    }
    int start_ = -1;
    int end_ = -1;
    std::set<int> holidays_;
};

// Returns the dedicated times of a file, as pairs of minutes after kNow.
std::vector<std::pair<int, int>> naive_dedicated(const std::string& text) {
    std::vector<std::pair<int, int>> out;
    const auto minute = [](const std::string& date, const std::string& time) {
        const auto day = std::chrono::sys_days{std::chrono::year{std::stoi(date.substr(6))} /
                                               std::stoi(date.substr(0, 2)) / std::stoi(date.substr(3, 2))};
        const auto days = (day - std::chrono::floor<std::chrono::days>(kNow)).count();
        return static_cast<int>(days) * 1440 + std::stoi(time.substr(0, 2)) * 60 +
               std::stoi(time.substr(3, 2));
    };
    for (const auto& words : words_of_lines(text, "#*"))
        out.emplace_back(minute(words[0], words[1]), minute(words[2], words[3]));
    return out;
}

// Checks that the migrated windows give each minute the same prime and dedicated time as the older
// scheduler's files. The files have local times of the server's zone.
void expect_the_same_minutes(const Site& site, const Migrated& migrated, const rrule::Zone& zone) {
    const rrule::WindowSet prime = migrated.windows("prime", zone);
    const rrule::WindowSet dedicated = migrated.windows("dedicated", zone);
    const NaivePbs pbs(site.config.empty() ? site.holidays : "");
    const NaiveOrigin origin(site.config, site.config.empty() ? "" : site.holidays);
    const auto times = naive_dedicated(site.dedicated_time);
    // Without prime windows, the policy for all time is in force. It has the values of the prime column.
    const bool always = site.config.empty() && !pbs.in_use();
    int wrong = 0;
    // Under the sanitizers, check every seventh minute, so that each minute of the day is checked once a
    // week.
    constexpr int kStep = PBS_SANITIZED != 0 ? 7 : 1;
    for (int passed = 0; passed < kMinutes; passed += kStep) {
        const auto t = kNow + std::chrono::minutes{passed};
        const auto wall = std::chrono::sys_seconds{zone.local(t).time_since_epoch()};
        const int minute =
            std::chrono::duration_cast<std::chrono::duration<int, std::ratio<60>>>(wall - kNow).count();
        const Minute at = minute_at(minute);
        const bool is_prime =
            site.config.empty() ? pbs.prime(at) : origin.prime(at, minute_at(minute - 1440));
        const bool is_dedicated = std::ranges::any_of(
            times, [&](const auto& time) { return time.first <= minute && minute < time.second; });
        wrong += (prime.contains(t) || always) != is_prime ? 1 : 0;
        wrong += dedicated.contains(t) != is_dedicated ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0) << site.name;
}

// ---- Options of the older schedulers, compared with the policies' attributes

// Returns a value of an older file in the form of the attribute's text.
std::string naive_value(std::string value) {
    std::string lower = value;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    if (lower == "true") return "True";
    if (lower == "false") return "False";
    return value;
}
std::string naive_time(const std::string& value) {
    int seconds = 0;
    std::istringstream in(value);
    for (std::string part; std::getline(in, part, ':');) seconds = seconds * 60 + std::stoi(part);
    return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

// Returns the value of an attribute that is in force: the value that was set, or the default.
std::string effective(const Object& object, std::string_view name) {
    const auto* attribute = objects::find_attribute(object.type(), name);
    const objects::Value* value = object.value(name);
    return value == nullptr ? "" : objects::format_value(*attribute, *value);
}

// Returns the values of a sched_config, by attribute, that are in force in the column `column` (prime or
// non_prime).
std::map<std::string, std::string> naive_sched_config(const std::string& text, const std::string& column) {
    const std::map<std::string, std::string> renamed = {
        {"strict_fifo", "strict_ordering"},   {"preemptive_sched", "preemption"},
        {"prime_spill", "time_window_spill"}, {"fair_share", "fairshare"},
        {"log_filter", "log_event"},          {"backfill", "backfill_depth"},
        {"resources", "exclude_resources"},   {"dedicated_prefix", "dedicated_queues"}};
    const std::set<std::string> times = {"max_starve", "prime_spill"};
    const std::set<std::string> others = {"primetime_prefix", "nonprimetime_prefix", "unknown_shares"};
    std::map<std::string, std::string> out = {
        {"by_queue", "False"}, {"help_starving_jobs", "False"}, {"preemption", "False"}};
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (line.ends_with('\r')) line.pop_back();
        if (line.empty() || line[0] == '#') continue;
        const std::string option = line.substr(0, line.find(':'));
        std::string rest = line.substr(line.find(':') + 1);
        rest.erase(0, rest.find_first_not_of(" \t"));
        const bool quoted = rest[0] == '"';
        const auto end = quoted ? rest.find('"', 1) : rest.find_first_of(" \t");
        std::string value =
            rest.substr(quoted ? 1 : 0, end == std::string::npos ? end : end - (quoted ? 1 : 0));
        std::string when;
        if (end != std::string::npos) std::istringstream(rest.substr(end + (quoted ? 1 : 0))) >> when;
        std::ranges::transform(when, when.begin(), [](unsigned char c) { return std::tolower(c); });
        if (others.contains(option) || option.starts_with("fairshare_")) continue;
        if (!when.empty() && when != "all" && when != column) continue;
        const auto found = renamed.find(option);
        const std::string attribute = found == renamed.end() ? option : found->second;
        value = times.contains(option) ? naive_time(value) : naive_value(value);
        if (option == "log_filter") value = std::to_string(8191 & ~std::stoi(value));
        if (option == "backfill") value = value == "True" ? "1" : "0";
        if (option == "dedicated_prefix") value = "ded1,dedq";
        if (option == "provision_policy")
            value = "aggressive_provision";  // aggressive_provision is the only
                                             // value that migrates
        if (option == "resources") {
            std::string left;
            for (const char* name :
                 {"hpm", "mem", "mpiprocs", "naccelerators", "ncpus", "nodect", "ssinodes", "vmem"})
                if (value.find(name) == std::string::npos)
                    left += (left.empty() ? "" : ",") + std::string(name);
            value = left;
        }
        const bool list = option == "job_sort_key" || option == "node_sort_key";
        std::string& there = out[attribute];
        there = list && !there.empty() ? there + "," + value : value;
    }
    return out;
}

void expect_the_same_options(const Site& site, const Migrated& migrated) {
    const objects::PolicySlots slots = migrated.snapshot().policy_slots("default");
    for (const auto& [column, name] :
         {std::pair<std::string, std::string>{"prime", slots.prime}, {"non_prime", slots.non_prime}}) {
        const Object* policy = migrated.snapshot().policy(name.empty() ? slots.all_time : name);
        ASSERT_NE(policy, nullptr) << site.name;
        std::map<std::string, std::string> expected = naive_sched_config(site.sched_config, column);
        for (const objects::Attribute& attribute : objects::attributes(ObjectType::policy)) {
            if (attribute.name == "fairshare_group") continue;
            const auto found = expected.find(std::string(attribute.name));
            const std::string value =
                found != expected.end() ? found->second : std::string(attribute.default_value);
            EXPECT_EQ(effective(*policy, attribute.name), value)
                << site.name << ": " << column << " " << attribute.name;
            if (found != expected.end()) expected.erase(found);
        }
        EXPECT_TRUE(expected.empty()) << site.name << ": " << expected.begin()->first << " is no attribute";
    }
}

// Compares every option of an Origin configuration. If an option is set several times, its last value is in
// force; but several lists of queues are joined.
void expect_the_same_origin_options(const Site& site, const Migrated& migrated) {
    const Object& policy = *migrated.snapshot().policy("default_policy");
    const std::map<std::string, std::string> other_names = {{"WALLT_SMALL_LIMIT", "wallt_limit_small_job"},
                                                            {"NON_PRIME_DRAIN_SYS", "nonprime_drain_sys"},
                                                            {"SORTED_JOB_FILE", "sorted_job_dumpfile"}};
    const std::set<std::string> yes = {"true", "yes", "on", "1"};
    std::map<std::string, std::string> expected = {{"algorithm", "origin"}};
    for (const auto& words : words_of_lines(site.config, "#")) {
        const auto other = other_names.find(words[0]);
        std::string name = words[0];
        std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
        if (other != other_names.end()) name = other->second;
        const auto& attribute = *objects::find_attribute(ObjectType::policy, name);
        std::string value = words[1];
        if (attribute.type == objects::AttributeType::duration ||
            attribute.type == objects::AttributeType::time)
            value = naive_time(value);
        if (attribute.syntax == objects::Syntax::percentage && value.ends_with('%')) value.pop_back();
        // a date without a time means midnight
        if (value.size() == 10 && value[2] == '/' && value[5] == '/') value += "@00:00:00";
        if (attribute.type == objects::AttributeType::boolean_or_date &&
            value.find('/') == std::string::npos) {
            std::ranges::transform(value, value.begin(), [](unsigned char c) { return std::tolower(c); });
            value = yes.contains(value) ? "True" : "False";
        }
        std::string& there = expected[name];
        there = name == "batch_queues" && !there.empty() ? there + "," + value : value;
    }
    for (const auto& [name, value] : expected)
        EXPECT_EQ(effective(policy, name), value) << site.name << ": " << name;
    EXPECT_EQ(policy.values().size(), expected.size()) << site.name;
}

TEST(Equivalence, MinuteByMinuteOverTwoYears) {
    for (const Site& site : sites()) expect_the_same_minutes(site, Migrated(site), rrule::Zone::utc());
}

TEST(Equivalence, WhereClocksGoForthAndBack) {
    const auto zone = rrule::Zone::find("America/Los_Angeles");
    ASSERT_TRUE(zone);
    for (const Site& site : sites())
        for (const char* name : {"hours of every kind", "dedicated times"})
            if (site.name == name) expect_the_same_minutes(site, Migrated(site), *zone);
}

TEST(Equivalence, OptionByOption) {
    for (const Site& site : sites()) {
        const Migrated migrated(site);
        if (site.config.empty()) {
            expect_the_same_options(site, migrated);
        } else {
            expect_the_same_origin_options(site, migrated);
        }
    }
}

// ---- Exporting: the objects are exported, the files are migrated again, and the results must mean the same.

Site exported_site(const Site& site, const Migrated& migrated) {
    Site back{.name = site.name + ", exported"};
    if (site.config.empty()) {
        back.sched_config = migrated.exported("sched_config").text;
        back.dedicated_time = migrated.exported("dedicated_time").text;
        back.resource_group = migrated.exported("resource_group").text;
    } else {
        back.config = migrated.exported("configfile").text;
    }
    back.holidays = migrated.exported("holidays").text;
    return back;
}

TEST(RoundTrip, MeansTheSameWhenItIsMigratedAgain) {
    for (const Site& site : sites()) {
        const Migrated before(site);
        const Site back = exported_site(site, before);
        const Migrated after(back);
        ASSERT_EQ(after.snapshot().policy_slots("default"), before.snapshot().policy_slots("default"))
            << site.name;
        for (const auto& policy : before.snapshot().objects(ObjectType::policy)) {
            const Object* other = after.snapshot().policy(policy->name());
            ASSERT_NE(other, nullptr);
            for (const objects::Attribute& attribute : objects::attributes(ObjectType::policy))
                EXPECT_EQ(effective(*other, attribute.name), effective(*policy, attribute.name))
                    << site.name << ": " << policy->name() << " " << attribute.name;
        }
        for (const auto& group : before.snapshot().objects(ObjectType::fs_group)) {
            const Object* other = after.snapshot().fs_group(group->name());
            ASSERT_NE(other, nullptr) << site.name;
            for (const objects::Attribute& attribute : objects::attributes(ObjectType::fs_group))
                EXPECT_EQ(effective(*other, attribute.name), effective(*group, attribute.name))
                    << site.name << ": " << attribute.name;
        }
        EXPECT_EQ(after.conversion().queue_types, before.conversion().queue_types) << site.name;
        for (const char* type : {"prime", "dedicated"}) {
            const rrule::WindowSet was = before.windows(type);
            const rrule::WindowSet is = after.windows(type);
            EXPECT_EQ(is.intervals(kNow, kNow + std::chrono::minutes{kMinutes}),
                      was.intervals(kNow, kNow + std::chrono::minutes{kMinutes}))
                << site.name << ": " << type << "\n"
                << back.holidays;
        }
    }
}

TEST(RoundTrip, NothingOfTheseSitesIsLeftOut) {
    for (const Site& site : sites()) {
        const Migrated migrated(site);
        const std::vector<const char*> kinds =
            site.config.empty()
                ? std::vector<const char*>{"sched_config", "holidays", "dedicated_time", "resource_group"}
                : std::vector<const char*>{"configfile", "holidays"};
        for (const char* kind : kinds)
            EXPECT_THAT(migrated.exported(kind).left_out, testing::IsEmpty()) << site.name << ": " << kind;
    }
}

}  // namespace
}  // namespace pbs::migrate::test
