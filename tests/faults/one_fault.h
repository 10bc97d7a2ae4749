// A fault (a call that fails once), and a server in which it happens. The test can restore the server's home,
// so that every fault happens in the same state.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/faults/environment.h"
#include "tests/faults/fault_counters.h"
#include "tests/faults/fault_kinds.h"

namespace pbs::e2e {

using CallCounts = std::array<std::array<long, fault_kinds>, fault_programs>;

// Chooses the faults to try: all in order, or a random sample as long as there is time. Variables of the
// environment say which. PBSPOLICY_FAULTS_PART is sample, all, or 2/10 for every tenth fault beginning with
// number 2. PBSPOLICY_SEED repeats a sample. PBSPOLICY_FAULTS_KIND=memory takes only faults of this kind;
// "calls", all kinds but memory. A sample takes the kinds in turn, except memory.
class Choice {
  public:
    // Samples run only on demand, as they still find errors in the server.
    static bool is_asked_for() { return std::getenv("PBSPOLICY_FAULTS_PART") != nullptr; }
    static constexpr const char* kHow = "PBSPOLICY_FAULTS_PART=sample tries faults at random";

    Choice() {
        if (const char* kind = std::getenv("PBSPOLICY_FAULTS_KIND")) only_ = kind;
        if (const char* text = std::getenv("PBSPOLICY_FAULTS_PART")) {
            if (std::string_view(text) != "sample") part_ = 0;
            if (part_ && std::string_view(text) != "all") (void)std::sscanf(text, "%d/%d", &*part_, &parts_);
        }
        seed_ = random_seed();
        random_.seed(seed_);
    }
    bool all() const { return part_.has_value(); }
    unsigned seed() const { return seed_; }
    std::mt19937& random() { return random_; }

    // Returns the faults to try in programs that make these numbers of calls.
    std::vector<Fault> of(const CallCounts& counts) {
        std::vector<std::vector<Fault>> each;
        for (int program = 0; program < fault_programs; ++program)
            for (int kind = 0; kind < fault_kinds; ++kind) {
                if (!takes(kind)) continue;
                std::vector<Fault> faults;
                const long calls = counts[static_cast<std::size_t>(program)][static_cast<std::size_t>(kind)];
                for (long at = 1; at <= calls; ++at)
                    for (const int error : kinds_of_faults()[static_cast<std::size_t>(kind)].errors)
                        faults.push_back({program, kind, error, at, {}});
                if (!all()) std::ranges::shuffle(faults, random_);
                if (!faults.empty()) each.push_back(std::move(faults));
            }
        std::vector<Fault> chosen;
        if (all()) {
            for (const auto& faults : each)
                for (const Fault& fault : faults)
                    if (number_++ % parts_ == *part_ % parts_) chosen.push_back(fault);
            return chosen;
        }
        std::ranges::shuffle(each, random_);
        for (std::size_t i = 0, found = 1; found > 0; ++i) {
            found = 0;
            for (const auto& faults : each)
                if (i < faults.size()) {
                    chosen.push_back(faults[i]);
                    ++found;
                }
        }
        return chosen;
    }

  private:
    bool takes(int kind) const {
        if (only_.empty()) return all() || kind != fault_memory;
        if (only_ == "calls") return kind != fault_memory;
        return kinds_of_faults()[static_cast<std::size_t>(kind)].name == only_;
    }

    std::string only_;
    std::optional<int> part_;
    int parts_ = 1;
    int number_ = 0;
    unsigned seed_ = 0;
    std::mt19937 random_;
};

// A server with faults.c preloaded, in which a test causes faults.
class FaultyServer {
  public:
    FaultyServer() {
        Server::Options options;
        options.program = counters_.server();
        options.patience = std::chrono::seconds(60);
        server_ = std::make_unique<Server>(options);
    }
    FaultyServer(const FaultyServer&) = delete;
    FaultyServer& operator=(const FaultyServer&) = delete;

    Server& operator*() const { return *server_; }
    Server* operator->() const { return server_.get(); }
    faults& counters() const { return *counters_.at; }

    // Stops the server, and keeps a copy of its home. set_back() restores the home from this copy.
    ::testing::AssertionResult keep() {
        if (auto stopped = server_->stop(); !stopped) return stopped;
        return copy(server_->home(), kept());
    }
    ::testing::AssertionResult set_back() {
        server_->kill9();
        std::filesystem::remove_all(server_->home());
        return copy(kept(), server_->home());
    }

    // Chooses whether later starts of the server record the calls that change its home (record.h). Returns
    // the record's path.
    std::filesystem::path record(bool on) const {
        const std::filesystem::path path = counters_.folder() / "record";
        if (on) std::ofstream(path, std::ios::trunc).flush();
        (void)counters_.server(
            on ? std::map<std::string, std::string>{{"PBSPOLICY_RECORD", path.string()},
                                                    {"PBSPOLICY_RECORD_BELOW", server_->home().string()}}
               : std::map<std::string, std::string>{});
        return path;
    }

    // Makes programs read another boot id, as after a restart of the machine (faults.c).
    void boot() const {
        faults& counters = *counters_.at;
        counters.boots = counters.boots + 1;
    }

    // Sets the fault that is to happen, and sets the counters of calls to 0.
    void arm(const Fault& fault) const {
        faults& counters = *counters_.at;
        counters.at = 0;
        for (auto& program : counters.count)
            for (volatile long& count : program) count = 0;
        counters.happened = 0;
        counters.what[0] = counters.where[0] = '\0';
        counters.program = fault.program;
        counters.kind = fault.kind;
        counters.error = fault.error;
        (void)std::snprintf(counters.of, sizeof counters.of, "%s", fault.of.c_str());
        counters.at = fault.at;
    }
    // Removes the fault: all further calls succeed.
    void disarm() const { counters_.at->at = 0; }
    bool happened() const { return counters_.at->happened != 0; }
    std::string place() const { return fmt::format("{} at {}", counters_.at->what, counters_.at->where); }
    CallCounts counts() const {
        CallCounts all{};
        for (std::size_t program = 0; program < all.size(); ++program)
            for (std::size_t kind = 0; kind < all[program].size(); ++kind)
                all[program][kind] = counters_.at->count[program][kind];
        return all;
    }

  private:
    std::filesystem::path kept() const { return counters_.folder() / "kept"; }
    static ::testing::AssertionResult copy(const std::filesystem::path& from,
                                           const std::filesystem::path& to) {
        const Output done = run({"cp", "-a", from.string(), to.string()});
        return done.exit == 0 ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << done;
    }

    FaultCounters counters_;
    std::unique_ptr<Server> server_;  // uses counters_, so it has to be destroyed first
};

}  // namespace pbs::e2e
