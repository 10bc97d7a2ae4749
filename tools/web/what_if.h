// Compares two policies with pbs_simulate(8): one comparison at a time, at low priority and for a limited
// time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <tl/expected.hpp>

#include "tools/web/page.h"
#include "values/mutex.h"

namespace pbs::web {

/// A requested comparison.
struct Comparison {
    std::string month;    ///< YYYY-MM: the month whose jobs are simulated
    std::string first;    ///< name of a policy
    std::string second;   ///< name of another policy; empty: `changes` are compared with `first`
    std::string changes;  ///< directives of qmgr(8) that change the configuration
};

/// Parses {"month":..., "first":..., "second":...} or {..., "changes":...}. Errors say what was expected.
tl::expected<Comparison, std::string> parse_comparison(std::string_view json);

class WhatIf {
  public:
    struct Limits {
        std::chrono::seconds time{600};
        std::uint64_t bytes = std::uint64_t{64} << 20;  // largest file that it may write
    };
    /// `program` is the path of pbs_simulate. `server` is the server that it asks; empty: the default one.
    WhatIf(std::string program, std::string server, Limits limits)
        : program_(std::move(program)), server_(std::move(server)), limits_(limits) {}
    WhatIf(std::string program, std::string server)
        : WhatIf(std::move(program), std::move(server), Limits()) {}
    /// Kills the comparison if one is running.
    ~WhatIf();
    WhatIf(const WhatIf&) = delete;
    WhatIf& operator=(const WhatIf&) = delete;

    /// Starts a comparison. False: one is running already.
    bool start(const Comparison& comparison);
    /// Adds the last comparison to an answer, as the member "comparison"; null if there is none.
    void tell(Answer& answer) const;
    /// Returns the plots of the last comparison. nullptr: there are none, or the answer of the last tell()
    /// hides them.
    std::shared_ptr<const std::string> plots() const;
    bool running() const;

  private:
    enum class Phase { none, running, done, failed };
    struct Outcome {
        std::string error{};
        Json report{};
        std::string plots{};
    };
    Outcome simulate(const Comparison& comparison);
    bool wait_for_end(int pid, int& status);

    const std::string program_;
    const std::string server_;
    const Limits limits_;
    mutable values::Mutex mutex_;
    std::condition_variable_any stop_;
    bool over_ PBS_GUARDED_BY(mutex_) = false;
    Phase phase_ PBS_GUARDED_BY(mutex_) = Phase::none;
    Comparison comparison_ PBS_GUARDED_BY(mutex_);
    Outcome outcome_ PBS_GUARDED_BY(mutex_);
    std::shared_ptr<const std::string> plots_ PBS_GUARDED_BY(mutex_);
    mutable bool shows_plots_ PBS_GUARDED_BY(mutex_) = false;
    std::thread thread_;  // start() makes it while it holds the mutex; the destructor joins it
};

/// Returns the path of pbs_simulate: beside this program or, if it isn't there, as the shell finds it.
std::string simulate_program();

}  // namespace pbs::web
