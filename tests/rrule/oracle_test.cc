// Compares rules with their definition (definition.h), day by day, and windows with what a clock shows,
// minute by minute.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <set>

#include "tests/rrule/cases.h"
#include "tests/rrule/definition.h"

namespace pbs::rrule::test {
namespace {

using Days = std::chrono::days;
using std::chrono::minutes;

// ---- rules -------------------------------------------------------------------------------------------

std::string text(const std::vector<Local>& list) {
    std::string out = std::to_string(list.size()) + ":";
    for (std::size_t i = 0; i < list.size() && i < 100; ++i) out += ' ' + test::text(list[i]);
    return out;
}

std::string text(const std::vector<LocalDay>& list) {
    return test::text(list);
}

using test::same;

template <class Time>
testing::AssertionResult same(const std::vector<Time>& found, const std::vector<Time>& expected) {
    if (found == expected) return testing::AssertionSuccess();
    return testing::AssertionFailure() << text(found) << "\nin place of " << text(expected);
}

// Parses the definition's text, and compares the rule's occurrences and days from `from` to `to` with
// `expected`. Sets `out` to the rule. `out` stays empty if the rule is refused, which is right only if
// `expected` is empty.
void read_and_compare(const Definition& definition, Recurrence::Finest finest, LocalDay from, LocalDay to,
                      const std::vector<Local>& expected, std::optional<Recurrence>& out) {
    const auto rule = Recurrence::parse(definition.text(), Zone::utc(), Seconds{0}, finest);
    if (!rule) {
        ASSERT_TRUE(expected.empty()) << definition.text() << ": " << rule.error().message;
        return;
    }
    ASSERT_TRUE(same(rule->occurrences(Local{from}, Local{to}), expected)) << definition.text();
    ASSERT_TRUE(same(rule->days(from, to), days_of(expected))) << definition.text();
    out = *rule;
}

TEST(Oracle, RulesAgreeWithTheirDefinition) {
    Random random(20260101);
    const LocalDay from = day("2018-06-01");
    const LocalDay to = day("2024-06-01");
    int compared = 0;
    for (int i = 0; i < cases(1500); ++i) {
        const Definition definition = random_definition(random);
        const auto expected = definition.occurrences(from, to);
        std::optional<Recurrence> rule;
        ASSERT_NO_FATAL_FAILURE(
            read_and_compare(definition, Recurrence::Finest::hourly, from, to, expected, rule));
        if (!rule) continue;
        compared += expected.empty() ? 0 : 1;
        // asking for one part of the range after the other gives the same occurrences
        std::vector<Local> pieces;
        for (Local at = Local{from}; at < Local{to};) {
            const Local next = std::min(Local{to}, at + Days{pick(random, 1, 700)} + hm(pick(random, 0, 23)));
            for (const Local l : rule->occurrences(at, next)) pieces.push_back(l);
            at = next;
        }
        ASSERT_TRUE(same(pieces, expected)) << definition.text();
    }
    EXPECT_GT(compared, cases(900));
}

// Rules of minutes may occur in each minute of a day. So only the days around a leap day are compared.
TEST(Oracle, MinutesAgreeWithTheirDefinition) {
    Random random(1440);
    const LocalDay from = day("2020-02-15");
    const LocalDay to = day("2020-04-01");
    int compared = 0;
    for (int i = 0; i < cases(300);) {
        Definition definition = random_definition(random, Unit::minute);
        if (definition.unit != Unit::minute) continue;
        ++i;
        if (definition.start)
            definition.start = local("2020-02-10") + Days{pick(random, 0, 20)} + hm(0, pick(random, 0, 1439));
        if (!definition.months.empty()) definition.months = {pick(random, 2, 3)};
        const auto expected = definition.occurrences(from, to);
        std::optional<Recurrence> rule;
        ASSERT_NO_FATAL_FAILURE(
            read_and_compare(definition, Recurrence::Finest::minutely, from, to, expected, rule));
        if (!rule) continue;
        compared += expected.empty() ? 0 : 1;
        const auto most = static_cast<std::size_t>(pick(random, 0, 50));
        const std::vector<Local> first(
            expected.begin(),
            expected.begin() + static_cast<std::ptrdiff_t>(std::min(most, expected.size())));
        ASSERT_TRUE(same(rule->occurrences(Local{from}, Local{to}, most), first)) << definition.text();
    }
    EXPECT_GT(compared, cases(150));
}

TEST(Oracle, CountsEndWithTheirDefinition) {
    Random random(5);
    for (int i = 0; i < 150; ++i) {
        Definition definition = random_definition(random);
        definition.start = local("2019-03-05 08:30") + Days{pick(random, 0, 600)};
        const auto all = definition.occurrences(day("2019-01-01"), day("2026-01-01"));
        const auto count = static_cast<std::size_t>(pick(random, 1, 20));
        if (all.size() < count) continue;
        const auto rule =
            Recurrence::parse(definition.text() + ";COUNT=" + std::to_string(count), Zone::utc());
        ASSERT_TRUE(rule) << definition.text();
        ASSERT_EQ(text(rule->occurrences(local("2018-01-01"), local("2200-01-01"))),
                  text(std::vector<Local>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count))))
            << definition.text();
        ASSERT_EQ(rule->last_day(), std::chrono::floor<Days>(all[count - 1]));
    }
}

// ---- windows, minute by minute -----------------------------------------------------------------------

// A year in a time zone. The C library tells what a clock there shows in each minute of the year.
struct Stretch {
    const char* zone;
    const char* from;  // first day of the year, in UTC
    const char* why;
};

const Stretch kStretches[] = {
    {"UTC", "2023-12-20", "leap year"},
    {"America/Los_Angeles", "2026-01-01", "changes at 02:00"},
    {"America/New_York", "2023-11-01", "leap year, from autumn on"},
    {"Europe/Berlin", "2019-12-28", "leap year, 53 weeks"},
    {"Europe/London", "2027-10-01", "leap day 2028"},
    {"Australia/Lord_Howe", "2023-12-20", "changes by half an hour, southern"},
    {"Asia/Kathmandu", "1985-06-01", "from +05:30 to +05:45"},
    {"Pacific/Chatham", "2023-12-20", "+12:45, southern, changes at 02:45"},
    {"Pacific/Apia", "2011-06-01", "skipped 30 December 2011; summer time began that year"},
    {"Pacific/Kwajalein", "1993-06-01", "skipped 21 August 1993"},
    {"Europe/Moscow", "2010-12-01", "to summer time for ever, 2011"},
    {"Europe/Moscow", "2014-03-01", "back by an hour for ever, 2014"},
    {"America/Sao_Paulo", "2018-10-01", "changes at midnight, abolished in 2019"},
    {"America/St_Johns", "2010-12-01", "-03:30, changes at 00:01"},
    {"America/Caracas", "2015-12-01", "from -04:30 to -04:00"},
    {"Antarctica/Troll", "2024-01-01", "changes by two hours"},
    {"Africa/Casablanca", "2024-01-01", "back for Ramadan"},
    {"Asia/Tehran", "2022-01-01", "changes at midnight, abolished in 2022"},
    {"America/Santiago", "2024-01-01", "southern, changes at 24:00"},
    {"Asia/Kolkata", "2024-01-01", "+05:30 always"},
};

constexpr int kYearMinutes = 370 * 1440;

// Returns the time that a clock shows at an instant, by the C library.
Local shown_at(Instant t) {
    const std::time_t at = t.time_since_epoch().count();
    std::tm shown{};
    localtime_r(&at, &shown);
    const std::chrono::year_month_day ymd{std::chrono::year{shown.tm_year + 1900},
                                          std::chrono::month{static_cast<unsigned>(shown.tm_mon + 1)},
                                          std::chrono::day{static_cast<unsigned>(shown.tm_mday)}};
    return Local{LocalDay{ymd}} + hm(shown.tm_hour, shown.tm_min);
}

// For each minute, the latest time that the clock has shown so far. It matters after the clock was set back,
// as the clock then shows some times twice.
struct Clock {
    Instant from;
    LocalDay first_day;
    std::vector<std::uint32_t> highest;  // latest time shown, in minutes since the beginning of first_day

    explicit Clock(const Stretch& stretch) : from(utc(stretch.from)) {
        setenv("TZ", stretch.zone, 1);
        tzset();
        first_day = LocalDay{std::chrono::floor<Days>(from).time_since_epoch()} - Days{8};
        // If a clock moves on by 15 minutes in a quarter of an hour, it wasn't set in this quarter. Only in
        // other quarters is each minute looked up.
        constexpr minutes kQuarter{15};
        Local best = Local::min();
        Local now = shown_at(from - Days{3});
        for (Instant t = from - Days{3}; t < from + minutes{kYearMinutes}; t += kQuarter) {
            const Local next = shown_at(t + kQuarter);
            for (minutes m{0}; m < kQuarter; ++m) {
                best = std::max(best, next - now == kQuarter ? now + m : shown_at(t + m));
                if (t >= from)
                    highest.push_back(static_cast<std::uint32_t>((best - Local{first_day}) / minutes{1}));
            }
            now = next;
        }
        unsetenv("TZ");
        tzset();
    }
};

struct WindowCase {
    Definition rule;
    int start = 0, end = 0;  // minutes of the day
    bool on_holidays = true;
    bool only_on_holidays = false;
};

WindowCase random_window(Random& random) {
    WindowCase w;
    const auto one_in = [&](int n) { return pick(random, 1, n) == 1; };
    w.rule = random_definition(random);
    if (one_in(2)) {  // choose a rule that occurs often
        w.rule = {};
        w.rule.unit = one_in(2) ? Unit::day : Unit::week;
        w.rule.interval = pick(random, 1, 3);
        for (unsigned i = 0; i < 7; ++i)
            if (one_in(2)) w.rule.week_days.emplace_back(0, i);
    }
    // clocks are often changed between 0:00 and 5:00, so choose times in these hours more often
    w.start = one_in(2) ? pick(random, 0, 300) : pick(random, 0, 1439);
    w.end = one_in(2) ? pick(random, 0, 300) : pick(random, 0, 1440);
    if (one_in(6)) w.start = 0;
    if (one_in(6)) w.end = 1440;
    w.on_holidays = one_in(2);
    w.only_on_holidays = w.on_holidays && one_in(4);
    w.rule.at = hm(0, w.start);
    return w;
}

constexpr int kDays = 400;
using Minutes = std::vector<char>;  // an element for each minute; 1: the window is open

// Marks in `readings` the times of the clock, in minutes since first_day, at which the window is open: from
// its start, on each day of the window, to its end.
void mark(const WindowCase& w, const Clock& clock, const std::set<LocalDay>& holidays, Minutes& readings) {
    const int end = w.end > w.start ? w.end : w.end + 1440;
    for (const LocalDay d : days_of(w.rule.occurrences(clock.first_day, clock.first_day + Days{kDays}))) {
        if (!w.on_holidays && holidays.count(d) != 0) continue;
        if (w.only_on_holidays && holidays.count(d) == 0) continue;
        const auto midnight = readings.begin() + (d - clock.first_day).count() * 1440;
        std::fill(midnight + w.start, midnight + end, '\1');
    }
}

// Converts the times of the clock at which a window is open to minutes of real time.
Minutes open_minutes(const Clock& clock, const Minutes& readings) {
    Minutes open;
    open.reserve(clock.highest.size());
    for (const std::uint32_t reading : clock.highest) open.push_back(readings[reading]);
    return open;
}

std::vector<Interval> parts_of(const Minutes& open, Instant from) {
    std::vector<Interval> out;
    const char* const begin = open.data();
    const char* const end = begin + open.size();
    // returns the first element from `at` on that equals `so`
    const auto next = [&](const char* at, bool so) {
        const void* found =
            at == end ? nullptr : std::memchr(at, so ? 1 : 0, static_cast<std::size_t>(end - at));
        return found == nullptr ? end : static_cast<const char*>(found);
    };
    for (const char* at = next(begin, true); at != end; at = next(at, true)) {
        const Instant start = from + minutes{at - begin};
        at = next(at, false);
        out.push_back({start, from + minutes{at - begin}});
    }
    return out;
}

// Asks a set every question, at random instants and around each change. Compares the answers with `parts`,
// the intervals between `from` and `to` in which the set must be open.
class Questions {
  public:
    Questions(const WindowSet& set, const std::vector<Interval>& parts, Instant from, Instant to)
        : set_(set), parts_(parts), from_(from), to_(to) {}

    void ask_all(Random& random) const {
        ASSERT_EQ(set_.intervals(from_, to_), parts_);
        for (std::size_t i = 0; i < parts_.size(); i += 1 + parts_.size() / 40) {
            ask(parts_[i].start);
            ask(parts_[i].start - Seconds{1});
            ask(parts_[i].end);
            ask(parts_[i].end - Seconds{1});
        }
        for (int i = 0; i < 20; ++i) {
            const Instant a = from_ + Seconds{pick(random, 0, kYearMinutes * 60 - 1)};
            const Instant b = from_ + Seconds{pick(random, 0, kYearMinutes * 60 - 1)};
            ask(a);
            ASSERT_EQ(set_.intervals(a, b), within(a, b)) << test::text(a) << ' ' << test::text(b);
            ASSERT_EQ(set_.intervals(a, std::min(to_, a + Days{7})), within(a, std::min(to_, a + Days{7})));
        }
    }

  private:
    std::vector<Interval> within(Instant a, Instant b) const {
        std::vector<Interval> out;
        for (const Interval& part : parts_)
            if (const Interval cut{std::max(part.start, a), std::min(part.end, b)}; cut.start < cut.end)
                out.push_back(cut);
        return out;
    }

    // The first interval that ends after t determines the right answers. Answers that depend on the time
    // after `to` aren't compared.
    void ask(Instant t) const {
        if (t < from_ || t >= to_) return;
        const auto part =
            std::find_if(parts_.begin(), parts_.end(), [&](const Interval& p) { return p.end > t; });
        const bool inside = part != parts_.end() && part->start <= t;
        ASSERT_EQ(set_.contains(t), inside) << test::text(t);
        const auto change = set_.next_change(t);
        const Instant expected = part == parts_.end() ? to_ : inside ? part->end : part->start;
        if (expected < to_) {
            ASSERT_TRUE(same(change, expected)) << test::text(t);
        } else {
            ASSERT_GE(change.value_or(to_), to_) << test::text(t);
        }
        const auto found = set_.at_or_after(t);
        if (part == parts_.end()) {
            ASSERT_GE(found ? found->start : to_, to_) << test::text(t);
            return;
        }
        ASSERT_TRUE(found) << test::text(t);
        if (part->start > from_) {
            ASSERT_TRUE(same(found->start, part->start));
        } else {
            ASSERT_LE(found->start, from_);
        }
        if (part->end < to_) {
            ASSERT_TRUE(same(found->end, part->end));
        } else {
            ASSERT_GE(found->end, to_);
        }
    }

    const WindowSet& set_;
    const std::vector<Interval>& parts_;
    Instant from_;
    Instant to_;
};

// A union of up to three random windows, and its open minutes, computed by brute force.
struct Case {
    std::string text;
    WindowSet set;
    Minutes open;
};

// Returns a random case. The day `holiday` of each month is a non-work day.
Case random_case(Random& random, const Clock& clock, const Zone& z, int holiday) {
    Case out;
    const std::vector<std::string> entries{"FREQ=MONTHLY;BYMONTHDAY=" + std::to_string(holiday)};
    std::set<LocalDay> holidays;
    for (LocalDay d = clock.first_day; d < clock.first_day + Days{kDays}; d += Days{1})
        if (std::chrono::year_month_day{d}.day() == std::chrono::day{static_cast<unsigned>(holiday)})
            holidays.insert(d);
    Minutes readings((kDays + 2) * 1440);
    std::vector<Window> windows;
    const int count = pick(random, 1, 3) == 1 ? pick(random, 2, 3) : 1;
    while (static_cast<int>(windows.size()) < count) {
        WindowCase w = random_window(random);
        if (w.rule.start) *w.rule.start += std::chrono::floor<Days>(clock.from - utc("2020-01-01"));
        auto made =
            Window::make({w.rule.text(), hm(0, w.start), hm(0, w.end), w.on_holidays, w.only_on_holidays}, z);
        if (!made) continue;  // the rule never occurs
        mark(w, clock, holidays, readings);
        out.text += w.rule.text() + ' ' + std::to_string(w.start) + '-' + std::to_string(w.end) +
                    (w.on_holidays ? w.only_on_holidays ? " only on holidays " : "" : " not on holidays ") +
                    " | ";
        windows.push_back(*made);
    }
    out.open = open_minutes(clock, readings);
    out.set = WindowSet(std::move(windows), *NonWorkDays::parse(entries, z));
    return out;
}

// Returns the first instant from `from` on at which a window of each set is open. Both sets have the same
// holidays.
std::optional<Instant> first_overlap_of(const WindowSet& a, const WindowSet& b, Instant from) {
    std::optional<Instant> first;
    for (const Window& x : a.windows())
        for (const Window& y : b.windows())
            if (const auto at = first_overlap(x, y, from, a.holidays()); at && (!first || *at < *first))
                first = at;
    return first;
}

// Returns the first minute in which the windows of both cases are open.
std::optional<Instant> first_common(const Case& a, const Case& b, Instant from) {
    for (std::size_t i = 0; i < a.open.size(); ++i)
        if (a.open[i] != 0 && b.open[i] != 0) return from + minutes{i};
    return std::nullopt;
}

void compare_overlap(const std::optional<Instant>& found, const std::optional<Instant>& expected,
                     Instant to) {
    if (expected) {
        ASSERT_TRUE(same(found, expected));
    } else {
        ASSERT_GE(found.value_or(to), to);
    }
}

TEST(Oracle, WindowsAgreeMinuteByMinute) {
    Random random(7);
    int asked = 0;
    for (const Stretch& stretch : kStretches) {
        const Zone z = zone(stretch.zone);
        const Clock clock(stretch);
        const Instant to = clock.from + minutes{kYearMinutes};
        std::optional<Case> last;
        int holiday = 1;
        for (int i = 0; i < cases(101); ++i) {
            if (i % 10 == 1) holiday = pick(random, 1, 28);
            const Case now = random_case(random, clock, z, holiday);
            SCOPED_TRACE(std::string(stretch.zone) + ' ' + stretch.from + ' ' + now.text);
            const auto parts = parts_of(now.open, clock.from);
            Questions(now.set, parts, clock.from, to).ask_all(random);
            if (HasFatalFailure()) return;
            ++asked;
            if (last && i % 10 != 1) {
                SCOPED_TRACE("and " + last->text);
                compare_overlap(first_overlap_of(now.set, last->set, clock.from),
                                first_common(now, *last, clock.from), to);
                if (HasFatalFailure()) return;
            }
            last = now;
        }
    }
    EXPECT_GE(asked, cases(2000));
}

// A union of windows in two time zones: each window is open by the clock of its own zone.
TEST(Oracle, UnionsAcrossZonesAgreeMinuteByMinute) {
    Random random(21);
    const Stretch here{"Europe/Berlin", "2026-01-01", ""};
    const Stretch there{"Australia/Lord_Howe", "2026-01-01", ""};
    const Clock clock_here(here);
    const Clock clock_there(there);
    const Instant to = clock_here.from + minutes{kYearMinutes};
    for (int i = 0; i < 30; ++i) {
        const int holiday = pick(random, 1, 28);
        const Case a = random_case(random, clock_here, zone(here.zone), holiday);
        const Case b = random_case(random, clock_there, zone(there.zone), holiday);
        SCOPED_TRACE(a.text + b.text);
        std::vector<Window> windows;
        for (const Window& w : a.set.windows()) windows.push_back(w);
        for (const Window& w : b.set.windows()) windows.push_back(w);
        Minutes open = a.open;
        for (std::size_t m = 0; m < open.size(); ++m) open[m] = std::max(open[m], b.open[m]);
        const WindowSet both(std::move(windows), b.set.holidays());
        Questions(both, parts_of(open, clock_here.from), clock_here.from, to).ask_all(random);
        compare_overlap(first_overlap_of(a.set, b.set, clock_here.from), first_common(a, b, clock_here.from),
                        to);
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace pbs::rrule::test
