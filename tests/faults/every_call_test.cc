// Makes one call of the server to the operating system fail once. Does so for each call and each of its
// errors. The request that meets the fault succeeds, or is refused with the reason; no change is half done;
// and the next try succeeds.
//
// There are tens of thousands of such faults. PBSPOLICY_FAULTS_PART in the environment chooses some or all of
// them (one_fault.h). Without it, only the tests run of faults that once had a wrong effect.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "tests/faults/one_fault.h"
#include "tests/faults/scene.h"
#include "tests/file_text.h"

namespace pbs::e2e {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using ::testing::HasSubstr;

class EveryCall : public ::testing::Test {
  protected:
    void SetUp() override {
        NEEDS(own_server);
        if (PBS_SANITIZED != 0) GTEST_SKIP() << "the sanitizers want to be loaded first";
        ASSERT_TRUE(server_->start());
        ids_ = set_the_scene(*server_);
        ASSERT_FALSE(ids_.empty());
        until_ = Clock::now() + 30s;
    }
    void TearDown() override {
        if (IsSkipped()) return;
        RecordProperty("seed", static_cast<int>(choice_.seed()));
        std::printf(
            "faults: seed %u, %d tried, %d happened; %d times refused, %d times done all the same, "
            "%d times the server ended\n",
            choice_.seed(), tried_, happened_, refused_, done_, ended_);
    }

    bool goes_on() const { return choice_.all() || tried_ < 3 || Clock::now() < until_; }
    void expect_state(const std::string& expected, std::string_view when) const {
        const std::string found = state_of(*server_);
        if (found != expected)
            ADD_FAILURE() << when << ", the state is another one:\n" << differences_of(expected, found);
    }

    void meets(const Request& request, const Fault& fault, const std::string& before,
               const std::string& after, bool crash_first);
    void meets(const Request& request);

    Choice choice_;
    FaultyServer server_;
    std::map<std::string, std::string> ids_;
    Clock::time_point until_;
    int tried_ = 0;
    int happened_ = 0;
    int refused_ = 0;
    int done_ = 0;
    int ended_ = 0;
};

void EveryCall::meets(const Request& request, const Fault& fault, const std::string& before,
                      const std::string& after, bool crash_first) {
    ASSERT_TRUE(server_.set_back());
    ASSERT_TRUE(server_->start());
    server_.arm(fault);
    const Output output = ask(*server_, request);
    server_.disarm();
    ++tried_;
    if (server_.happened()) ++happened_;
    SCOPED_TRACE(fmt::format("{}: {}: {}", request.name, text_of(fault), server_.place()));
    EXPECT_FALSE(output.timed_out) << "the server hangs";
    if (!server_->running()) {
        // A lack of memory may end the server, so that memory and disk don't differ.
        EXPECT_EQ(fault.kind, fault_memory) << "the server has ended: " << output;
        ASSERT_TRUE(server_->start());
        const std::string found = state_of(*server_);
        if (found != before) expect_state(after, "the server has ended");
        ++ended_;
        return;
    }
    bool done = output.exit == 0;
    if (!done)
        EXPECT_TRUE(gives_reason(output.err + server_->log()) || lost_connection(output))
            << "the error doesn't say why: " << output;
    if (!done && lost_connection(output)) done = state_of(*server_) == after;
    done ? ++done_ : ++refused_;
    expect_state(done ? after : before, done ? "acknowledged" : "refused");
    if (crash_first) {
        server_->kill9();
        ASSERT_TRUE(server_->start());
        expect_state(done ? after : before, done ? "acknowledged, after a crash" : "refused, after a crash");
    }
    if (!done) {
        const Output again = ask(*server_, request);
        EXPECT_EQ(again.exit, 0) << "the next try: " << again << "after " << output;
        expect_state(after, "after the next try");
    }
    if (crash_first && done) return;
    server_->kill9();
    ASSERT_TRUE(server_->start());
    expect_state(after, "after the next try and a crash");
}

void EveryCall::meets(const Request& request) {
    ASSERT_TRUE(server_.set_back());
    ASSERT_TRUE(server_->start());
    const std::string before = state_of(*server_);
    server_.arm({});
    const Output output = ask(*server_, request);
    const CallCounts counts = server_.counts();
    ASSERT_EQ(output.exit, 0) << request.name << ": " << output;
    const std::string after = state_of(*server_);
    if (request.name != "qorder") EXPECT_NE(before, after) << request.name << " changes nothing";
    const auto chosen = choice_.of(counts);
    bool crash_first = false;
    const auto until = Clock::now() + 6s;
    for (const Fault& fault : chosen) {
        if (!goes_on() || (!choice_.all() && tried_ >= 3 && Clock::now() > until)) return;
        meets(request, fault, before, after, crash_first = !crash_first);
        if (HasFatalFailure()) return;
    }
}

TEST_F(EveryCall, ARequestSurvivesTheFailureOfEachOfItsCalls) {
    if (!Choice::is_asked_for()) GTEST_SKIP() << Choice::kHow;
    ASSERT_TRUE(server_.keep());
    auto all = requests(*server_, ids_);
    if (!choice_.all()) std::ranges::shuffle(all, choice_.random());
    const char* only = std::getenv("PBSPOLICY_FAULTS_OF");
    for (const Request& request : all) {
        if (!goes_on()) return;
        if (only != nullptr && request.name.find(only) == std::string::npos) continue;
        meets(request);
    }
}

TEST_F(EveryCall, AStartSurvivesTheFailureOfEachOfItsCalls) {
    if (!Choice::is_asked_for()) GTEST_SKIP() << Choice::kHow;
    const std::string before = state_of(*server_);
    ASSERT_TRUE(server_.keep());
    ASSERT_TRUE(server_.set_back());
    server_.arm({});
    ASSERT_TRUE(server_->start());
    const CallCounts counts = server_.counts();
    for (const Fault& fault : choice_.of(counts)) {
        if (!goes_on()) return;
        ASSERT_TRUE(server_.set_back());
        const fs::path told = server_->home().parent_path() / "output";
        fs::resize_file(told, 0);
        server_.arm(fault);
        const auto started = server_->start();
        server_.disarm();
        ++tried_;
        if (server_.happened()) ++happened_;
        SCOPED_TRACE(fmt::format("start: {}: {}", text_of(fault), server_.place()));
        if (started) {
            ++done_;
            expect_state(before, "started all the same");
            EXPECT_EQ(server_->read("server_priv/server.port"), std::to_string(server_->port()) + "\n");
        } else {
            ++refused_;
            EXPECT_FALSE(server_->running()) << "the server hangs: " << started.message();
            // libuv aborts the process if it can't make the threads and pipes that its loop needs, and so do
            // directory iterators of the C++ library without memory.
            const std::string place = server_.place();
            if ((place.find("libuv") != std::string::npos ||
                 (fault.kind == fault_memory && place.find("libstdc++") != std::string::npos)) &&
                std::string_view(started.message()).starts_with("pbs_server ended with 134"))
                continue;
            const std::string why = server_->read("../output");
            EXPECT_TRUE(gives_reason(why)) << "the error doesn't say why: " << started.message();
            EXPECT_THAT(started.message(), HasSubstr("pbs_server ended with 1"));
        }
        server_->kill9();
        ASSERT_TRUE(server_->start()) << "the next start";
        expect_state(before, "after the next start");
    }
}

TEST_F(EveryCall, AStopSurvivesTheFailureOfEachOfItsCalls) {
    if (!Choice::is_asked_for()) GTEST_SKIP() << Choice::kHow;
    const std::string before = state_of(*server_);
    ASSERT_TRUE(server_.keep());
    ASSERT_TRUE(server_.set_back());
    ASSERT_TRUE(server_->start());
    server_.arm({});
    ASSERT_TRUE(server_->stop());
    const CallCounts counts = server_.counts();
    for (const Fault& fault : choice_.of(counts)) {
        if (!goes_on()) return;
        ASSERT_TRUE(server_.set_back());
        ASSERT_TRUE(server_->start());
        server_.arm(fault);
        const auto stopped = server_->stop();
        server_.disarm();
        ++tried_;
        if (server_.happened()) ++happened_;
        SCOPED_TRACE(fmt::format("stop: {}: {}", text_of(fault), server_.place()));
        EXPECT_TRUE(stopped);
        stopped ? ++done_ : ++refused_;
        ASSERT_TRUE(server_->start()) << "the next start";
        expect_state(before, "after the next start");
    }
}

// ---- Faults that once had a wrong effect, each in its own test. ----

// A commit whose sync fails is refused, although the write-ahead log contains it. After a crash, the refused
// change must not be there.
TEST_F(EveryCall, ARefusedCommitIsNotThereAfterACrash) {
    ASSERT_TRUE(server_.keep());
    for (const auto& [name, log] :
         {std::pair{"qhold", "server.db-wal"},
          {"set policy p1 backfill_depth=7", "policy.db-wal"},
          {"set node n2 resources_available.ncpus=6, comment='more'", "server.db-wal"}}) {
        const auto all = requests(*server_, ids_);
        const Request& request = *std::ranges::find(all, name, &Request::name);
        ASSERT_TRUE(server_.set_back());
        ASSERT_TRUE(server_->start());
        const std::string before = state_of(*server_);
        ASSERT_EQ(ask(*server_, request).exit, 0);
        const std::string after = state_of(*server_);
        meets(request, {fault_in_server, fault_sync, EIO, 1, log}, before, after, true);
    }
    EXPECT_EQ(refused_, 3);
}

TEST_F(EveryCall, AMarkThatCantBeReadIsNoLoss) {
    ASSERT_TRUE(server_.keep());
    for (const char* mark : {"server.db-mark", "policy.db-mark"})
        for (long at = 1; at <= 2; ++at) {
            ASSERT_TRUE(server_.set_back());
            server_.arm({fault_in_server, fault_read, EIO, at, mark});
            const auto started = server_->start();
            server_.disarm();
            EXPECT_TRUE(server_.happened());
            EXPECT_FALSE(started);
            EXPECT_THAT(started.message(),
                        HasSubstr(std::string(mark) + " can not be read: Input/output error"));
            EXPECT_THAT(started.message(), testing::Not(HasSubstr("checkpoint was cut short")));
            fs::resize_file(server_->home().parent_path() / "output", 0);
        }
}

// While a server stops, a mark says that the write-ahead log is being copied. If this mark remains when there
// is no log any more, it must not be reported as a loss.
TEST_F(EveryCall, AStopThatCantWriteItsMarksIsNoLoss) {
    const std::string before = state_of(*server_);
    ASSERT_TRUE(server_.keep());
    for (const char* mark : {"server.db-mark", "policy.db-mark"})
        for (const int kind : {fault_write, fault_sync})
            for (long at = 1; at <= 2; ++at) {
                ASSERT_TRUE(server_.set_back());
                ASSERT_TRUE(server_->start());
                server_.arm({fault_in_server, kind, EIO, at, mark});
                EXPECT_TRUE(server_->stop());
                server_.disarm();
                ASSERT_TRUE(server_->start());
                expect_state(before, "after the next start");
            }
}

TEST_F(EveryCall, ADatabaseThatCantBeReadIsNotCalledDamaged) {
    const std::string before = state_of(*server_);
    ASSERT_TRUE(server_->stop());
    for (const std::string database : {"server.db", "policy.db"}) {
        server_.arm({fault_in_server, fault_read, EIO, 1'000'000, database});
        ASSERT_TRUE(server_->start());
        const long reads = server_.counts()[fault_in_server][fault_read];
        ASSERT_TRUE(server_->stop());
        for (long at = 1; at <= reads; ++at) {
            fs::resize_file(server_->home().parent_path() / "output", 0);
            server_.arm({fault_in_server, fault_read, EIO, at, database});
            const auto started = server_->start();
            server_.disarm();
            SCOPED_TRACE(fmt::format("read {} of {} of {}: {}", at, reads, database, server_.place()));
            EXPECT_TRUE(server_.happened());
            if (started) {
                expect_state(before, "started all the same");
                ASSERT_TRUE(server_->stop());
                continue;
            }
            EXPECT_THAT(started.message(), HasSubstr(database));
            EXPECT_THAT(started.message(), testing::Not(HasSubstr("damaged")));
            EXPECT_THAT(started.message(),
                        testing::AnyOf(HasSubstr("Input/output error"), HasSubstr("disk I/O error")));
        }
        server_.arm({fault_in_server, fault_read, EINTR, 1, database});
        ASSERT_TRUE(server_->start());
        server_.disarm();
        EXPECT_EQ(state_of(*server_), before);
        ASSERT_TRUE(server_->stop());
    }
}

// The folder of all backups is synced after the new one has its name.
TEST_F(EveryCall, ABackupThatIsRefusedIsNotThere) {
    const std::string before = state_of(*server_);
    ASSERT_TRUE(server_.keep());
    for (const int kind : {fault_open, fault_sync}) {
        happened_ = 0;
        for (long at = 1; at <= 2; ++at)
            meets({"backup", {"pbs_config", "backup"}},
                  {fault_in_helper, kind, EIO, at, "server_priv/backups"}, before, before + "backup 1\n",
                  at == 1);
        EXPECT_GT(happened_, 0);
    }
}

TEST_F(EveryCall, AStartWithoutItsPortFileIsRefused) {
    ASSERT_TRUE(server_.keep());
    ASSERT_TRUE(server_.set_back());
    server_.arm({fault_in_server, fault_write, ENOSPC, 1, "server.port.new"});
    const auto started = server_->start();
    server_.disarm();
    EXPECT_FALSE(started);
    EXPECT_THAT(started.message(), HasSubstr("server.port: No space left on device"));
}

// ---- The run of a job, from qrun to its end, in the server and in the processes of the job. ----

class EveryCallOfARun : public EveryCall {
  protected:
    void SetUp() override {
        EveryCall::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        id_ = server_->submit("echo run >> $PBS_O_WORKDIR/marks\necho out\necho err >&2\nexit 3\n",
                              {"-N", "job", "-r", "n", "-o", server_->work() / "out", "-e",
                               server_->work() / "err", "-l", "walltime=00:10:00", "-v", "PBS_JOBDIR=x"});
        ASSERT_TRUE(server_.keep());
    }
    bool set_back() {
        for (const char* name : {"marks", "out", "err"}) fs::remove(server_->work() / name);
        return server_.set_back() && server_->start();
    }
    std::string file(const fs::path& path) const { return pbs::test::file_text(path); }
    // Returns the contents of the job's output file. If the output wasn't delivered, returns those of its
    // file in undelivered/.
    std::string output(const std::string& name, const std::string& suffix) const {
        const std::string text = file(server_->work() / name);
        return !text.empty() ? text : file(server_->home() / "undelivered" / (id_ + suffix));
    }
    std::string shown(const std::string& name) const {
        return attribute_in(server_->command({"qstat", "-x", "-f", id_}).out, name);
    }
    std::string state() const { return shown("job_state"); }
    Output qrun() const { return server_->command({"qrun", id_}); }
    // Waits until the job has ended (F), or has returned to state Q or H after a start that failed. Returns
    // the state.
    std::string wait_for_end() const {
        std::string last;
        const auto begin = Clock::now();
        auto waits_since = begin;
        (void)wait_for(
            [&] {
                last = state();
                if (last != "Q" && last != "H") waits_since = Clock::now();
                return last == "F" || Clock::now() - waits_since > 300ms;
            },
            20s);
        return last;
    }
    int ends() const {
        int count = 0;
        std::istringstream lines(server_->accounting());
        for (std::string line; std::getline(lines, line);)
            if (line.find(";E;" + id_ + ";") != std::string::npos) ++count;
        return count;
    }
    void expect_ended() const {
        EXPECT_EQ(state(), "F");
        EXPECT_EQ(shown("Exit_status"), "3");
        EXPECT_EQ(file(server_->work() / "marks"), "run\n");
        EXPECT_EQ(output("out", ".OU"), "out\n");
        EXPECT_EQ(output("err", ".ER"), "err\n");
    }
    void meets(const Fault& fault);

    std::string id_;
};

void EveryCallOfARun::meets(const Fault& fault) {
    ASSERT_TRUE(set_back());
    server_.arm(fault);
    const Output asked = qrun();
    const std::string reached = wait_for_end();
    server_.disarm();
    ++tried_;
    if (server_.happened()) ++happened_;
    SCOPED_TRACE(fmt::format("run: {}: {}\nqrun: {} {}\nstate {} status {}: {}", text_of(fault),
                             server_.place(), asked.exit, asked.err, reached, shown("Exit_status"),
                             shown("comment")));
    if (!server_->running()) {
        EXPECT_EQ(fault.kind, fault_memory) << "the server has ended: " << asked;
        ++ended_;
        ASSERT_TRUE(server_->start());
        std::string found = wait_for_end();
        if (found != "F") {
            EXPECT_EQ(file(server_->work() / "marks"), "");
            if (found == "H") EXPECT_EQ(server_->command({"qrls", "-h", "s", id_}).exit, 0);
            EXPECT_EQ(qrun().exit, 0) << "the next try";
            found = wait_for_end();
        }
        EXPECT_EQ(found, "F");
        EXPECT_EQ(ends(), 1) << server_->accounting();
        return;
    }
    EXPECT_FALSE(asked.timed_out) << "the server hangs";
    const std::string marks = file(server_->work() / "marks");
    if (reached == "F" && marks == "run\n" && shown("Exit_status") == "3") {
        ++done_;
        expect_ended();
    } else if (reached == "F") {
        // The server gave the run up, or doesn't know how it ended.
        ++refused_;
        EXPECT_THAT(shown("Exit_status"), testing::StartsWith("-"));
        EXPECT_TRUE(gives_reason(server_->log() + server_->accounting() + shown("comment") + asked.err +
                                 output("err", ".ER")))
            << "nothing says why";
        EXPECT_TRUE(marks.empty() || marks == "run\n") << marks;
    } else {
        ++refused_;
        EXPECT_EQ(marks, "");
        EXPECT_TRUE(gives_reason(server_->log() + shown("comment") + asked.err)) << "nothing says why";
        if (reached == "H") EXPECT_EQ(server_->command({"qrls", "-h", "s", id_}).exit, 0);
        EXPECT_EQ(qrun().exit, 0) << "the next try";
        EXPECT_EQ(wait_for_end(), "F") << "after the next try";
        expect_ended();
    }
    const std::string status = shown("Exit_status");
    server_->kill9();
    ASSERT_TRUE(server_->start());
    EXPECT_EQ(state(), "F") << "after a crash";
    EXPECT_EQ(shown("Exit_status"), status) << "after a crash";
    EXPECT_EQ(ends(), 1) << server_->accounting();
    EXPECT_TRUE(wait_for([&] { return fs::is_empty(server_->home() / "mom_priv/jobs"); }, 5s));
}

TEST_F(EveryCallOfARun, FailsOnce) {
    if (!Choice::is_asked_for()) GTEST_SKIP() << Choice::kHow;
    ASSERT_TRUE(set_back());
    server_.arm({});
    ASSERT_EQ(qrun().exit, 0);
    ASSERT_EQ(wait_for_end(), "F");
    const CallCounts counts = server_.counts();
    expect_ended();
    for (const Fault& fault : choice_.of(counts)) {
        if (!goes_on()) return;
        meets(fault);
        if (HasFatalFailure()) return;
    }
}

TEST_F(EveryCallOfARun, NeedsNoThreadThatTheStartHasNotMade) {
    meets({fault_in_server, fault_thread, EAGAIN, 1, {}});
    EXPECT_FALSE(server_.happened()) << server_.place();
}

TEST_F(EveryCallOfARun, AStartThatFailsSaysWhichFile) {
    for (const auto& [kind, error, says] :
         {std::tuple{fault_open, EMFILE, ".job: Too many open files"},
          std::tuple{fault_rename, EACCES, ".started: Permission denied"}}) {
        ASSERT_TRUE(set_back());
        server_.arm({fault_in_helper, kind, error, 1, ".job"});
        ASSERT_EQ(qrun().exit, 0);
        EXPECT_TRUE(wait_for([&] { return shown("comment").find(says) != std::string::npos; }))
            << shown("comment");
        server_.disarm();
    }
}

}  // namespace
}  // namespace pbs::e2e
