// Tests power failures. A record has the calls by which a server changed its disk. From it, a test computes
// states in which a power failure may leave the disk, and starts a server on each. All acknowledged changes
// must be there, and each must be whole.
//
// CTest tries a few states with a seed that it prints. PBSPOLICY_SEED=SEED repeats them, and
// PBSPOLICY_STATES=10000 makes that many, of which equal ones are tried once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/faults/crash_states.h"
#include "tests/faults/environment.h"
#include "tests/faults/one_fault.h"
#include "tests/faults/scene.h"
#include "tests/file_text.h"

namespace pbs::e2e {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::string text_of(Loss::Part part) {
    switch (part) {
        case Loss::Part::nothing:
            return "nothing";
        case Loss::Part::all:
            return "all";
        case Loss::Part::some:
            return "some";
    }
    return "";
}
std::string text_of(const Loss& loss) {
    return fmt::format("lost of data: {}, of names: {}{}{}, sectors of {}{}", text_of(loss.data),
                       text_of(loss.names), loss.ordered_names ? ", in order" : "",
                       loss.sync_keeps_name ? ", but synced files" : "", loss.sector,
                       loss.zeros ? ", lengths before data" : "");
}

class PowerFailure : public ::testing::Test {
  protected:
    void SetUp() override {
        NEEDS(own_server);
        if (PBS_SANITIZED != 0) GTEST_SKIP() << "the sanitizers want to be loaded first";
        seed_ = random_seed();
        random_.seed(seed_);
        ASSERT_TRUE(server_->start());
        ids_ = set_the_scene(*server_);
        ASSERT_FALSE(ids_.empty());
        ASSERT_TRUE(server_.keep());
        ASSERT_TRUE(server_.set_back());
    }

    // Records the calls by which a server changes the disk while work() runs. work() calls mark().
    void record(const std::function<void()>& work) {
        disk_.emplace(server_->home());
        path_ = server_.record(true);
        ASSERT_TRUE(server_->start());
        work();
        server_->kill9();
        server_.record(false);
        calls_ = read_record(path_);
        for (const auto& entry : fs::recursive_directory_iterator(server_->home()))
            if (entry.is_directory()) modes_[entry.path().string()] = entry.status().permissions();
    }
    // Adds an entry to the record. It says that all requests before it are acknowledged.
    void mark() {
        const std::string number = std::to_string(++marks_);
        const record_entry entry{record_mark, 0, 0, static_cast<std::uint32_t>(number.size()), 0, 0};
        std::string text(reinterpret_cast<const char*>(&entry), sizeof entry);
        text += number;
        recording& shared = server_.counters().recording;
        while (__atomic_exchange_n(&shared.locked, 1, __ATOMIC_ACQUIRE) != 0) ::usleep(100);
        std::ofstream(path_, std::ios::app | std::ios::binary) << text << std::flush;
        shared.entries = shared.entries + 1;
        __atomic_store_n(&shared.locked, 0, __ATOMIC_RELEASE);
    }
    // For each number of calls in `instants`, lets the power fail after this many calls, starts a server, and
    // runs check(), which gets the number of marks before the failure. The numbers ascend, so that each call
    // is applied only once.
    void fail_after(const std::vector<std::size_t>& instants, const std::function<Loss()>& next_loss,
                    const std::function<void(std::size_t)>& check) {
        std::size_t at = 0;
        std::size_t marked = 0;
        for (const std::size_t instant : instants) {
            for (; at < instant; ++at) {
                disk_->apply(calls_[at], static_cast<long>(at));
                if (calls_[at].type == record_mark) marked = std::stoul(calls_[at].data);
            }
            const Loss loss = next_loss();
            SCOPED_TRACE(fmt::format("power failure after call {} of {}, {} marks; {}", instant,
                                     calls_.size(), marked, text_of(loss)));
            const Disk::State state = disk_->after(loss, random_);
            // Try equal states once: different losses may leave the same state.
            if (!tried_states_.insert(number_of(state, marked)).second) continue;
            write(state);
            // A power failure restarts the machine, so it gets another boot id.
            server_.boot();
            ++tried_;
            const auto started = server_->start();
            EXPECT_TRUE(started);
            if (!started) continue;
            check(marked);
            server_->kill9();
        }
    }
    void fail_at_random(std::size_t least, const std::function<void(std::size_t)>& check) {
        const long states = environment_number("PBSPOLICY_STATES", static_cast<long>(least));
        std::vector<std::size_t> instants;
        for (long i = states; i > 0; --i) instants.push_back(random_() % (calls_.size() + 1));
        std::ranges::sort(instants);
        fail_after(
            instants, [this] { return random_loss(); }, check);
        std::printf("power failures: seed %u: %ld different ones of %ld states, %zu calls and %zu marks\n",
                    seed_, tried_, states, calls_.size(), marks_);
    }
    // Returns a hash of a state and of `marked`. Different ones have, as good as always, different hashes.
    static std::size_t number_of(const Disk::State& state, std::size_t marked) {
        std::size_t number = marked;
        const auto add = [&](const std::string& text) {
            number = number * 0x9E3779B97F4A7C15 + std::hash<std::string>()(text);
        };
        for (const std::string& folder : state.folders) add(folder);
        for (const auto& [path, text] : state.files) {
            if (path.ends_with("-shm")) continue;  // write() leaves these files out
            add(path);
            add(text);
        }
        return number;
    }
    static std::string file(const fs::path& path) { return pbs::test::file_text(path); }
    std::string state_of_started() {
        EXPECT_TRUE(server_->start());
        const std::string state = state_of(*server_);
        EXPECT_TRUE(server_.set_back());
        return state;
    }
    // Replaces the home by this state of the disk.
    void write(const Disk::State& state) const {
        fs::remove_all(server_->home());
        for (const std::string& folder : state.folders) fs::create_directories(folder);
        for (const auto& [path, text] : state.files) {
            if (path.ends_with("-shm")) continue;  // shared memory of SQLite, which makes it anew
            std::ofstream(path, std::ios::binary) << text;
            fs::permissions(path, fs::perms(0600));
        }
        for (const auto& [folder, mode] : modes_)
            if (state.folders.contains(folder)) fs::permissions(folder, mode);
    }
    Loss random_loss() {
        constexpr Loss::Part kParts[] = {Loss::Part::nothing, Loss::Part::all, Loss::Part::some,
                                         Loss::Part::some};
        Loss loss;
        loss.data = kParts[random_() % 4];
        loss.names = kParts[random_() % 4];
        loss.sector = random_() % 2 == 0 ? 512 : 4096;
        loss.ordered_names = random_() % 3 != 0;
        loss.sync_keeps_name = random_() % 2 == 0;
        loss.zeros = random_() % 3 == 0;
        return loss;
    }

    FaultyServer server_;
    std::map<std::string, std::string> ids_;
    std::map<std::string, fs::perms> modes_;
    unsigned seed_ = 0;
    std::mt19937 random_;
    std::optional<Disk> disk_;
    fs::path path_;
    std::size_t marks_ = 0;
    long tried_ = 0;
    std::set<std::size_t> tried_states_;  // number_of() of the states that were tried
    std::vector<DiskCall> calls_;
};

TEST_F(PowerFailure, LosesNothingThatWasAcknowledged) {
    // The server's state before the first mark, and then at each mark.
    std::vector<std::string> states{state_of_started()};
    record([&] {
        auto all = requests(*server_, ids_);
        std::ranges::shuffle(all, random_);
        // Rollbacks come last, as they remove objects that other requests need.
        std::ranges::partition(all, [](const Request& request) { return request.name != "rollback"; });
        for (const Request& request : all) {
            if (ask(*server_, request).exit != 0) continue;
            states.push_back(state_of(*server_));
            mark();
        }
    });
    if (HasFatalFailure()) return;
    ASSERT_GT(calls_.size(), 500U);
    ASSERT_GT(states.size(), 10U);
    fail_at_random(12, [&](std::size_t marked) {
        const std::string found = state_of(*server_);
        const bool next = marked + 1 < states.size() && found == states[marked + 1];
        EXPECT_TRUE(found == states[marked] || next) << differences_of(states[marked], found);
    });
}

// Jobs of each kind run when the power fails. After the failure, a job has ended if its end was seen before;
// another job runs again or is closed. The server needs nobody to look for the jobs' processes, as they ended
// with the earlier boot.
class PowerFailureOfJobs : public PowerFailure {
  protected:
    enum class Seen { submitted, running, ended };
    struct Event {
        Seen seen;
        std::string job;
        std::string status;
    };
    struct Known {
        bool runs_again;
        Seen seen = Seen::submitted;
        std::string status{};
    };

    void see(Seen seen, const std::string& job, const std::string& status = {}) {
        events_.push_back({seen, job, status});
        mark();
    }
    std::string submit(const std::string& name, const std::string& script, bool runs_again) {
        const std::string id =
            server_->submit("echo $PBS_JOBID >> $PBS_O_WORKDIR/ran\n" + script,
                            {"-N", name, "-r", runs_again ? "y" : "n", "-o", "/dev/null", "-e", "/dev/null"});
        runs_again_[id] = runs_again;
        see(Seen::submitted, id);
        return id;
    }
    void run(const std::string& id) {
        EXPECT_EQ(server_->command({"qrun", id}).exit, 0);
        EXPECT_TRUE(wait_for([&] { return file(server_->work() / "ran").find(id) != std::string::npos; }));
        see(Seen::running, id);
    }
    void wait_for_end(const std::string& id, const std::string& status) {
        EXPECT_TRUE(server_->wait_job_state(id, "F"));
        EXPECT_EQ(server_->job(id, "Exit_status"), status);
        see(Seen::ended, id, status);
    }
    std::map<std::string, Known> known_at(std::size_t marked) const {
        std::map<std::string, Known> all;
        for (std::size_t i = 0; i < marked; ++i) {
            const Event& event = events_[i];
            Known& known = all.try_emplace(event.job, Known{runs_again_.at(event.job)}).first->second;
            known.seen = event.seen;
            known.status = event.status;
        }
        return all;
    }
    void check(std::size_t marked) {
        EXPECT_TRUE(wait_for(
            [&] {
                return server_->command({"qselect", "-s", "RE"}).out.empty();
            },
            20s))
            << server_->command({"qstat", "-x", "-f"}).out;
        for (const auto& [id, known] : known_at(marked)) {
            const std::string listing = server_->command({"qstat", "-x", "-f", id}).out;
            const std::string state = attribute_in(listing, "job_state");
            const std::string status = attribute_in(listing, "Exit_status");
            if (known.seen == Seen::ended) {
                EXPECT_EQ(state + " " + status, "F " + known.status) << listing;
            } else if (known.seen == Seen::running && !known.runs_again) {
                EXPECT_EQ(state, "F") << listing;
            } else {
                EXPECT_TRUE(state == "F" || state == "Q") << listing;
            }
            EXPECT_LE(ends_of(id), 1) << server_->accounting();
        }
    }
    // Counts the whole records of the job's end. A power failure may also leave a part of a record.
    int ends_of(const std::string& id) const {
        int count = 0;
        std::istringstream lines(server_->accounting());
        for (std::string line; std::getline(lines, line);)
            if (line.find(";E;" + id + ";") == 19 && line.find(" run_count=") != std::string::npos) ++count;
        return count;
    }

    std::vector<Event> events_;
    std::map<std::string, bool> runs_again_;
};

TEST_F(PowerFailureOfJobs, LosesNoEndAndRunsNoneTwice) {
    record([&] {
        const std::string go = (server_->work() / "go").string();
        const std::string waits = "while [ ! -e " + go + " ]; do sleep 0.02; done\nexit 4\n";
        for (const bool again : {true, false}) {
            const std::string quick = submit("quick", "exit 3\n", again);
            const std::string slow = submit("slow", waits, again);
            const std::string deleted = submit("deleted", "sleep 100\n", again);
            run(quick);
            run(slow);
            wait_for_end(quick, "3");
            run(deleted);
            std::ofstream(go) << "x";
            EXPECT_EQ(server_->command({"qdel", deleted}).exit, 0);
            wait_for_end(slow, "4");
            wait_for_end(deleted, "271");
            fs::remove(go);
        }
    });
    if (HasFailure()) return;
    fail_at_random(12, [&](std::size_t marked) { check(marked); });
}

// After the failure, only the .started file of a job's start shows that the job had processes.
TEST_F(PowerFailureOfJobs, NoJobIsHeldForProcessesOfAnotherBoot) {
    record([&] {
        run(submit("again", "sleep 100\n", true));
        run(submit("once", "sleep 100\n", false));
        EXPECT_EQ(server_->command({"qdel", events_[0].job, events_[2].job}).exit, 0);
        EXPECT_TRUE(server_->wait_job_state(events_[2].job, "F"));
    });
    if (HasFailure()) return;
    std::vector<std::size_t> instants;
    for (std::size_t i = 0; i < calls_.size(); ++i)
        if (calls_[i].type == record_mark && calls_[i].data == "4") instants.push_back(i + 1);
    ASSERT_FALSE(instants.empty());
    fail_after(
        instants, [] { return Loss{}; }, [&](std::size_t marked) { check(marked); });
}

// The first backup makes the folder for backups, and in it a folder for itself. An acknowledged backup has
// both folders.
TEST_F(PowerFailure, LosesNoBackup) {
    record([&] {
        ASSERT_EQ(server_->command({"pbs_config", "backup"}).exit, 0);
        mark();
    });
    if (HasFatalFailure()) return;
    Loss most;
    most.names = Loss::Part::all;
    fail_after(
        {calls_.size()}, [&] { return most; },
        [&](std::size_t) { EXPECT_THAT(state_of(*server_), testing::HasSubstr("backup 1")); });
}

}  // namespace
}  // namespace pbs::e2e
