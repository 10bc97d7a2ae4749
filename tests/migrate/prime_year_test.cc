// Compares prime time by the migrated objects with that of a model of the older scheduler, for every minute
// of a year. Both read the same holidays file.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <set>
#include <sstream>

#include "migrate/convert.h"
#include "objects/store.h"
#include "objects/windows.h"
#include "rrule/window_set.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

// ---- The model of the older scheduler: how it reads lines, and how it decides for a minute.

struct OldTime {
    bool all = false;
    bool none = false;
    unsigned hour = 0;
    unsigned minute = 0;
};
struct OldDay {
    OldTime prime;
    OldTime non_prime;
};

class OldScheduler {
  public:
    explicit OldScheduler(const std::string& file) {
        std::istringstream in(file);
        for (std::string line; std::getline(in, line);)
            for (std::size_t at = 0; at == 0 || at < line.size(); at += 255) take(line.substr(at, 255));
        for (OldDay& day : week_)
            if (day.prime.all + day.prime.none + day.prime.hour + day.prime.minute + day.non_prime.hour +
                    day.non_prime.minute ==
                0)
                day.prime.all = true;
    }

    bool is_prime(rrule::Local at) const {
        if (year_ == 0) return true;
        const auto day = std::chrono::floor<std::chrono::days>(at);
        const auto year = std::chrono::year_month_day{day}.year();
        const long number = (day - std::chrono::local_days{year / 1 / 1}).count() + 1;
        if (holidays_.contains(number)) return false;
        const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(at - day).count();
        const long now = minutes / 60 * 100 + minutes % 60;
        const OldDay& today = week_.at(std::chrono::weekday{day}.c_encoding());
        const int from = static_cast<int>(today.prime.hour * 100 + today.prime.minute);
        const int until = static_cast<int>(today.non_prime.hour * 100 + today.non_prime.minute);
        if (today.prime.all) return true;
        if (today.non_prime.all || today.prime.none) return false;
        if (today.non_prime.none) return true;
        if (from < until) return from <= now && now < until;
        if (from > until) return now < until || now >= from;
        return false;
    }

  private:
    void take(const std::string& line) {
        const auto first = line.find_first_not_of(" \t\r\v\f");
        if (first == line.npos || line[first] == '#' || line[first] == '*') return;
        std::vector<std::string> words;
        for (std::size_t from = line.find_first_not_of(" \t"); from != line.npos;) {
            const auto end = std::min(line.find_first_of(" \t", from), line.size());
            words.push_back(line.substr(from, end - from));
            from = line.find_first_not_of(" \t", end);
        }
        words.resize(3);
        const std::array<std::string, 7> names{"sunday",   "monday", "tuesday", "wednesday",
                                               "thursday", "friday", "saturday"};
        if (words[0] == "HOLIDAYFILE_VERSION1") return;
        if (words[0] == "YEAR") {
            char* end = nullptr;
            const long year = std::strtol(words[1].c_str(), &end, 10);
            if (!words[1].empty() && *end == 0) year_ = year;
            return;
        }
        std::vector<std::size_t> days;
        for (std::size_t day = 0; day < names.size(); ++day)
            if (words[0] == names.at(day) || (words[0] == "weekday" && day >= 1 && day <= 5))
                days.push_back(day);
        if (days.empty()) {
            holidays_.insert(std::strtol(words[0].c_str(), nullptr, 10));
            return;
        }
        for (const std::size_t day : days)
            if (!load(week_.at(day), false, words[1])) return;
        for (const std::size_t day : days)
            if (!load(week_.at(day), true, words[2])) return;
    }

    static bool load(OldDay& day, bool non_prime, const std::string& word) {
        OldTime& time = non_prime ? day.non_prime : day.prime;
        const unsigned nothing = static_cast<unsigned>(-1);
        if (word.empty()) return false;
        if (word == "all" || word == "ALL") {
            if (!non_prime || !day.prime.all) time = {true, false, nothing, nothing};
            return true;
        }
        if (word == "none" || word == "NONE") {
            if (non_prime && day.prime.none) return load(day, false, "all");
            time = {false, true, nothing, nothing};
            return true;
        }
        char* end = nullptr;
        const long number = std::strtol(word.c_str(), &end, 10);
        if (*end != 0) return false;
        time.hour = static_cast<unsigned>(number / 100);
        time.minute = static_cast<unsigned>(number % 100);
        return true;
    }

    std::array<OldDay, 7> week_{};
    long year_ = 0;
    std::set<long> holidays_;
};

// ---- Holidays files like those of sites.

constexpr const char* kUsDays =
    "    1           Jan 1           New Year's Day\n   19           Jan 19          Martin Luther King\n"
    "  145           May 25          Memorial Day\n  184           Jul 3           Independence Day\n"
    "  250           Sep 7           Labor Day\n  330           Nov 26          Thanksgiving\n"
    "  359           Dec 25          Christmas Day\n";

struct HolidaysFile {
    const char* name;
    std::string text;
};
std::vector<HolidaysFile> files() {
    const std::string weekend = "  saturday  none  all\n  sunday  none  all\n";
    const std::string week = "  weekday 0600 1730\n" + weekend;
    return {
        {"no_file", ""},
        {"as_shipped_without_year", "HOLIDAYFILE_VERSION1\n*\n#YEAR 1998\n" + week + kUsDays},
        {"with_its_year", "HOLIDAYFILE_VERSION1\n*\nYEAR  2026\n" + week + kUsDays},
        {"year_0", "YEAR 0\n" + week + kUsDays},
        {"an_old_year", "YEAR 1998\n" + week + "60 Feb 29\n61 Mar 2\n366 Dec 31\n" + kUsDays},
        {"prime_time_at_night",
         "YEAR 2026\nweekday 2200 0600\nsaturday 2000 0800\nsunday 2300 0500\n6 Jan 6\n"},
        {"a_university",
         "YEAR\t2026\nweekday\t0800\t1800\nfriday\t0800\t1430\nsaturday\t1000\t1400\nsunday\tnone\tall\n"
         "121\tMay 1\tTag der Arbeit\n121\tMay 1\ttwice\n276\tOct 3\n360 Dec 26\n"},
        {"ends_of_lines_of_windows", "YEAR 2026\r\nweekday 0600 1730\r\nsaturday none all\r\n1 Jan 1\r\n"},
        {"year_alone_ends_otherwise",
         "YEAR 2026\nweekday 0600 1730\r\nsaturday none all\r\nsunday none all\n\r\n1 Jan 1\r\n"},
        {"a_day_after_all_days",
         "YEAR 2026\nweekday all none\nfriday 0600 1730\nsaturday 0000 0000\nsunday 0900 0900\n1 Jan 1\n"},
        {"words_taken_back",
         "YEAR 2026\nweekday none all\nmonday 0600 1730\ntuesday all 1730\nwednesday 0600 none\n"
         "thursday none none\nfriday none 0001\nsaturday all all\nsunday none all\nsunday all none\n"},
        {"times_that_are_none",
         "YEAR 2026\nweekday 0600 2500\nmonday 0860 1730\ntuesday 0800 17:00\nwednesday 8am 1700\n"
         "thursday 2400 0000\nfriday -1 1200\nsaturday 0600\nsunday ALL all\nSunday none all\n"},
        {"days_left_out", "YEAR 2026\nmonday 0700 1900\n12x y\n+45 z\nJan 6\n-3 a\n400 b\n0 c\n" +
                              fmt::format("300 {}200 Jul 19\n", std::string(251, '.'))},
        {"a_byte_order_mark", "\xef\xbb\xbfYEAR 2026\nweekday 0600 1730\n" + weekend + "1 Jan 1\n"},
        {"several_years", "YEAR 2026\nYEAR 20x6\nYEAR\nweekday 0900 1700\nYEAR 99999\n2 Jan 2\n"},
    };
}

class PrimeYear : public testing::TestWithParam<std::tuple<HolidaysFile, const char*>> {};

TEST_P(PrimeYear, IsTheSameAtEveryMinute) {
    const auto& [file, zone_name] = GetParam();
    const OldScheduler old(file.text);
    const auto zone = *rrule::Zone::find(zone_name);
    const Folder folder;
    auto store = objects::Store::open(folder.path("policy.db"), {zone_name, {}}, std::chrono::sys_seconds{});
    ASSERT_TRUE(store);
    Legacy legacy{.sched_config =
                      parse_sched_config("primetime_prefix: p_\nnonprimetime_prefix: np_\n", "c")};
    if (!file.text.empty()) legacy.pbs_holidays = parse_pbs_holidays(file.text, "holidays");
    const Surroundings server{.queues = {"np_long", "p_short", "workq"}};
    const auto conversion = convert(legacy, server, store->snapshot().get());
    ASSERT_TRUE(conversion);
    const objects::Identity root{"root", "localhost", objects::manager_privilege};
    const auto applied = store->apply(conversion->changes, root, {});
    ASSERT_TRUE(applied) << applied.error().message;
    const auto again = convert(legacy, server, applied->snapshot.get(), conversion->ledger);
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->changes.commands.empty()) << to_qmgr(*again);

    std::vector<rrule::Window> made;
    for (const objects::Object* object : applied->snapshot->time_windows_of_type("prime"))
        made.push_back(*objects::make_window(*object, zone));
    const rrule::WindowSet prime(made, *rrule::NonWorkDays::parse(applied->snapshot->non_work_days(), zone));
    for (const int year : {2026, 2028}) {
        const auto first = std::chrono::local_days{std::chrono::year{year} / 1 / 1};
        const rrule::Instant from = zone.instant(first);
        std::size_t wrong = 0;
        std::string where;
        // Under the sanitizers try each seventh minute of the second year: so many minutes take long there.
        const int step = PBS_SANITIZED != 0 && year != 2026 ? 7 : 1;
        for (int minute = 0; minute < 366 * 1440; minute += step) {
            const rrule::Instant at = from + std::chrono::minutes{minute};
            if (prime.contains(at) == old.is_prime(zone.local(at))) continue;
            if (wrong++ == 0)
                where = fmt::format("minute {} of {}, prime to {}", minute, year,
                                    prime.contains(at) ? "the objects" : "the older scheduler");
        }
        EXPECT_EQ(wrong, 0U) << "first " << where << "\n" << to_qmgr(*conversion);
    }
}

INSTANTIATE_TEST_SUITE_P(Files, PrimeYear,
                         testing::Combine(testing::ValuesIn(files()),
                                          testing::Values("Europe/Berlin", "America/New_York")),
                         [](const auto& one) {
                             const std::string zone = std::get<1>(one.param);
                             return fmt::format("{}_{}", std::get<0>(one.param).name,
                                                zone.substr(0, zone.find('/')));
                         });

}  // namespace
}  // namespace pbs::migrate::test
