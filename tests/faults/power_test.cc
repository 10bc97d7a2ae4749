// Power failures: from a record of what a server did to its disk, the states are made in which a failure may
// leave the disk, and a server is started on each. Everything that was acknowledged is there, and nothing is
// half there.
//
// CTest tries some hundred states with a seed that is printed; PBSPOLICY_SEED repeats it, and
// PBSPOLICY_STATES=10000 tries more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
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
        ASSERT_TRUE(server_->start());
        ids_ = set_the_scene(*server_);
        ASSERT_FALSE(ids_.empty());
        ASSERT_TRUE(server_.keep());
        ASSERT_TRUE(server_.set_back());
    }

    // Records the requests, and a mark after each acknowledgement; states_[i] is the state at mark i.
    void record() {
        disk_.emplace(server_->home());
        path_ = server_.record(true);
        ASSERT_TRUE(server_->start());
        states_.push_back(state_of(*server_));
        mark();
        auto all = requests(*server_, ids_);
        std::ranges::shuffle(all, random_);
        for (const Request& request : all) {
            if (ask(*server_, request).exit != 0) continue;
            states_.push_back(state_of(*server_));
            mark();
        }
        server_->kill9();
        server_.record(false);
        calls_ = read_record(path_);
    }
    void mark() const {
        const std::string number = std::to_string(states_.size() - 1);
        const record_entry entry{record_mark, 0, 0, static_cast<std::uint32_t>(number.size()), 0, 0};
        std::string text(reinterpret_cast<const char*>(&entry), sizeof entry);
        text += number;
        recording& shared = server_.counters().recording;
        while (__atomic_exchange_n(&shared.locked, 1, __ATOMIC_ACQUIRE) != 0) ::usleep(100);
        std::ofstream(path_, std::ios::app | std::ios::binary) << text << std::flush;
        shared.entries = shared.entries + 1;
        __atomic_store_n(&shared.locked, 0, __ATOMIC_RELEASE);
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
    std::mt19937 random_;
    std::optional<Disk> disk_;
    fs::path path_;
    std::vector<std::string> states_;
    std::vector<DiskCall> calls_;
};

TEST_F(PowerFailure, LosesNothingThatWasAcknowledged) {
    const char* many = std::getenv("PBSPOLICY_STATES");
    if (many == nullptr) GTEST_SKIP() << "PBSPOLICY_STATES=1000 tries so many states of the disk";
    const char* seed_text = std::getenv("PBSPOLICY_SEED");
    const unsigned seed = seed_text != nullptr ? static_cast<unsigned>(std::strtoul(seed_text, nullptr, 10))
                                               : std::random_device{}();
    random_.seed(seed);
    std::printf("power failures: seed %u\n", seed);
    record();
    if (HasFatalFailure()) return;
    for (const auto& entry : fs::recursive_directory_iterator(server_->home()))
        if (entry.is_directory()) modes_[entry.path().string()] = entry.status().permissions();
    ASSERT_GT(calls_.size(), 500U);
    ASSERT_GT(states_.size(), 10U);

    // Failures in the order of the record, so that the disk is made once.
    std::vector<std::size_t> instants;
    for (long i = std::strtol(many, nullptr, 10); i > 0; --i)
        instants.push_back(random_() % (calls_.size() + 1));
    std::ranges::sort(instants);
    std::size_t at = 0;
    std::size_t marked = 0;
    bool begun = false;
    long tried = 0;
    for (const std::size_t instant : instants) {
        for (; at < instant; ++at) {
            disk_->apply(calls_[at], static_cast<long>(at));
            if (calls_[at].type != record_mark) continue;
            marked = static_cast<std::size_t>(std::stoul(calls_[at].data));
            begun = true;
        }
        const Loss loss = random_loss();
        SCOPED_TRACE(fmt::format("power failure after call {} of {}, {} acknowledged; {}", instant,
                                 calls_.size(), marked, text_of(loss)));
        write(disk_->after(loss, random_));
        ++tried;
        const auto started = server_->start();
        EXPECT_TRUE(started);
        if (!started) continue;
        const std::string found = state_of(*server_);
        const std::string& expected = states_[marked];
        const bool next = begun && marked + 1 < states_.size() && found == states_[marked + 1];
        EXPECT_TRUE(found == expected || next) << differences_of(expected, found);
        server_->kill9();
    }
    std::printf("power failures: %ld states of %zu calls and %zu acknowledgements\n", tried, calls_.size(),
                states_.size());
}

}  // namespace
}  // namespace pbs::e2e
