// Calls that fail in the simulator: for requests of a session (tests/fuzz/session.h), a server is started in
// this process on a copy of the disk as it was before the request, and one of the request's calls of the
// operating system fails, or the disk is full from some call on.
//
// - If the request is refused, all objects are as before it, and the answer or the log says why. If it
//   succeeds, they are as after the same request without a fault.
// - If the server is then killed, a new start shows the same objects. This is tried after each request that
//   succeeds, and after a quarter of the refused ones.
// - The next try succeeds, if the request succeeds without a fault. This is tried after a quarter of the
//   refused requests.
//
// A failure of memory behind the commit of a change may end the server, which then has the change or doesn't
// have it. So each such failure is tried in a process of its own.
//
// CTest tries a sample. PBSPOLICY_SESSIONS=1000 runs that many sessions, from PBSPOLICY_SEED on;
// PBSPOLICY_FAULTS_PART=all tries each call of each request with each error, and PBSPOLICY_FAULTS_KIND=memory
// faults of that kind only.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/faults/fault_kinds.h"
#include "tests/faults/simulator.h"
#include "tests/fuzz/session.h"

namespace pbs::host::session {
namespace {

using e2e::Fault;

constexpr int kFullDisk = fault_kinds;  // instead of a kind: the disk is full from the call `at` on

std::string told(const Fault& fault) {
    return fault.kind == kFullDisk ? fmt::format("the disk is full from change {} on", fault.at)
                                   : e2e::text_of(fault);
}

// The state of a server after a part of a session: enough to start another server on a copy of its disk.
struct Moment {
    seconds time;
    Processes processes;
    std::vector<std::string> jobs;
    std::vector<std::string> reservations;
};

using Counts = std::array<long, fault_kinds>;

// A server that starts on a copy of a home, in whose requests calls fail.
class FaultySite : public Site {
  public:
    using Site::differences;

    // A server of a new session.
    FaultySite(const Choices& choices, const fs::path& home, faults& counters)
        : Site(choices, home), counters_(counters) {}
    FaultySite(const fs::path& home, const Moment& moment, faults& counters)
        : Site(home, moment.time, moment.processes), counters_(counters) {
        jobs_ = moment.jobs;
        reservations_ = moment.reservations;
        log_->set_events(static_cast<unsigned>(LogEvent::error));
    }

    // Makes a step with these choices, with a fault or without.
    void attempt(const Choices& choices, const std::optional<Fault>& fault = {}) {
        choose_ = choices;
        step(fault);
    }
    // Makes the next step of the session.
    void step(const std::optional<Fault>& fault = {}) {
        fault_ = fault;
        counts_ = {};
        changes_ = 0;
        code.reset();
        happened = false;
        Site::step();
        fault_.reset();
    }
    using Site::settle;
    const Choices& choices() const { return choose_; }
    std::string state() { return state_text(); }
    Moment moment() const { return {now_, executor_.now, jobs_, reservations_}; }
    std::string log() const {
        std::string lines;
        for (const auto& entry : fs::directory_iterator(home_))
            if (entry.path().filename().string().starts_with("20"))
                lines += read_file(entry.path().string(), 1 << 20).value_or("");
        return lines;
    }
    bool by_parts() const { return by_parts_ || waited_; }
    const Counts& counts() const { return counts_; }
    long changes() const { return changes_; }
    std::string place() const { return fmt::format("{} at {}", counters_.what, counters_.where); }

    std::optional<std::uint32_t> code;  // of the last answer to the step; nullopt: the step made no request
    std::string text;                   // of that answer
    bool happened = false;              // the fault has happened

  protected:
    ifl::Reply answer_to(Context& context, const std::function<void()>& wait) override {
        using enum ifl::RequestType;
        static const std::set<ifl::RequestType> kStatus{status_server,   status_queue,       status_node,
                                                        status_resource, status_reservation, status_job,
                                                        status_scheduler};
        if (kStatus.contains(context.request.type)) return Site::answer_to(context, wait);
        arm();
        ifl::Reply reply;
        try {
            reply = Site::answer_to(context, wait);
        } catch (const std::exception& error) {
            reply = ifl::Reply::error(PBSE_SYSTEM, error.what());
        }
        disarm();
        code = reply.code;
        text = text_of(reply);
        if (happened && reply.code == PBSE_INTERNAL) reply.code = PBSE_SYSTEM;  // the log has the reason
        return reply;
    }
    void failed(std::string_view what, const std::string& why) override { log_->error(what, why); }

  private:
    void arm() {
        for (std::size_t kind = 0; kind < counts_.size(); ++kind)
            counters_.count[fault_in_server][kind] = counts_[kind];
        counters_.calls = changes_;
        counters_.happened = happened ? 1 : 0;
        if (!fault_ || happened) return;
        if (fault_->kind == kFullDisk) {
            counters_.full_after = fault_->at;
            return;
        }
        counters_.program = fault_in_server;
        counters_.kind = fault_->kind;
        counters_.error = fault_->error;
        counters_.at = fault_->at;
    }
    void disarm() {
        counters_.at = 0;
        counters_.full_after = 0;
        for (std::size_t kind = 0; kind < counts_.size(); ++kind)
            counts_[kind] = counters_.count[fault_in_server][kind];
        changes_ = counters_.calls;
        happened = fault_ && fault_->kind == kFullDisk ? changes_ > fault_->at : counters_.happened != 0;
    }

    faults& counters_;
    std::optional<Fault> fault_;
    Counts counts_{};   // calls of the step's requests so far
    long changes_ = 0;  // those of them that change files
};

// Copies a home while its server stands still, as a kill leaves it.
void copy_home(const fs::path& from, const fs::path& to) {
    fs::remove_all(to);
    fs::create_directories(to);
    for (const auto& entry : fs::recursive_directory_iterator(from)) {
        const fs::path target = to / entry.path().lexically_relative(from);
        if (entry.is_directory())
            fs::create_directories(target);
        else if (entry.is_regular_file() && !entry.path().string().ends_with("-shm"))
            fs::copy_file(entry.path(), target, fs::copy_options::overwrite_existing);
    }
}

class SimulatedFaults : public ::testing::Test {
  protected:
    void session(unsigned seed);
    void request(const Choices& choices, const Moment& moment);
    void meets(const Choices& choices, const Fault& fault);
    void meets_in_child(const Choices& choices, const Fault& fault);
    std::vector<Fault> faults_of(const Counts& counts, long changes);
    FaultySite& fresh() {
        site_.reset();
        copy_home(before_, folder() / "at");
        site_ = std::make_unique<FaultySite>(folder() / "at", moment_, recorder_.counters());
        ++starts_;
        return *site_;
    }
    // Returns all objects after a kill of the server and a new start.
    std::string after_kill() { return after_kill(site_->moment()); }
    std::string after_kill(const Moment& moment) {
        const fs::path home = folder() / "killed";
        copy_home(folder() / "at", home);
        ++starts_;
        return FaultySite(home, moment, recorder_.counters()).state();
    }
    fs::path folder() const { return recorder_.home().parent_path(); }

    Recorder& recorder_ = recorder();
    std::mt19937 random_;
    fs::path before_ = folder() / "before";  // the disk before the request
    Moment moment_{};
    std::unique_ptr<FaultySite> site_;  // a server on a copy of it
    std::string before_state_;
    std::string after_state_;
    std::string after_state_killed_;
    std::uint32_t code_ = 0;  // of the request without a fault
    bool by_parts_ = false;
    long requests_ = 0;
    long tried_ = 0;
    long happened_ = 0;
    long refused_ = 0;
    long starts_ = 0;
    long ended_ = 0;  // how many faults have ended the server
};

std::vector<Fault> SimulatedFaults::faults_of(const Counts& counts, long changes) {
    std::vector<Fault> all;
    const char* only = std::getenv("PBSPOLICY_FAULTS_KIND");
    for (int kind = 0; kind < fault_kinds; ++kind) {
        const e2e::FaultKind& of = e2e::kinds_of_faults()[static_cast<std::size_t>(kind)];
        if (only != nullptr ? of.name != only : kind == fault_memory) continue;
        for (long at = 1; at <= counts[static_cast<std::size_t>(kind)]; ++at)
            for (const int error : of.errors) all.push_back({fault_in_server, kind, error, at, {}});
    }
    if (only == nullptr)
        for (long at = 1; at < changes; ++at) all.push_back({fault_in_server, kFullDisk, ENOSPC, at, {}});
    const char* part = std::getenv("PBSPOLICY_FAULTS_PART");
    if (part != nullptr && std::string_view(part) == "all") return all;
    constexpr std::size_t kSample = 6;
    std::ranges::shuffle(all, random_);
    if (all.size() > kSample) all.resize(kSample);
    return all;
}

void SimulatedFaults::meets(const Choices& choices, const Fault& fault) {
    const bool is_fresh = site_ == nullptr;
    FaultySite* site = is_fresh ? &fresh() : site_.get();
    site->attempt(choices, fault);
    // A refused submission has used up a number for a job.
    if (!is_fresh && site->code == 0) {
        site = &fresh();
        site->attempt(choices, fault);
    }
    ++tried_;
    if (site->happened) ++happened_;
    const std::string asked = fmt::format("{}: {}\nanswer: {}", told(fault), site->place(), site->text);
    SCOPED_TRACE(asked);
    const bool done = site->code == 0;
    if (!done) ++refused_;
    if (!done && code_ == 0 && site->happened)
        EXPECT_TRUE(e2e::gives_reason(site->text + site->log())) << "nothing says why\n" << site->log();
    if (done) EXPECT_EQ(code_, 0U) << "a request that has to be refused is done";
    const std::string found = site->state();
    if (!by_parts_) {
        const std::string& expected = done ? after_state_ : before_state_;
        if (found != expected)
            ADD_FAILURE() << (done ? "acknowledged" : "refused") << ", and the state is another one:\n"
                          << FaultySite::differences(expected, found);
    }
    if (done || random_() % 4 == 0) {
        const std::string& expected = by_parts_ ? found : done ? after_state_killed_ : before_state_;
        const std::string killed = after_kill();
        if (killed != expected && !by_parts_)
            ADD_FAILURE() << (done ? "acknowledged" : "refused")
                          << ", and after a kill the state is another one:\n"
                          << FaultySite::differences(expected, killed);
    }
    if (done || by_parts_) return site_.reset();
    if (code_ == 0 && random_() % 4 == 0) {
        site->attempt(choices);
        EXPECT_EQ(site->code, 0U) << "the next try: " << site->text;
        site_.reset();
    }
}

void SimulatedFaults::meets_in_child(const Choices& choices, const Fault& fault) {
    constexpr int kEnded = 77;
    constexpr int kFine = 64;  // plus these two
    constexpr int kRefused = 1;
    constexpr int kHappened = 2;
    (void)random_();  // each child makes other choices
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        std::set_terminate([] { _exit(kEnded); });
        recorder_.counters().child = getpid();
        refused_ = happened_ = 0;
        meets(choices, fault);
        std::fflush(nullptr);
        _exit(HasFailure() ? 1 : kFine + (refused_ != 0 ? kRefused : 0) + (happened_ != 0 ? kHappened : 0));
    }
    ++tried_;
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    const int exit = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    if (exit != kEnded) {
        EXPECT_EQ(exit & ~(kRefused | kHappened), kFine)
            << told(fault) << ": status " << status << ": " << recorder_.counters().what << " at "
            << recorder_.counters().where;
        if ((exit & kRefused) != 0) ++refused_;
        if ((exit & kHappened) != 0) ++happened_;
        return;
    }
    ++happened_;
    ++ended_;
    const std::string found = after_kill(moment_);
    if (!by_parts_ && found != before_state_ && found != after_state_killed_)
        ADD_FAILURE() << told(fault) << " has ended the server, and then the state is another one:\n"
                      << FaultySite::differences(after_state_killed_, found);
}

// Tries faults in a request of the session.
void SimulatedFaults::request(const Choices& choices, const Moment& moment) {
    moment_ = moment;
    FaultySite& site = fresh();
    before_state_ = site.state();
    const std::size_t runs = site.moment().processes.ever.size();
    site.attempt(choices);
    if (!site.code) return;
    ++requests_;
    code_ = *site.code;
    // A start that was acknowledged may fail later, so the job waits again.
    by_parts_ = site.by_parts() || site.moment().processes.ever.size() != runs;
    after_state_ = site.state();
    const auto chosen = faults_of(site.counts(), site.changes());
    if (chosen.empty()) return;
    if (code_ == 0) {
        after_state_killed_ = after_kill();
        site_.reset();
    }
    for (const Fault& fault : chosen) {
        if (fault.kind == fault_memory)
            meets_in_child(choices, fault);
        else
            meets(choices, fault);
        if (HasFailure()) return;
    }
}

void SimulatedFaults::session(unsigned seed) {
    SCOPED_TRACE("PBSPOLICY_SEED=" + std::to_string(seed));
    std::mt19937 random(seed);
    random_.seed(seed);
    std::vector<std::uint8_t> bytes(random() % 2000);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    FaultySite whole(Choices(bytes.data(), bytes.size()), recorder_.home(), recorder_.counters());
    for (int i = 0; i < 120 && whole.choices().left() && !HasFailure(); ++i) {
        copy_home(recorder_.home(), before_);
        const Choices choices = whole.choices();
        const Moment moment = whole.moment();
        whole.step();
        Counts counts = whole.counts();
        counts[fault_memory] = 0;  // requests that only allocate memory aren't tried
        const bool calls = std::ranges::any_of(counts, [](long count) { return count > 0; });
        whole.settle();
        if (calls && whole.code) request(choices, moment);
        site_.reset();
    }
}

TEST_F(SimulatedFaults, ARequestSurvivesTheFailureOfItsCalls) {
    if (PBS_SANITIZED != 0) GTEST_SKIP() << "the sanitizers want to be loaded first";
    const auto [first, sessions] = run_sessions(4, [&](unsigned seed) { session(seed); });
    std::printf(
        "\nsimulator: %u sessions from seed %u: %ld faults in %ld requests, %ld happened, %ld refused; "
        "%ld starts of servers, %ld servers ended\n",
        sessions, first, tried_, requests_, happened_, refused_, starts_, ended_);
}

}  // namespace
}  // namespace pbs::host::session
