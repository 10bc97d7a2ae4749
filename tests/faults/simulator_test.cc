// A simulator of crashes: sessions of random requests (tests/fuzz/session.h) run in this process, with
// processes of jobs that are made up, a clock that the session moves, and a disk of which each change is
// recorded. After the session, servers are started on states in which a crash in its middle may have left the
// disk.
//
// - The server is killed: the disk has all changes up to some call, and the jobs' processes go on. After the
//   new start, all objects are as after the last step or as after the one under way.
// - The power fails: changes that weren't synced are there, lost or torn, and the processes have ended. All
//   objects but the jobs and what depends on them are as after the last step or the one under way; no job is
//   lost, and one that had ended is as it was.
//
// No run starts twice, and no end is accounted for twice. PBSPOLICY_SEED=SEED begins with another seed than
// 1, and PBSPOLICY_SESSIONS=1000 runs that many sessions, each with the next seed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server_plugin/host/life/ended_runs.h"
#include "tests/faults/crash_states.h"
#include "tests/faults/simulator.h"
#include "tests/fuzz/session.h"

namespace pbs::host::session {
namespace {

using e2e::Disk;
using e2e::DiskCall;

struct Snapshot {
    long calls;  // number of calls before it
    std::string state;
    seconds time;
};

// A session that keeps a snapshot after each step, and the processes after each change of them.
class RecordedSite : public Site {
  public:
    RecordedSite(Choices choices, const Recorder& recorder)
        : Site(choices, recorder.home()), recorder_(recorder), disk(recorder.home()) {
        recorder_.begin();
        executor_.changed = [this] { processes.emplace_back(recorder_.calls(), executor_.now); };
        executor_.changed();
        stepped();
    }
    ~RecordedSite() override {
        executor_.changed = [] {};
    }

    std::vector<Snapshot> snapshots;
    std::vector<std::pair<long, Processes>> processes;

  private:
    void stepped() override {
        settle_all();
        if (snapshots.size() % 3 == 2 && !settle_ended_runs(*server_))
            fault("ends can't be brought to the disk");
        snapshots.push_back({recorder_.calls(), state_text(), now_});
    }

    const Recorder& recorder_;

  public:
    const Disk disk;  // as it was at the first snapshot
};

// A server that starts after a crash.
class CrashedSite : public Site {
  public:
    using Site::differences;
    using Site::Site;
    std::string state() { return state_text(); }
    void check_ends() { each_end_once(); }
};

// Attributes that a failure of the power changes, as the jobs that ran don't run any more.
bool depends_on_runs(std::string_view attribute) {
    static const std::set<std::string_view> all{
        "jobs",     "resources_assigned", "state_count",           "total_jobs",
        "hasnodes", "last_used_time",     "last_state_change_time"};
    return all.contains(attribute);
}

// The lines of a state: the object, the attribute and the value.
struct Line {
    std::string_view object;
    std::string_view attribute;
    std::string_view value;
};
std::vector<Line> lines_of(std::string_view text) {
    std::vector<Line> all;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const auto blank = line.find(' ');
        const auto dot = line.find('.', blank == line.npos ? 0 : blank);
        const auto equals = line.find(" = ");
        if (blank == line.npos || dot == line.npos || equals == line.npos || dot > equals) continue;
        all.push_back(
            {line.substr(0, blank), line.substr(blank + 1, dot - blank - 1), line.substr(equals + 3)});
    }
    return all;
}

bool is_of_job(const Line& line) {
    return line.object.find(".svr") != line.object.npos;
}
// Returns the state without the lines that are `left_out`.
template <class LeftOut>
std::string without(const std::string& state, LeftOut&& left_out) {
    std::string text;
    for (const Line& line : lines_of(state))
        if (!left_out(line))
            text.append(line.object).append(" ").append(line.attribute).append(" = ").append(line.value) +=
                '\n';
    return text;
}
std::string without_jobs(const std::string& state) {
    return without(state,
                   [](const Line& line) { return is_of_job(line) || depends_on_runs(line.attribute); });
}
// A start that was committed and not made is made again, with another number. A job that was deleted may get
// another signal than it would have got; and of a list of jobs to delete some may be deleted, so that their
// array ends without the request for the array itself.
bool depends_on_instant(const Line& line) {
    return line.attribute == "run_count" || line.attribute == "run_version" ||
           (line.attribute == "Exit_status" && (line.value == "265" || line.value == "271")) ||
           (line.attribute == "substate" && (line.value == "91" || line.value == "93"));
}
std::string without_runs(const std::string& state) {
    return without(state, depends_on_instant);
}
// The jobs and reservations with their states; jobs that have ended also with their exit statuses.
std::map<std::string, std::string> jobs_of(const std::string& state) {
    std::map<std::string, std::string> jobs;
    for (const Line& line : lines_of(state)) {
        if (!is_of_job(line)) continue;
        std::string& known = jobs[std::string(line.object)];
        if (line.attribute == "job_state") known = std::string(line.value) + known;
        if (line.attribute == "Exit_status") known += " " + std::string(line.value);
    }
    return jobs;
}
// Returns a job that is as in neither of the two states, but for counts of jobs; "" if there is none. A
// request about several jobs, such as qdel of two, may be done for some of them.
std::string job_of_neither(const std::string& found, const std::string& last, const std::string& next) {
    const auto by_job = [](const std::string& state) {
        std::map<std::string, std::string> jobs;
        for (const Line& line : lines_of(state))
            if (is_of_job(line) && !depends_on_instant(line) && line.attribute != "array_state_count")
                jobs[std::string(line.object)]
                    .append(line.attribute)
                    .append(" ")
                    .append(line.value == "X" ? "F" : line.value) += '\n';  // X: until the array has ended
        return jobs;
    };
    const auto before = by_job(last);
    const auto after = by_job(next);
    for (const auto& [id, lines] : by_job(found)) {
        const auto is_same = [&, &id = id, &lines = lines](const auto& jobs) {
            const auto job = jobs.find(id);
            return job != jobs.end() && job->second == lines;
        };
        // A subjob may end before the array that is deleted with it.
        if (after.contains(id) && !is_same(before) && !is_same(after))
            return id + ":\n" + CrashedSite::differences(after.at(id), lines);
    }
    return {};
}
bool has_ended(const std::string& job) {
    return job.starts_with("F") || job.starts_with("M") || job.starts_with("X");
}

class Simulator : public ::testing::Test {
  protected:
    void simulate(unsigned seed);
    void crash(const Disk::State& state, bool power, std::size_t marked, long calls);

    Recorder& recorder_ = recorder();
    std::vector<Snapshot> snapshots_;
    std::vector<std::pair<long, Processes>> processes_;
    long states_ = 0;
    long steps_ = 0;
};

void Simulator::crash(const Disk::State& state, bool power, std::size_t marked, long calls) {
    const Snapshot& last = snapshots_[marked];
    const Snapshot& next = snapshots_[std::min(marked + 1, snapshots_.size() - 1)];
    SCOPED_TRACE("after call " + std::to_string(calls) + ", " + (power ? "the power fails" : "killed") +
                 ", step " + std::to_string(marked));
    write_state(state, recorder_.home());
    const auto after =
        std::ranges::upper_bound(processes_, calls, {}, [](const auto& one) { return one.first; });
    Processes processes = std::prev(after)->second;
    // Each start that fails is counted, and too many hold the job.
    const bool failing = processes.fails;
    if (power)
        for (const RunId& id : std::exchange(processes.running, {})) {
            RunReport lost{id, RunState::lost, 4711, {}, false};
            lost.exit.exit_status = -1;
            processes.ended[Processes::key(id)] = lost;
        }
    CrashedSite site(recorder_.home(), next.time, std::move(processes));
    ++states_;
    const std::string found = site.state();
    // A request about one object changes no other one. So the objects as a whole have to be as in one state,
    // and the jobs each for itself.
    const std::string wrong = power || failing ? "" : job_of_neither(found, last.state, next.state);
    const auto part = wrong.empty() ? without_jobs : without_runs;
    const std::string objects = part(found);
    const std::string from_last = CrashedSite::differences(part(last.state), objects);
    const std::string from_next = CrashedSite::differences(part(next.state), objects);
    EXPECT_TRUE(objects == part(last.state) || objects == part(next.state))
        << wrong
        << (from_last.size() < from_next.size() ? "from the last step:\n" + from_last
                                                : "from the next step:\n" + from_next);
    if (!power) return site.check_ends();
    const auto before = jobs_of(last.state);
    const auto later = jobs_of(next.state);
    const auto now = jobs_of(found);
    for (const auto& [id, job] : before) {
        const auto then = later.find(id);
        if (then == later.end()) continue;
        const auto one = now.find(id);
        EXPECT_TRUE(one != now.end()) << id << " is lost";
        if (one != now.end() && has_ended(job) && job == then->second) EXPECT_EQ(one->second, job) << id;
    }
}

void Simulator::simulate(unsigned seed) {
    SCOPED_TRACE("PBSPOLICY_SEED=" + std::to_string(seed));
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(random() % 2000);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    std::optional<Disk> disk;
    std::vector<DiskCall> calls;
    {
        RecordedSite site(Choices(bytes.data(), bytes.size()), recorder_);
        site.run();
        disk = site.disk;
        calls = recorder_.record();
        snapshots_ = std::move(site.snapshots);
        processes_ = std::move(site.processes);
    }
    steps_ += static_cast<long>(snapshots_.size());
    const auto begin = static_cast<std::size_t>(snapshots_.front().calls);
    const auto end = static_cast<std::size_t>(snapshots_.back().calls);
    std::vector<std::size_t> instants;
    for (int i = 0; i < 12; ++i) instants.push_back(begin + random() % (end - begin + 1));
    std::ranges::sort(instants);
    std::size_t at = 0;
    for (const std::size_t instant : instants) {
        for (; at < instant; ++at) disk->apply(calls[at], static_cast<long>(at));
        const auto next =
            std::ranges::upper_bound(snapshots_, static_cast<long>(instant), {}, &Snapshot::calls);
        const auto marked = static_cast<std::size_t>(next - snapshots_.begin()) - 1;
        const bool power = random() % 2 == 0;
        e2e::Loss loss{e2e::Loss::Part::nothing, e2e::Loss::Part::nothing};
        if (power) {
            constexpr e2e::Loss::Part kParts[] = {e2e::Loss::Part::nothing, e2e::Loss::Part::all,
                                                  e2e::Loss::Part::some, e2e::Loss::Part::some};
            loss.data = kParts[random() % 4];
            loss.names = kParts[random() % 4];
            loss.sector = random() % 2 == 0 ? 512 : 4096;
            loss.ordered_names = random() % 3 != 0;
            loss.sync_keeps_name = random() % 2 == 0;
            loss.zeros = random() % 3 == 0;
        }
        crash(disk->after(loss, random), power, marked, static_cast<long>(instant));
        if (HasFailure()) return;
    }
}

TEST_F(Simulator, SessionsSurviveKillsAndPowerFailures) {
    if (PBS_SANITIZED != 0) GTEST_SKIP() << "the sanitizers want to be loaded first";
    const auto [first, sessions] = run_sessions(20, [&](unsigned seed) { simulate(seed); });
    std::printf("\nsimulator: %u sessions from seed %u with %ld steps, %ld crashes\n", sessions, first,
                steps_, states_);
}

}  // namespace
}  // namespace pbs::host::session
