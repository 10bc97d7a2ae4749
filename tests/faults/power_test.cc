// Power failures: from a record of what a server did to its disk, the states are made in which a failure may
// leave the disk, and a server is started on each. Everything that was acknowledged is there, and nothing is
// half there.
//
// CTest tries a few states with a seed that is printed; PBSPOLICY_SEED repeats it, and PBSPOLICY_STATES=10000
// tries so many.
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
#include <string>
#include <vector>

#include "tests/faults/crash_states.h"
#include "tests/faults/one_fault.h"
#include "tests/faults/scene.h"

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
        const char* seed = std::getenv("PBSPOLICY_SEED");
        seed_ =
            seed != nullptr ? static_cast<unsigned>(std::strtoul(seed, nullptr, 10)) : std::random_device{}();
        random_.seed(seed_);
        ASSERT_TRUE(server_->start());
        ids_ = set_the_scene(*server_);
        ASSERT_FALSE(ids_.empty());
        ASSERT_TRUE(server_.keep());
        ASSERT_TRUE(server_.set_back());
    }

    // Records what the server does to the disk during `work`, which makes marks.
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
    // Notes in the record that so much has been acknowledged.
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
    // Fails the power after each of these numbers of calls, in ascending order, so that the disk is made
    // once. `check` gets the number of marks before the failure, and the started server.
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
            write(disk_->after(loss, random_));
            ++tried_;
            const auto started = server_->start();
            EXPECT_TRUE(started);
            if (!started) continue;
            check(marked);
            server_->kill9();
        }
    }
    void fail_at_random(std::size_t least, const std::function<void(std::size_t)>& check) {
        const char* many = std::getenv("PBSPOLICY_STATES");
        const long states = many != nullptr ? std::strtol(many, nullptr, 10) : static_cast<long>(least);
        std::vector<std::size_t> instants;
        for (long i = states; i > 0; --i) instants.push_back(random_() % (calls_.size() + 1));
        std::ranges::sort(instants);
        fail_after(
            instants, [this] { return random_loss(); }, check);
        std::printf("power failures: seed %u: %ld states of %zu calls and %zu marks\n", seed_, tried_,
                    calls_.size(), marks_);
    }
    std::string state_of_started() {
        EXPECT_TRUE(server_->start());
        const std::string state = state_of(*server_);
        EXPECT_TRUE(server_.set_back());
        return state;
    }
    // Puts a state of the disk in the place of the home.
    void write(const Disk::State& state) const {
        fs::remove_all(server_->home());
        for (const std::string& folder : state.folders) fs::create_directories(folder);
        for (const auto& [path, text] : state.files) {
            if (path.ends_with("-shm")) continue;  // memory, which no disk has to keep
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
    std::vector<DiskCall> calls_;
};

TEST_F(PowerFailure, LosesNothingThatWasAcknowledged) {
    // The state at each mark, from 0.
    std::vector<std::string> states{state_of_started()};
    record([&] {
        auto all = requests(*server_, ids_);
        std::ranges::shuffle(all, random_);
        // It would take most objects from later requests.
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

// A backup is a folder in a folder that the first one makes: neither may be lost when it is acknowledged.
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
