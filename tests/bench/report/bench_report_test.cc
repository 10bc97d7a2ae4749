// Tests bench_report with the real benchmarks, and with builds whose programs are scripts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include "tests/bench/report/document.h"
#include "tests/bench/report/figures.h"
#include "tests/bench/report/measure.h"
#include "tests/bench/report/tables.h"
#include "tests/e2e/harness.h"
#include "tests/file_text.h"
#include "values/temporary_folder.h"

namespace pbs::bench {
namespace {
namespace fs = std::filesystem;
using e2e::Output;
using test::file_text;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// ---- Figures ----

TEST(BenchReportFigures, NumbersHaveSignificantDigitsAndCommas) {
    EXPECT_EQ(number_text(0.01234, 2), "0.012");
    EXPECT_EQ(number_text(4.96, 2), "5.0");
    EXPECT_EQ(number_text(9.96, 2), "10");
    EXPECT_EQ(number_text(99.6, 2), "100");
    EXPECT_EQ(number_text(1384, 2), "1,400");
    EXPECT_EQ(number_text(1234567, 3), "1,230,000");
    EXPECT_EQ(number_text(123456, 3), "123,000");
    EXPECT_EQ(number_text(-123456, 3), "-123,000");
    EXPECT_EQ(number_text(0, 3), "0");
}

TEST(BenchReportFigures, AFigureIsTheMedianOrARange) {
    const Print print{.scale = 1e3, .digits = 2, .format = "{} ms"};
    EXPECT_EQ(figure_text(summary_of({0.011, 0.010, 0.012}), print), "11 ms");
    EXPECT_EQ(figure_text(summary_of({0.030, 0.010, 0.012}), print), "10 to 30 ms");
    EXPECT_EQ(figure_text(summary_of({0.010}), print), "10 ms");
}

TEST(BenchReportFigures, DifferencesCountWhenTheyAreLargerThanTheQuartiles) {
    const Runs one = summary_of({1, 2, 3, 4, 5});
    EXPECT_DOUBLE_EQ(one.median, 3);
    EXPECT_DOUBLE_EQ(one.least, 1);
    EXPECT_DOUBLE_EQ(one.most, 5);
    EXPECT_DOUBLE_EQ(one.quartiles, 2);
    EXPECT_DOUBLE_EQ(one.spread(), 2.0 / 3);
    EXPECT_TRUE(differ(one, summary_of({5.1, 5.1, 5.1}), 5));
    EXPECT_FALSE(differ(one, summary_of({5, 5, 5}), 5));
    EXPECT_FALSE(differ(one, summary_of({1, 6, 11, 6, 11}), 5));
    EXPECT_FALSE(differ(summary_of({1}), summary_of({9}), 1));
}

// ---- Documents ----

constexpr const char* kDocument =
    "# Title\n\nSome words.\n\n<!-- table: one -->\n| | a | b |\n|---|---|---|\n| [first](#x) | 1 ms | |\n"
    "| second | 2 ms | 3 ms |\n<!-- end -->\n\nMore words.\n\n| | a |\n|---|---|\n| other | 1 |\n";

TEST(BenchReportDocument, CellsAreReplacedAndAllElseStays) {
    auto document = Document::parse(kDocument);
    ASSERT_TRUE(document) << document.error();
    ASSERT_EQ(document->tables().size(), 2u);
    EXPECT_EQ(document->tables()[1].before, "More words.\n");
    EXPECT_EQ(document->text(), kDocument);
    document->set("one", "first", 1, "7 ms");
    EXPECT_EQ(document->text(),
              std::regex_replace(std::string(kDocument), std::regex("1 ms \\| \\|"), "1 ms | 7 ms |"));
}

std::string error_of(const std::string& text) {
    const auto document = Document::parse(text);
    return document ? "" : document.error();
}

TEST(BenchReportDocument, ErrorsNameTheLine) {
    const std::string table = "| | a |\n|---|---|\n| x | 1 |\n";
    EXPECT_EQ(error_of("<!-- table: one -->\n" + table), "line 1: the table one has no <!-- end -->");
    EXPECT_EQ(error_of("<!-- end -->\n"), "line 1: <!-- end --> without a table's marker");
    EXPECT_EQ(error_of("<!-- table: one -->\n<!-- end -->\n"), "line 2: no table behind the marker one");
    EXPECT_EQ(error_of("<!-- table: one -->\n" + table + "\n" + table + "<!-- end -->\n"),
              "line 8: two tables behind the marker one");
    EXPECT_EQ(error_of("| | a |\n| x | 1 |\n"), "line 2: a line |---| is missing behind the head of a table");
    EXPECT_EQ(error_of("|\n|---|\n"), "line 1: the head of a table has no cells");
    EXPECT_EQ(error_of("| | a |\n|---|---|\n| x |\n"), "line 3: 1 cells, but the table has 2");
    EXPECT_EQ(error_of("<!-- table: one -->\n" + table + "| x | 2 |\n<!-- end -->\n"),
              "line 5: a second row x in the table one");
}

// ---- The program, with builds whose benchmarks are scripts ----

constexpr const char* kOnly = "timeline_bench MakeProfile/1000$";

class BenchReport : public ::testing::Test {
  protected:
    void SetUp() override {
        auto made = values::TemporaryFolder::make("bench_report_test");
        ASSERT_TRUE(made) << made.error();
        folder_.emplace(std::move(*made));
        document_ = folder_->file("benchmarks.md");
        fs::copy_file(PBS_SOURCE_DIR "/docs/benchmarks.md", document_);
    }

    static Output report(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), PBS_BUILD_DIR "/tests/bin/bench_report");
        return e2e::run(arguments, {.timeout = std::chrono::seconds(60)});
    }
    // Makes a build that was configured in this folder.
    std::string build(const std::string& name) {
        const std::string path = folder_->file(name);
        fs::create_directories(path + "/tests/bin");
        std::ofstream(path + "/CMakeCache.txt") << "CMAKE_CACHEFILE_DIR:INTERNAL=" << path << "\n";
        return path;
    }
    // Makes a build with a timeline_bench that runs these commands of the shell. $out is the file for the
    // results.
    std::string build(const std::string& name, const std::string& commands) {
        const std::string path = build(name);
        program(path, "timeline_bench", commands);
        return path;
    }
    static void program(const std::string& build, const std::string& name, const std::string& commands) {
        const std::string path = build + "/tests/bin/" + name;
        std::ofstream(path) << "#!/bin/sh\nfor a; do case $a in --benchmark_out=*) out=${a#*=};; esac; done\n"
                            << commands << "\n";
        chmod(path.c_str(), 0755);
    }
    // The commands of a benchmark that takes so many microseconds.
    static std::string takes(const std::string& microseconds, const std::string& more = "") {
        return R"(echo '{"benchmarks": [{"name": "MakeProfile/1000", "time_unit": "us", "cpu_time": )" +
               microseconds + more + "}]}' >$out";
    }

    std::optional<values::TemporaryFolder> folder_;
    std::string document_;
};

TEST_F(BenchReport, WritesTheSelectedCellsAndNothingElse) {
    const std::string before = file_text(document_);
    const Output done =
        report({"--write", document_, "--only", kOnly, "--build", build("a", takes("123.4"))});
    EXPECT_EQ(done.exit, 0) << done.err;
    EXPECT_THAT(
        done.out,
        HasSubstr("1 of 1: profiles, MakeProfile, timeline_bench MakeProfile/1000, cpu_time: 120 us"));
    const std::regex old_cell(R"((\| MakeProfile \| [^|]*\| )[^|]*( \|))");
    EXPECT_EQ(file_text(document_), std::regex_replace(before, old_cell, "$01120 us$2"));
    EXPECT_NE(file_text(document_), before);
    EXPECT_FALSE(fs::exists(document_ + ".new"));
}

TEST_F(BenchReport, WritesAFigureWhereverItIsStated) {
    const std::string path = build("a");
    program(
        path, "objects_bench",
        R"(echo '{"benchmarks": [{"name": "directives/create/real_time", "items_per_second": 7654}]}' >$out)");
    for (const char* only : {"create by qmgr", "creating objects by qmgr"}) {
        fs::copy_file(PBS_SOURCE_DIR "/docs/benchmarks.md", document_, fs::copy_options::overwrite_existing);
        const Output done = report({"--write", document_, "--only", only, "--build", path});
        EXPECT_EQ(done.exit, 0) << done.err;
        EXPECT_THAT(done.out, AllOf(HasSubstr("1 of 1: summary"), HasSubstr("1 of 1: objects-rates")));
        EXPECT_THAT(file_text(document_),
                    AllOf(HasSubstr("#objects-requests-of-a-running-server) | 7,650/s | OpenPBS"),
                          HasSubstr("| create by qmgr | 7,650/s | |")));
    }
}

// Its benchmarks run as often as the other tables say.
TEST(BenchReportTables, TheSummaryStatesFiguresOfOtherTables) {
    const std::vector<Table>& tables = all_tables();
    ASSERT_EQ(tables.front().name, "summary");
    const auto stated = [&](const Cell& cell) {
        for (auto table = tables.begin() + 1; table != tables.end(); ++table)
            for (const Row& row : table->rows)
                for (const Cell& one : row.cells)
                    if (one.benchmark == cell.benchmark && one.value == cell.value) return true;
        return false;
    };
    for (const Row& row : tables.front().rows)
        for (const Cell& cell : row.cells) EXPECT_TRUE(!cell.measured() || stated(cell)) << row.label;
}

TEST_F(BenchReport, ListsAsManyRunsWhereverAFigureIsStated) {
    const Output done =
        report({"--list", "--only", "openpbs_bench cycle/inside/jobs:10000|FullCycle/1000000"});
    EXPECT_EQ(done.exit, 0) << done.err;
    EXPECT_THAT(done.out,
                AllOf(HasSubstr("summary, a cycle over 1,000,000 new jobs, cycle_bench FullCycle/1000000, "
                                "real_time, as \"{} s\", 3 runs\n"),
                      HasSubstr("summary, starts of 2,000 of 10,000 jobs in an OpenPBS server, openpbs_bench "
                                "cycle/inside/jobs:10000, last_start_s, as \"{} s\", 1 run\n")));
}

TEST_F(BenchReport, ComparesTwoBuildsInTurn) {
    const std::string order = folder_->file("order");
    const std::string one = build("a", "printf A >>" + order + "\n" + takes("10"));
    const std::string other = build("b", "printf B >>" + order + "\n" + takes("20"));
    const Output done = report({"--compare", one, other, "--only", kOnly});
    EXPECT_EQ(done.exit, 0) << done.err;
    EXPECT_EQ(file_text(order), "ABBAABBAAB");
    EXPECT_TRUE(std::regex_search(
        done.out,
        std::regex(
            R"(\nprofiles +MakeProfile/1000, cpu_time +10\.0 us +20\.0 us +2\.00 +10\.0 us +20\.0 us +0 % +0 % \*\n)")))
        << done.out;
    const Output same = report({"--compare", one, one, "--only", kOnly, "--rounds", "1"});
    EXPECT_EQ(same.exit, 0) << same.err;
    EXPECT_THAT(same.out, Not(HasSubstr("0 % *\n")));
}

TEST_F(BenchReport, SaysWhyThereIsNoFigure) {
    const std::string before = file_text(document_);
    const auto refusal = [&](const std::string& of) {
        const Output done = report({"--write", document_, "--only", kOnly, "--build", of});
        EXPECT_EQ(done.exit, 2);
        return done.err;
    };
    const std::string empty = build("empty");
    EXPECT_EQ(refusal(empty),
              "bench_report: " + empty + "/tests/bin/timeline_bench: No such file or directory\n");
    EXPECT_EQ(refusal(build("fails", "echo no room >&2; exit 3")),
              "bench_report: timeline_bench MakeProfile/1000: exit status 3:\nno room\n");
    EXPECT_EQ(refusal(build("killed", "kill -9 $$")),
              "bench_report: timeline_bench MakeProfile/1000: ended by signal 9\n");
    EXPECT_EQ(refusal(build("silent", "true")),
              "bench_report: timeline_bench MakeProfile/1000: its results can't be read\n");
    EXPECT_EQ(refusal(build("cut", "echo '{\"benchmarks\": [' >$out")),
              "bench_report: timeline_bench MakeProfile/1000: its results can't be read\n");
    EXPECT_EQ(refusal(build("other", "echo '{\"benchmarks\": [{\"name\": \"Other\"}]}' >$out")),
              "bench_report: timeline_bench has no benchmark MakeProfile/1000\n");
    EXPECT_EQ(refusal(build("skips", takes("1", R"(, "error_occurred": true, "error_message": "no disk")"))),
              "bench_report: timeline_bench MakeProfile/1000: no disk\n");
    EXPECT_EQ(refusal(build("blank", "echo '{\"benchmarks\": [{\"name\": \"MakeProfile/1000\"}]}' >$out")),
              "bench_report: profiles, MakeProfile, timeline_bench MakeProfile/1000: there is no counter "
              "cpu_time\n");
    EXPECT_EQ(file_text(document_), before);
}

TEST_F(BenchReport, RefusesWhatIsNotThere) {
    const auto refusal = [&](const std::vector<std::string>& arguments) {
        const Output done = report(arguments);
        EXPECT_EQ(done.exit, 2);
        return done.err;
    };
    EXPECT_EQ(refusal({"--list", "--only", "NoSuchBenchmark"}),
              "bench_report: --only NoSuchBenchmark selects nothing\n");
    EXPECT_THAT(refusal({"--list", "--only", "("}), HasSubstr("bench_report: --only (: "));
    EXPECT_THAT(refusal({}), HasSubstr("--list"));
    using Words = std::vector<std::string>;
    const Words list{"--list"};
    const Words check{"--check", document_};
    const Words compare{"--compare", build("a"), build("b")};
    const Words only{"--only", "cycle"};
    const Words rounds{"--rounds", "2"};
    const Words time{"--min-time", "1"};
    const Words other{"--build", build("c")};
    for (const auto& [mode, option] :
         {std::pair(list, rounds), std::pair(list, time), std::pair(list, other), std::pair(check, only),
          std::pair(check, rounds), std::pair(check, time), std::pair(compare, other)}) {
        Words both = mode;
        both.insert(both.end(), option.begin(), option.end());
        EXPECT_THAT(refusal(both), AllOf(HasSubstr(mode[0]), HasSubstr(option[0]), HasSubstr("excludes")));
    }
    EXPECT_THAT(refusal({"--list", "--write", document_}), HasSubstr("--write"));
    const std::string none = folder_->file("none.md");
    EXPECT_EQ(refusal({"--write", none, "--only", kOnly}),
              "bench_report: " + none + " can't be read, or is empty\n");
    std::ofstream(none) << "# No tables\n";
    EXPECT_EQ(refusal({"--write", none, "--only", kOnly}),
              "bench_report: " + none + ": no marker <!-- table: profiles -->\n");
    EXPECT_THAT(refusal({"--check", none}), AllOf(HasSubstr("no marker <!-- table: cycle -->"),
                                                  HasSubstr("no marker <!-- table: profiles -->")));
}

TEST_F(BenchReport, RefusesToCompareACopyThatWouldRunAnotherBuildsServer) {
    const std::string one = build("a", takes("10"));
    program(one, "objects_bench", "true");
    const std::string copy = folder_->file("copy");
    fs::copy(one, copy, fs::copy_options::recursive);
    EXPECT_EQ(report({"--compare", one, copy, "--only", kOnly}).exit, 0);
    // CMake may have reached the same folder by another path.
    const std::string linked = build("linked");
    program(linked, "objects_bench", "exit 3");
    fs::create_directory_symlink(linked, folder_->file("link"));
    std::ofstream(linked + "/CMakeCache.txt") << "CMAKE_CACHEFILE_DIR:INTERNAL=" << folder_->file("link");
    EXPECT_THAT(report({"--compare", linked, linked, "--only", "start_of_qmgr"}).err,
                HasSubstr("objects_bench start_of_qmgr: exit status 3"));
    EXPECT_EQ(report({"--compare", one, copy, "--only", "start_of_qmgr"}).err,
              "bench_report: " + copy + " was built as " + one +
                  ": its objects_bench would run the programs there\n");
}

TEST_F(BenchReport, TablesAgreeWithTheDocumentAndNameBenchmarksThatExist) {
    const Output done = report({"--check", PBS_SOURCE_DIR "/docs/benchmarks.md"});
    EXPECT_EQ(done.exit, 0) << done.err;
}

TEST_F(BenchReport, FindsBenchmarksThatDoNotExist) {
    const std::string path = build("none");
    for (const Table& table : all_tables())
        for (const Row& row : table.rows)
            for (const Cell& cell : row.cells)
                if (cell.measured()) program(path, cell.benchmark.program, "echo Other/7");
    const Output done = report({"--check", document_, "--build", path});
    EXPECT_EQ(done.exit, 2);
    EXPECT_THAT(done.err,
                HasSubstr("profiles, MakeProfile, timeline_bench MakeProfile/1000: there is no such "
                          "benchmark\n"));
}

TEST_F(BenchReport, ChecksThatTablesAndDocumentAgree) {
    const auto complaint = [&](const std::string& old, const std::string& text) {
        std::string changed = file_text(PBS_SOURCE_DIR "/docs/benchmarks.md");
        const auto at = changed.find(old);
        EXPECT_NE(at, std::string::npos) << old;
        changed.replace(at, old.size(), text);
        std::ofstream(document_) << changed;
        const Output done = report({"--check", document_});
        EXPECT_EQ(done.exit, 2);
        return done.err;
    };
    EXPECT_THAT(complaint("| MakeProfile |", "| MakeProfiles |"),
                HasSubstr("row 1 of profiles is MakeProfiles, and in tables.cc MakeProfile"));
    EXPECT_THAT(complaint("table: profiles -->", "table: profile -->"),
                AllOf(HasSubstr("no marker <!-- table: profiles -->"),
                      HasSubstr("nothing measures the table profile")));
    EXPECT_THAT(complaint(" | | |\n| `list policy` |", " | 7/s | |\n| `list policy` |"),
                HasSubstr("nothing measures \"7/s\""));
    EXPECT_THAT(complaint("An occasional measurement: 23", "23"), HasSubstr("a table without a marker"));
}

TEST_F(BenchReport, SkipsFiguresOfAnOpenpbsThatIsNotThere) {
    const std::string before = file_text(document_);
    const Output done = report({"--write", document_, "--only", "openpbs"});
    EXPECT_EQ(done.exit, 0) << done.err;
    EXPECT_EQ(done.out, "openpbs_bench is skipped: PBSPOLICY_OPENPBS_PREFIX isn't set\n");
    EXPECT_EQ(file_text(document_), before);
}

// ---- The program, with this build ----

// Returns the document without its figures.
std::string form_of(const std::string& text) {
    return std::regex_replace(text, std::regex(R"([0-9][0-9.,]*( to [0-9.,]+)?)"), "N");
}

constexpr const char* kQuick = "timeline_bench (MakeProfile|MaxInAnHour)/100$|rrule_bench InsideNow/10$";

TEST_F(BenchReport, MeasuresAndWritesTheSameFormAgain) {
    const std::string before = file_text(document_);
    const std::vector<std::string> command{"--write",  document_, "--only",     kQuick,
                                           "--rounds", "2",       "--min-time", "0.001"};
    for (int i = 0; i < 2; ++i) {
        const Output done = report(command);
        EXPECT_EQ(done.exit, 0) << done.err;
        EXPECT_THAT(done.out, HasSubstr("3 of 3: "));
        EXPECT_EQ(form_of(file_text(document_)), form_of(before));
    }
}

TEST_F(BenchReport, ComparesTheBuildWithItself) {
    const Output done = report({"--compare", PBS_BUILD_DIR, PBS_BUILD_DIR, "--only", kQuick, "--rounds", "2",
                                "--min-time", "0.001"});
    EXPECT_EQ(done.exit, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("MaxInAnHour/100, cpu_time"));
}

}  // namespace
}  // namespace pbs::bench
