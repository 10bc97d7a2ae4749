// The interface Executor, by which the server's other folders run jobs. The server uses a
// RunnerExecutor, which calls the Runner (runner.h). Tests use other Executors.
#pragma once

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// The job runner, as other folders see it. Each function does the same as the function of Runner (runner.h)
// with the same name.
class Executor {
  public:
    Executor() = default;
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;
    virtual ~Executor() = default;

    virtual bool may_run_as(uid_t uid, std::string& reason) const = 0;
    virtual Result<void> start(JobStart job) = 0;
    virtual Result<void> signal(const RunId& id, int signal) = 0;
    virtual Result<void> suspend(const RunId& id) { return signal(id, SIGSTOP); }
    virtual Result<void> resume(const RunId& id) { return signal(id, SIGCONT); }
    virtual Result<void> set_limits(const RunId& id, std::optional<std::chrono::seconds> walltime,
                                    std::optional<std::chrono::seconds> cput) = 0;
    virtual Result<void> set_weight(const RunId& id, int weight) = 0;
    virtual Result<void> terminate(const RunId& id, std::chrono::seconds kill_delay) = 0;
    virtual std::optional<ExitRecord> used(const RunId& id) const = 0;
    virtual std::vector<RunReport> events() = 0;
    virtual void forget(const RunId& id) = 0;
};

class RunnerExecutor final : public Executor {
  public:
    explicit RunnerExecutor(Runner& runner) : runner_(runner) {}
    bool may_run_as(uid_t uid, std::string& reason) const override { return runner_.may_run_as(uid, reason); }
    Result<void> start(JobStart job) override { return runner_.start(std::move(job)); }
    Result<void> signal(const RunId& id, int signal) override { return runner_.signal(id, signal); }
    Result<void> suspend(const RunId& id) override { return runner_.suspend(id); }
    Result<void> resume(const RunId& id) override { return runner_.resume(id); }
    Result<void> set_limits(const RunId& id, std::optional<std::chrono::seconds> walltime,
                            std::optional<std::chrono::seconds> cput) override {
        return runner_.set_limits(id, walltime, cput);
    }
    Result<void> set_weight(const RunId& id, int weight) override { return runner_.set_weight(id, weight); }
    Result<void> terminate(const RunId& id, std::chrono::seconds kill_delay) override {
        return runner_.terminate(id, kill_delay);
    }
    std::optional<ExitRecord> used(const RunId& id) const override { return runner_.used(id); }
    std::vector<RunReport> events() override { return runner_.events(); }
    void forget(const RunId& id) override { runner_.forget(id); }

  private:
    Runner& runner_;
};

}  // namespace pbs::host
