// Gives every parser odd texts. The result must be the same as for a clean text, or an error that names the
// place.
#include <fmt/format.h>

#include <algorithm>

#include "migrate/convert.h"
#include "migrate/legacy.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::HasSubstr;

struct Format {
    std::string kind;                 // name of the kind of file in legacy_kinds()
    LegacyTexts beside;               // other files that the parser needs
    std::string text;                 // a clean text of several lines, with words separated by blanks only
    std::string comment;              // a comment line; empty: the format has none
    std::string mistakes;             // two wrong lines, the first with bytes outside ASCII
    std::vector<std::string> places;  // places that the errors about these two lines name, such as "2:1: "
    std::string twice;                // the clean text, in which a value is given a second time
    std::string told;                 // text about the second value in the report or error
};

LegacyText named(const std::string& name, std::string text) {
    return {name, std::move(text)};
}

std::vector<Format> formats() {
    const LegacyTexts pbs{.sched_config = named("sched_config", "by_queue: True\n")};
    const LegacyTexts tree{.sched_config = named("sched_config", "fair_share: True\n"),
                           .resource_group = named("resource_group", "g 1 root 1\n")};
    const LegacyTexts origin{.config = named("config", "SUBMIT_QUEUE s\nBATCH_QUEUES b\n")};
    return {
        {"config",
         {},
         "SUBMIT_QUEUE submit\nBATCH_QUEUES small,large\nMAX_JOBS 3\n",
         "# caf\xc3\xa9 \xff",
         "MAX_JOBS thr\xc3\xa9\nMIN_JOBS few\n",
         {"1:10: MAX_JOBS: ", "2:10: MIN_JOBS: "},
         "BATCH_QUEUES huge\nMAX_JOBS 4\n",
         "batch_queues = small,large,huge\n"},
        {"config",
         {},
         "SUBMIT_QUEUE submit\nBATCH_QUEUES small,large\nMAX_JOBS 3\n",
         "  # indented",
         "MAX\xc3\xa9 3\nMIN_JOBS few\n",
         {"1:1: ", "2:10: MIN_JOBS: "},
         "MAX_JOBS 4\n",
         "max_jobs = 4\n"},
        {"sched_config",
         {},
         "by_queue: True prime\nby_queue: False non_prime\njob_sort_key: \"ncpus HIGH\"\nmax_starve "
         "1:00:00\n",
         "  * caf\xc3\xa9 \xff",
         "max_starve: \xc3\xa9\nby_queue: perhaps\n",
         {"1:13: max_starve: ", "2:11: by_queue: "},
         "max_starve: 2:00:00\njob_sort_key: \"mem LOW\"\n",
         "job_sort_key = ncpus HIGH,mem LOW\n"},
        {"holidays",
         pbs,
         "YEAR 2026\nweekday 0600 1730\nsaturday none all\n1 Jan 1 New Year\n",
         "# caf\xc3\xa9 \xff",
         "frid\xc3\xa9y 0600 1730\nmonday 6am 1730\n",
         {"1:1: ", "2:8: monday: "},
         "weekday 0700 1730\n",
         "time_window prime_time start_time = 07:00:00\n"},
        {"holidays",
         origin,
         "YEAR 2026\n1 Jan 1 New Year\n359 Dec 25 Christmas\n",
         "* caf\xc3\xa9 \xff",
         "\xc3\xa9 1\n366 Dec 32\n",
         {"1:1: ", "2:1: "},
         "1 Jan 1 Again\n",
         "server non_work_days = FREQ=YEARLY;BYYEARDAY=1 SUMMARY:New Year\n"},
        {"dedicated_time",
         pbs,
         "04/15/2027 12:00 04/15/2027 15:30\n05/15/2027 12:00 05/16/2027 15:30\n",
         "# caf\xc3\xa9 \xff",
         "04/15/2027 12:00 04/15/2027 15:\xc3\xa9\n13/15/2027 12:00 04/15/2027 15:30\n",
         {"1:29: ", "2:1: "},
         "04/15/2027 12:00 04/15/2027 15:30\n",
         "RDATE;VALUE=DATE:20270415\n"},
        {"resource_group",
         pbs,
         "grp1 50 root 10\nalice 60 grp1 5\nbob 61 grp1 5\n",
         "# caf\xc3\xa9 \xff",
         "\xc3\xa9 50 root 10\nalice 60 nobody 5\n",
         {"1:1: ", "2:10: alice: "},
         "alice 60 grp1 7\n",
         "4:1: alice: is in line 2 already, expected each name once"},
        {"qmgr_print",
         pbs,
         "create queue p_fast\nset queue p_fast queue_type = Execution\nset server backfill_depth = 3\n",
         "# caf\xc3\xa9 \xff",
         "crate queue caf\xc3\xa9\nset server backfill_depth = deep\n",
         {"1:1: ", "2: backfill_depth: "},
         "set server backfill_depth = 4\n",
         "backfill_depth = 4\n"},
        {"usage",
         tree,
         "alice : Grp: 0 cgrp: 60 Shares: 10 Usage: 30 Perc: 50.000%\n"
         "bob : Grp: 0 cgrp: 61 Shares: 10 Usage: 1 Perc: 50.000%\n",
         "",
         "alic\xc3\xa9 : Grp: 0 cgrp: 60 Shares: 10 Usage: 30 Perc: 50.000%\n"
         "bob : Grp: 0 cgrp: 61 Shares: 10 Usage: much Perc: 50.000%\n",
         {"1:1: ", "2:41: bob: "},
         "alice : Grp: 0 cgrp: 60 Shares: 10 Usage: 31 Perc: 50.000%\n",
         "3:1: alice: is there twice, first as number 1"},
        {"decay_usage",
         origin,
         "Sat\ng1:alice 12.5\ng2:bob 0.25\n",
         "",
         "g1:alice \xc3\xa9\nbob 1\n",
         {"1:10: g1:alice: ", "2:1: "},
         "g1:alice 13\n",
         "4: g1:alice is in line 2 already, which doesn't count"},
        {"allocations",
         origin,
         "P= Big = g1 = 100.0\nP= Bigger = g2 = -1.0\n",
         "# caf\xc3\xa9 \xff",
         "P= Big = g1 = \xc3\xa9\nP= Big\n",
         {"1:15: g1: ", "2:1: "},
         "P= Big = g1 = 50.0\n",
         "3: g1 is in line 1 already, which doesn't count"},
        {"current",
         origin,
         "alice g1 3 12.5\nbob g2 1 1.5\n",
         "# caf\xc3\xa9 \xff",
         "alice g1 3 \xc3\xa9\nbob g2 one 1.5\n",
         {"1:12: ", "2:8: "},
         "alice g1 1 1\n",
         "3 records of 2 groups"},
    };
}

// Returns all results of a text: commands, report and usage, or the problems. With `strict`, a mistake is a
// problem and not a note.
std::string outcome(const Format& format, const std::string& text, bool strict = false) {
    const auto kinds = legacy_kinds();
    const auto kind = std::ranges::find(kinds, format.kind, &LegacyKind::name);
    LegacyTexts texts = format.beside;
    texts.*kind->text = named("file", text);
    std::string out;
    const auto tell = [&](const Problems& problems) {
        for (const Problem& problem : problems) out += to_text(problem) + "\n";
        return out;
    };
    const auto legacy = parse(texts, strict);
    if (!legacy) return tell(legacy.error());
    const auto conversion = convert(*legacy, {}, nullptr);
    if (!conversion) return tell(conversion.error());
    out = to_qmgr(*conversion) + to_text(conversion->report);
    for (const auto& [scope, batch] : conversion->usage)
        for (const objects::Usage& usage : batch.usage)
            out += fmt::format("{} {} {} {}\n", scope, usage.user, usage.group, usage.amount);
    return out;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
        text.replace(at, what.size(), with);
    return text;
}

TEST(AnyInput, MeansTheSame) {
    const std::string blanks(100'000, ' ');
    for (const Format& format : formats()) {
        SCOPED_TRACE(format.kind + ": " + format.text);
        const std::string clean = outcome(format, format.text);
        EXPECT_THAT(clean, testing::Not(HasSubstr("expected")));
        const std::string& text = format.text;
        // skip DOS lines in a holidays file, as pbs_sched can't read its year then (prime_year_test.cc)
        const bool any_lines = text.find("weekday") == text.npos;
        if (any_lines) EXPECT_EQ(outcome(format, replaced(text, "\n", "\r\n")), clean) << "lines of DOS";
        EXPECT_EQ(outcome(format, text.substr(0, text.size() - 1)), clean) << "no newline at the end";
        EXPECT_EQ(outcome(format, replaced(text, " ", "\t")), clean) << "tabs";
        EXPECT_EQ(outcome(format, replaced(text, "\n", " \t\v\f\n")), clean) << "blanks at the end of lines";
        if (any_lines) EXPECT_EQ(outcome(format, "\xef\xbb\xbf" + text), clean) << "a byte order mark";
        EXPECT_EQ(outcome(format, text + "\n\n \n"), clean) << "empty lines";
        EXPECT_EQ(outcome(format, replaced(text, "\n", blanks + "\n")), clean) << "very long lines";
        if (format.comment.empty()) continue;
        EXPECT_EQ(outcome(format, text + format.comment + "\n"), clean) << "bytes that aren't ASCII";
        EXPECT_EQ(outcome(format, text + format.comment + blanks), clean) << "a long comment";
    }
}

TEST(AnyInput, EveryMistakeIsToldWithItsPlace) {
    for (const Format& format : formats()) {
        SCOPED_TRACE(format.kind + ": " + format.mistakes);
        const std::string found = outcome(format, format.mistakes, true);
        for (const std::string& place : format.places) EXPECT_THAT(found, HasSubstr("file:" + place));
        EXPECT_TRUE(std::ranges::all_of(found, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }))
            << found << ": an error is printable";
        const std::string more = outcome(format, replaced(format.mistakes, "\n", "\r\n"), true);
        for (const std::string& place : format.places) EXPECT_THAT(more, HasSubstr("file:" + place));
        const std::string endless = outcome(format, std::string(1'000'000, 'x'), true);
        EXPECT_THAT(endless, HasSubstr("file:1"));
        EXPECT_LT(endless.size(), 1000U) << "an error quotes the beginning only";
        const std::string without = outcome(format, format.mistakes);
        for (const std::string& place : format.places) EXPECT_THAT(without, HasSubstr("file:" + place));
    }
}

TEST(AnyInput, WhatIsSetTwice) {
    for (const Format& format : formats()) {
        SCOPED_TRACE(format.kind + ": " + format.twice);
        EXPECT_THAT(outcome(format, format.text + format.twice), HasSubstr(format.told));
    }
}

TEST(AnyInput, NulsAreNoCrash) {
    using namespace std::string_literals;
    for (const Format& format : formats())
        EXPECT_FALSE(outcome(format, "\0\0\0"s + format.text + "\0"s).empty()) << format.kind;
}

}  // namespace
}  // namespace pbs::migrate::test
