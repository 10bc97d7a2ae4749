// Runs a cycle, or a query of the scheduler's state, in a thread, while the server answers requests.

#include <cassert>
#include <csignal>
#include <system_error>
#include <utility>

#include "server_plugin/scheduler/scheduler.h"
#include "server_plugin/scheduler/scheduler_impl.h"

namespace pbs::sched {
namespace {

// Blocks signals while the thread is made, because they are for the server's own threads.
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

bool Scheduler::start(Instant now, bool takes_long, const std::function<void()>& work,
                      std::function<void()> finished) {
    Background& background = impl_->background;
    assert(!background.runs);  // one piece of work at a time
    background.thrown = nullptr;
    if (!takes_long) {
        work();
        return false;
    }
    background.status.clear();
    for (const auto& [name, known] : impl_->scheds) background.status.emplace(name, status(now, name));
    background.over = false;
    background.takes_in = std::thread::id();
    const auto in_its_thread = [this, &background, work, finished = std::move(finished)] {
        try {
            work();
            take_in();
        } catch (...) {
            background.thrown = std::current_exception();
        }
        background.over = true;
        finished();
    };
    try {
        const SignalsBlocked blocked;
        background.thread = std::jthread(in_its_thread);
        background.runs = true;
    } catch (const std::system_error&) {
        // No thread can be made: do the work here, while requests wait.
        work();
    }
    return background.runs;
}

bool Scheduler::start_cycle(Instant now, std::string_view sched, CycleTrigger trigger,
                            const std::function<void(Decisions)>& take, std::function<void()> finished,
                            const std::function<void(Inspector&)>& before) {
    settle();
    const auto work = [impl = impl_.get(), now, name = std::string(sched), trigger, take, before] {
        Inspector inspector(*impl);
        if (before) before(inspector);
        take(impl->run(now, name, trigger, false));
    };
    const bool takes_long = (before && impl_->looks_take_long()) || impl_->cycle_takes_long(sched, now);
    return start(now, takes_long, work, std::move(finished));
}

bool Scheduler::start_look(Instant now, const std::function<void(Inspector&)>& look,
                           std::function<void()> finished) {
    settle();
    const auto work = [impl = impl_.get(), look] {
        Inspector inspector(*impl);
        look(inspector);
    };
    return start(now, impl_->looks_take_long(), work, std::move(finished));
}

bool Scheduler::at_work() const {
    return impl_->background.runs;
}

bool Scheduler::work_is_over() const {
    return impl_->background.runs && impl_->background.over;
}

// Applies the events that came during the work. There may be many, and settle() makes its caller wait, so the
// thread applies them itself, and then those that have come meanwhile.
void Scheduler::take_in() {
    Background& background = impl_->background;
    background.takes_in = std::this_thread::get_id();
    deliver_kept();
    deliver_kept();
    background.takes_in = std::thread::id();
}

void Scheduler::deliver_kept() {
    for (std::string& line : impl_->background.events.deliver(*this))
        impl_->background.refused.push_back(std::move(line));
}

void Scheduler::settle() const {
    if (!impl_->works_elsewhere()) return;
    impl_->background.thread.join();
    impl_->background.runs = false;
    // The stored events came before this call. So a const function that applies them changes nothing in its
    // caller's view.
    const_cast<Scheduler&>(*this).deliver_kept();
}

std::vector<std::string> Scheduler::finish_work() {
    settle();
    if (const auto thrown = std::exchange(impl_->background.thrown, nullptr)) std::rethrow_exception(thrown);
    return std::exchange(impl_->background.refused, {});
}

Inspector Scheduler::inspect() {
    settle();
    return Inspector(*impl_);
}

Decisions Scheduler::rehearse(Instant now, std::string_view sched, CycleTrigger trigger) {
    return inspect().rehearse(now, sched, trigger);
}

void Scheduler::describe(const std::function<void(const StateRecord&)>& sink) const {
    settle();
    Inspector(*impl_).describe(sink);
}

std::optional<Explanation> Scheduler::explain(Instant now, std::string_view job_id) {
    return inspect().explain(now, job_id);
}

const rrule::Zone& Inspector::zone() const {
    return impl_->tables.zone;
}

bool Inspector::divides_chunks() const {
    return impl_->tables.divides_chunks;
}

bool Inspector::preempts() const {
    return impl_->tables.preempts;
}

}  // namespace pbs::sched
