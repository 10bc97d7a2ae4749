// A cycle in a thread of its own, beside which the server answers requests.

#include <csignal>
#include <system_error>
#include <utility>

#include "server_plugin/scheduler/scheduler.h"
#include "server_plugin/scheduler/scheduler_impl.h"

namespace pbs::sched {
namespace {

// Signals are the business of the threads that the server has of its own.
class SignalsBlocked {
  public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  private:
    sigset_t before_{};
};

}  // namespace

std::size_t Scheduler::Impl::queued_jobs() const {
    std::size_t count = 0;
    for (QueueSlot q = 0; q < tables.queues.size(); ++q) count += tables.queues[q].queued.size();
    return count;
}

void Scheduler::set_long_cycle(std::size_t queued_jobs) {
    impl_->long_cycle = queued_jobs;
}

bool Scheduler::start_cycle(Instant now, std::string_view sched, CycleTrigger trigger,
                            const std::function<void(Decisions)>& take, std::function<void()> finished) {
    settle();
    BackgroundCycle& background = impl_->background;
    background.thrown = nullptr;
    if (impl_->queued_jobs() < impl_->long_cycle) {
        take(cycle(now, sched, trigger));
        return false;
    }
    background.status.clear();
    for (const auto& [name, known] : impl_->scheds) background.status.emplace(name, status(now, name));
    const auto work = [impl = impl_.get(), now, name = std::string(sched), trigger, take,
                       finished = std::move(finished)] {
        try {
            take(impl->run(now, name, trigger, false));
        } catch (...) {
            impl->background.thrown = std::current_exception();
        }
        finished();
    };
    try {
        const SignalsBlocked blocked;
        background.thread = std::jthread(work);
        background.runs = true;
    } catch (const std::system_error&) {
        // No thread is to be had: then requests wait.
        take(cycle(now, sched, trigger));
    }
    return background.runs;
}

bool Scheduler::cycle_runs() const {
    return impl_->background.runs;
}

void Scheduler::settle() const {
    BackgroundCycle& background = impl_->background;
    if (!background.runs) return;
    background.thread.join();
    background.runs = false;
    // What was kept had come already: to callers of const functions nothing changes.
    for (std::string& line : background.events.deliver(const_cast<Scheduler&>(*this)))
        background.refused.push_back(std::move(line));
}

std::vector<std::string> Scheduler::finish_cycle() {
    settle();
    if (const auto thrown = std::exchange(impl_->background.thrown, nullptr)) std::rethrow_exception(thrown);
    return std::exchange(impl_->background.refused, {});
}

}  // namespace pbs::sched
