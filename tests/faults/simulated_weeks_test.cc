// Weeks in this process: a server with its plugin (tests/fuzz/session.h) on a disk in memory, with processes
// of jobs that are made up, and with a clock that the test moves over both changes of the summer time, the
// end of a year and a leap day. Jobs, arrays, dependencies, reservations and changes of objects come all the
// time, while windows switch the policies.
//
// At the end of each date all work ends, and the history with it. Then the server may use no more of the
// machine than at the end of an earlier date.
//
// CTest runs two days at each date with 4000 jobs. PBSPOLICY_JOBS=1000000 runs more of them, PBSPOLICY_DAYS=7
// more days, and PBSPOLICY_SEED=SEED other ones.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "server_plugin/host/base/users.h"
#include "server_plugin/host/life/ended_runs.h"
#include "tests/faults/environment.h"
#include "tests/faults/machine_use.h"
#include "tests/fuzz/session.h"

#if PBS_SANITIZED
#include <sanitizer/allocator_interface.h>
#endif

namespace pbs::host::session {
namespace {

// The server's use of the machine.
struct Use : e2e::MachineUse {
    long heap_kb = 0;            // allocated memory
    long database_cache_kb = 0;  // the part of it that SQLite has allocated
};

std::string text_of(const Use& use) {
    return fmt::format("{} kB allocated, {} kB of them by SQLite, {}", use.heap_kb, use.database_cache_kb,
                       e2e::text_of(use));
}

class WeeksSite : public Site {
  public:
    static constexpr std::int64_t kStep = 600;  // seconds
    static constexpr std::int64_t kDay = 86400;

    WeeksSite(const fs::path& home, unsigned seed)
        : Site(Choices(nullptr, 0), home, "Europe/Berlin"), random_(seed) {
        for (const char* name : {"daemon", "bin", "sys", "games", "man", "lp", "mail", "news"})
            if (find_user(name)) users_.push_back(name);
        most_cycles_ = 10'000;
        executor_.changed = [this] { note_start(); };
        make_objects();
    }
    ~WeeksSite() override {
        executor_.changed = [] {};
    }

    // Runs this many jobs, at least, in the days from an instant on; then lets all work end.
    void run(std::int64_t from, long days, long jobs);
    Use use();
    // Starts the server again, and compares all objects.
    void new_server() { start_again(); }

    long jobs() const { return jobs_; }
    long starts() const { return starts_; }
    long requests() const { return requests_; }
    long refused() const { return refused_; }
    long reservations() const { return reserved_; }

  private:
    std::size_t below(std::size_t count) { return random_() % count; }
    bool one_in(std::size_t count) { return below(count) == 0; }

    void make_objects();
    void note_start();
    void go_to(std::int64_t time);
    void end_due();
    void submit(long most);
    void change_job();
    void change_objects();
    void reserve();
    void let_all_end();
    void look_at_day(bool last);
    bool act(const char* user, ifl::RequestType type, ifl::RequestBody body, std::string extend = {});
    bool manage(int command, int type, const std::string& name, ifl::Attributes list) {
        return act("root", ifl::RequestType::manager,
                   ifl::Manage{static_cast<std::uint32_t>(command), static_cast<std::uint32_t>(type), name,
                               std::move(list)});
    }
    std::string recent() { return recent_.empty() ? "1" : recent_[below(recent_.size())]; }

    std::mt19937 random_;
    std::vector<const char*> users_;
    std::vector<std::string> recent_;          // ids of the last jobs
    std::vector<std::string> held_;            // ids of jobs to be released
    std::size_t next_recent_ = 0;              // the oldest of them
    std::multimap<std::int64_t, RunId> ends_;  // instants at which runs end
    std::unordered_set<std::string> ended_;    // jobs with a record of their end, since their start
    std::size_t known_runs_ = 0;
    std::int64_t day_ = 0;
    long jobs_ = 0;
    long starts_ = 0;
    long requests_ = 0;
    long refused_ = 0;
    long reserved_ = 0;
};

bool WeeksSite::act(const char* user, ifl::RequestType type, ifl::RequestBody body, std::string extend) {
    host::Session session;
    const auto reply = ask(user, session, type, std::move(body), std::move(extend));
    ++requests_;
    if (reply.code == 0) return true;
    ++refused_;
    if (talks()) note(type, reply);
    return false;
}

void WeeksSite::make_objects() {
    bool made = true;
    const auto make = [&](int type, const char* name, ifl::Attributes list) {
        made = manage(MGR_CMD_CREATE, type, name, std::move(list)) && made;
    };
    make(MGR_OBJ_QUEUE, "q2",
         {one("queue_type", "e"), one("enabled", "t"), one("started", "t"), one("Priority", "50")});
    for (int i = 2; i <= 8; ++i)
        make(MGR_OBJ_NODE, ("n" + std::to_string(i)).c_str(), {one("resources_available.ncpus", "256")});
    make(MGR_OBJ_TIME_WINDOW, "day",
         {one("rrule", "FREQ=DAILY"), one("start_time", "0800"), one("end_time", "1800"),
          one("type", "prime")});
    make(MGR_OBJ_QUOTA, "limits", {one("rule.each", "users={*} to ncpus=512")});
    make(MGR_OBJ_POLICY, "busy",
         {one("backfill_depth", "3"), one("sort_by_past_usage", "True"), one("quotas", "limits")});
    make(MGR_OBJ_POLICY, "idle", {one("backfill_depth", "0")});
    made = manage(MGR_CMD_SET, MGR_OBJ_NODE, "n1", {one("resources_available.ncpus", "256")}) && made;
    made = manage(MGR_CMD_SET, MGR_OBJ_SCHED, "default", {one("policy", "default_policy,p:busy,np:idle")}) &&
           made;
    made = manage(MGR_CMD_SET, MGR_OBJ_SERVER, "", {one("job_history_duration", "12:00:00")}) && made;
    if (!made) fault("the objects can't be made");
}

// Called after each change of the processes: gives a run that has begun the instant of its end.
void WeeksSite::note_start() {
    const std::size_t runs = executor_.now.running.size();
    if (runs > known_runs_) {
        ends_.emplace(now_.count() + 60 + static_cast<std::int64_t>(below(1800)),
                      executor_.now.running.back());
        ++starts_;
    }
    known_runs_ = runs;
}

void WeeksSite::end_due() {
    static constexpr std::pair<RunState, int> kEnds[] = {{RunState::ended, 1},
                                                         {RunState::ended, 271},
                                                         {RunState::ended, exit_status::kKilledWalltime},
                                                         {RunState::ended, exit_status::kRerun},
                                                         {RunState::lost, -1},
                                                         {RunState::never_started, -1}};
    while (!ends_.empty() && ends_.begin()->first <= now_.count()) {
        const RunId id = ends_.begin()->second;
        ends_.erase(ends_.begin());
        const auto [state, status] =
            one_in(8) ? kEnds[below(std::size(kEnds))] : std::pair{RunState::ended, 0};
        executor_.end(id, state, status);
    }
}

void WeeksSite::go_to(std::int64_t time) {
    go_on(seconds(time - now_.count()));
    if (auto done = store_->forget_received(now_.count()); !done) fault("arrivals", done.error().message);
    end_due();
    settle();
    if (auto done = settle_ended_runs(*server_); !done) fault("ends", done.error().message);
    if (day_ != now_.count() / kDay) look_at_day(false);
}

void WeeksSite::submit(long most) {
    const char* user = users_[below(users_.size())];
    ifl::Attributes all{one("Variable_List", "PBS_O_WORKDIR=/tmp,PBS_O_HOME=/tmp"),
                        one("Job_Name", fmt::format("j{}", jobs_)),
                        one("project", fmt::format("p{}", below(40))),
                        one("Account_Name", fmt::format("a{}", below(20))),
                        one("Resource_List.select", fmt::format("1:ncpus={}", 1 + below(4))),
                        one("Resource_List.walltime", std::to_string(600 + below(30'000)))};
    long jobs = 1;
    switch (below(20)) {
        case 0:
            jobs = std::clamp(most, 2L, 2L + static_cast<long>(below(20)));
            all.push_back(one("array_indices_submitted", fmt::format("1-{}", jobs)));
            break;
        case 1:
        case 2: {
            static constexpr Names kDependencies = {"afterok", "afterany", "afternotok", "after"};
            all.push_back(one("depend", fmt::format("{}:{}", kDependencies.begin()[below(4)], recent())));
            break;
        }
        case 3:
            all.push_back(
                one("Execution_Time", std::to_string(now_.count() + static_cast<std::int64_t>(below(7200)))));
            break;
        case 4:
            all.push_back(one("Hold_Types", "u"));
            break;
        default:
            break;
    }
    std::string queue = one_in(4) ? "q2" : one_in(4) ? "r1" : "q1";
    if (!reservations_.empty() && one_in(16)) {
        const std::string& id = reservations_[below(reservations_.size())];
        if (server_->state.reservation(id) != nullptr) queue = id.substr(0, id.find('.'));
    }
    host::Session session;
    const auto done = [&](ifl::RequestType type, ifl::RequestBody body) {
        auto reply = ask(user, session, type, std::move(body));
        ++requests_;
        if (reply.code != 0) {
            ++refused_;
            if (talks()) note(type, reply);
        }
        return reply;
    };
    auto reply = done(ifl::RequestType::queue_job, ifl::QueueJob{"", queue, std::move(all)});
    if (reply.code != 0) return;
    const std::string id = std::get<ifl::QueueReply>(reply.body).job;
    if (done(ifl::RequestType::job_script, ifl::JobScript{0, 0, "", "true\n"}).code != 0) return;
    if (done(ifl::RequestType::commit, ifl::JobId{id}).code != 0) return;
    jobs_ += jobs;
    if (server_->state.job(id) != nullptr && server_->state.job(id)->state == 'H') held_.push_back(id);
    constexpr std::size_t kRecent = 60;
    if (recent_.size() < kRecent) recent_.emplace_back();
    recent_[next_recent_++ % recent_.size()] = id;
}

void WeeksSite::change_job() {
    using enum ifl::RequestType;
    const auto of_job = [&](ifl::Attributes list) {
        return ifl::Manage{MGR_CMD_SET, MGR_OBJ_JOB, recent(), std::move(list)};
    };
    std::string id = recent();
    if (const auto at = id.find("[]"); at != id.npos && one_in(2))
        id.insert(at + 1, std::to_string(1 + below(5)));
    switch (below(12)) {
        case 0:
            return (void)act("root", delete_job, ifl::Manage{MGR_CMD_DELETE, MGR_OBJ_JOB, id, {}},
                             one_in(4)   ? "force"
                             : one_in(4) ? "deletehist"
                                         : "");
        case 1:
            if (act("root", hold_job,
                    ifl::Manage{MGR_CMD_SET, MGR_OBJ_JOB, id, {one("Hold_Types", one_in(2) ? "u" : "o")}}))
                held_.push_back(id);
            return;
        case 2:
        case 3:
            return (void)act("root", release_job, of_job({one("Hold_Types", "uo")}));
        case 4:
            return (void)act("root", modify_job,
                             of_job({one("Priority", std::to_string(below(1000))),
                                     one("comment", fmt::format("changed {}", requests_))}));
        case 5:
            return (void)act("root", move_job, ifl::MoveJob{id, one_in(2) ? "q1" : "q2"});
        case 6:
            return (void)act("root", rerun_job, ifl::JobId{id});
        case 7:
            return (void)act("root", signal_job, ifl::SignalJob{id, one_in(2) ? "suspend" : "resume"});
        case 8:
            return (void)act("root", order_job, ifl::MoveJob{id, recent()});
        case 9:
            return (void)act("root", locate_job, ifl::JobId{id});
        case 10:
            return (void)act("root", status_job, ifl::Status{id, {}}, "xt");
        default:
            return (void)act("root", run_job, ifl::RunJob{id, "", 0});
    }
}

void WeeksSite::change_objects() {
    const std::string number = std::to_string(below(100));
    switch (below(10)) {
        case 0:
            return (void)manage(MGR_CMD_SET, MGR_OBJ_POLICY, one_in(2) ? "busy" : "idle",
                                {one("backfill_depth", std::to_string(below(10)))});
        case 1:
            return (void)manage(one_in(2) ? MGR_CMD_CREATE : MGR_CMD_SET, MGR_OBJ_QUOTA,
                                one_in(2) ? "limits" : "u" + number,
                                {one("rule.each", "users={*} to ncpus=" + std::to_string(256 + below(256)))});
        case 2:
            return (void)manage(MGR_CMD_DELETE, MGR_OBJ_QUOTA, "u" + number, {});
        case 3:
            return (void)manage(MGR_CMD_SET, MGR_OBJ_NODE, "n" + std::to_string(1 + below(8)),
                                {one("resources_available.ncpus", std::to_string(192 + below(65))),
                                 one("comment", "node " + number)});
        case 4:
            return (void)manage(MGR_CMD_CREATE, MGR_OBJ_QUEUE, "t" + number,
                                {one("queue_type", "e"), one("enabled", "t"), one("started", "t")});
        case 5:
            return (void)manage(MGR_CMD_DELETE, MGR_OBJ_QUEUE, "t" + number, {});
        case 6:
            return (void)manage(MGR_CMD_SET, MGR_OBJ_SERVER, "", {one("comment", "comment " + number)});
        case 7:
            return (void)manage(MGR_CMD_SET, MGR_OBJ_QUEUE, "q2", {one("Priority", number)});
        case 8:
            return (void)manage(MGR_CMD_CREATE, MGR_OBJ_FS_GROUP, "g" + number, {});
        default:
            return (void)manage(MGR_CMD_DELETE, MGR_OBJ_FS_GROUP, "g" + number, {});
    }
}

void WeeksSite::reserve() {
    if (!reservations_.empty() && one_in(3)) {
        const std::size_t one_of = below(reservations_.size());
        (void)act("root", ifl::RequestType::delete_reservation,
                  ifl::Manage{MGR_CMD_DELETE, MGR_OBJ_RESV, reservations_[one_of], {}});
        reservations_.erase(reservations_.begin() + static_cast<std::ptrdiff_t>(one_of));
        return;
    }
    const std::int64_t from = now_.count() + kStep * static_cast<std::int64_t>(1 + below(36));
    ifl::Attributes all{one("Variable_List", "PBS_O_WORKDIR=/tmp,PBS_TZID=Europe/Berlin"),
                        one("reserve_start", std::to_string(from)),
                        one("reserve_end", std::to_string(from + kStep * 6)),
                        one("Resource_List.select", "2:ncpus=4")};
    if (one_in(4)) all.push_back(one("reserve_rrule", "FREQ=DAILY;COUNT=3"));
    host::Session session;
    const auto reply = ask(users_[below(users_.size())], session, ifl::RequestType::submit_reservation,
                           ifl::QueueJob{"", "", std::move(all)});
    ++requests_;
    const auto* text = std::get_if<ifl::TextReply>(&reply.body);
    if (reply.code != 0 || text == nullptr) return (void)++refused_;
    ++reserved_;
    if (reservations_.size() == 10) reservations_.erase(reservations_.begin());
    reservations_.push_back(text->text.substr(0, text->text.find(' ')));
}

// Reads the accounting records of the day, or of both days, that are over. Removes old logs, as sites do.
void WeeksSite::look_at_day(bool last) {
    accounting_->flush();
    const auto today = std::to_string(local_time(std::chrono::sys_seconds(now_)).day);
    std::set<fs::path> days;
    for (const auto& entry : fs::directory_iterator(home_ / "jobs"))
        if (const std::string name = entry.path().filename().string();
            name.size() == 8 && name.starts_with("20") && (last || name < today))
            days.insert(entry.path());
    for (const auto& day : days) {
        std::ifstream in(day);
        for (std::string line; std::getline(in, line);) {
            const auto type = line.find(';');
            if (type == line.npos || line.size() < type + 4) continue;
            const std::string id = line.substr(type + 3, line.find(';', type + 3) - type - 3);
            if (line[type + 1] == 'S') ended_.erase(id);
            if (line[type + 1] == 'E' && !ended_.insert(id).second)
                fault("an end is accounted for twice", line);
        }
        fs::remove(day);
    }
    for (const fs::path& folder : {home_, home_ / "sched_logs"})
        if (fs::exists(folder))
            for (const auto& entry : fs::directory_iterator(folder))
                if (const std::string name = entry.path().filename().string();
                    name.size() == 8 && name.starts_with("20") && name < today)
                    fs::remove(entry.path());
    day_ = now_.count() / kDay;
}

void WeeksSite::let_all_end() {
    for (const auto& [number, reservation] : std::map(server_->state.reservations()))
        (void)act("root", ifl::RequestType::delete_reservation,
                  ifl::Manage{MGR_CMD_DELETE, MGR_OBJ_RESV, server_->state.reservation_id(number), {}});
    reservations_.clear();
    std::vector<std::string> waiting;
    for (const auto& [handle, job] : server_->state.jobs())
        if (!job.is_subjob() && !job.history()) waiting.push_back(job.id);
    for (const std::string& id : waiting)
        (void)act("root", ifl::RequestType::delete_job, ifl::Manage{MGR_CMD_DELETE, MGR_OBJ_JOB, id, {}});
    for (int i = 0; i < 10'000 && !server_->state.jobs().empty(); ++i) go_to(now_.count() + kStep);
    if (!server_->state.jobs().empty()) fault("jobs don't end", server_->state.jobs().begin()->second.id);
    if (!executor_.now.running.empty()) fault("a run doesn't end", executor_.now.running.front().job);
    if (!executor_.now.ended.empty())
        fault("a run isn't forgotten", executor_.now.ended.begin()->first.first);
    // Each object that the changes may have made is removed, so that the sizes can be compared.
    for (int i = 0; i < 100; ++i) {
        const std::string number = std::to_string(i);
        if (server_->state.queue("t" + number) != nullptr)
            (void)manage(MGR_CMD_DELETE, MGR_OBJ_QUEUE, "t" + number, {});
        (void)manage(MGR_CMD_DELETE, MGR_OBJ_QUOTA, "u" + number, {});
        (void)manage(MGR_CMD_DELETE, MGR_OBJ_FS_GROUP, "g" + number, {});
    }
    look_at_day(true);
    ends_.clear();
    ended_ = {};
    executor_.now.ever.clear();
    held_ = {};
    recent_.clear();
    recent_.shrink_to_fit();
    next_recent_ = 0;
}

void WeeksSite::run(std::int64_t from, long days, long jobs) {
    go_to(from);
    day_ = from / kDay;
    const long before = jobs_;
    const long steps = days * kDay / kStep;
    for (long i = 1; i <= steps; ++i) {
        constexpr long kMostWaiting = 4000;
        const long due = jobs * i / steps;
        while (jobs_ - before < due && server_->state.counts().total() < kMostWaiting) {
            submit(due - (jobs_ - before));
            if (one_in(6)) change_job();
        }
        std::erase_if(held_, [&](const std::string& id) {
            return one_in(6) && (act("root", ifl::RequestType::release_job,
                                     ifl::Manage{MGR_CMD_SET, MGR_OBJ_JOB, id, {one("Hold_Types", "uo")}}),
                                 true);
        });
        if (one_in(4)) change_objects();
        if (one_in(12)) reserve();
        go_to(from + i * kStep);
    }
    let_all_end();
}

Use WeeksSite::use() {
    malloc_trim(0);
    Use now{e2e::machine_use("/proc/self", home_)};
#if PBS_SANITIZED
    now.heap_kb = static_cast<long>(__sanitizer_get_current_allocated_bytes() / 1024);
#else
    const struct mallinfo2 heap = mallinfo2();
    now.heap_kb = static_cast<long>((heap.uordblks + heap.hblkhd) / 1024);
#endif
    now.database_cache_kb = static_cast<long>(sqlite3_memory_used() / 1024);
    return now;
}

TEST(SimulatedWeeks, UseNoMoreOfTheMachineAtTheEnd) {
    // 2027-03-27, 2027-10-30, 2027-12-30 and 2028-02-28, at midnight UTC, in seconds since the Epoch.
    constexpr std::int64_t kBegins[] = {1806105600, 1824854400, 1830124800, 1835308800};
    const long jobs = e2e::environment_number("PBSPOLICY_JOBS", 4000);
    const long days = e2e::environment_number("PBSPOLICY_DAYS", 2);
    const auto seed = static_cast<unsigned>(e2e::environment_number("PBSPOLICY_SEED", 1));
    SCOPED_TRACE(fmt::format("PBSPOLICY_SEED={} PBSPOLICY_JOBS={} PBSPOLICY_DAYS={}", seed, jobs, days));
    const fs::path folder = fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
    WeeksSite site(folder / ("pbs-weeks-" + std::to_string(getpid())), seed);
    std::vector<Use> uses;
    for (const std::int64_t begin : kBegins) {
        site.run(begin, days, jobs / static_cast<long>(std::size(kBegins)));
        uses.push_back(site.use());
        std::printf("weeks: %ld jobs, %ld starts, %ld requests (%ld refused), %ld reservations: %s\n",
                    site.jobs(), site.starts(), site.requests(), site.refused(), site.reservations(),
                    text_of(uses.back()).c_str());
        std::fflush(stdout);
    }
    site.new_server();
    const Use anew = site.use();
    std::printf("weeks: after a new start: %s\n", text_of(anew).c_str());
    EXPECT_GE(site.starts(), jobs * 8 / 10);
    const Use& first = uses[1];
    const Use& last = uses.back();
    // Some memory has a fixed size, but fills only in the course of many jobs: the last ends of jobs, the
    // last changes of objects, texts that jobs share, and SQLite's pages.
    const long filled_kb = site.jobs() >= 200'000 ? 1024 : 16 * 1024;
    EXPECT_LE(last.heap_kb, first.heap_kb + filled_kb);
    EXPECT_LE(last.resident_kb, first.resident_kb + first.resident_kb / 20 + filled_kb);
    // Allow for a log that continues in a new file, for a checkpoint under way, and for the history of
    // objects.
    constexpr long kMoreDescriptors = 4;
    constexpr long kMoreDatabases = 1024;
    EXPECT_LE(last.descriptors, first.descriptors + kMoreDescriptors);
    EXPECT_LE(last.threads, 3);
    EXPECT_EQ(last.files, first.files);
    EXPECT_LE(last.databases_kb, first.databases_kb + first.databases_kb / 10 + kMoreDatabases);
}

}  // namespace
}  // namespace pbs::host::session
