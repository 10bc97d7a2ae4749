#include "server_plugin/host/change/commit_group.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/accounting.h"
#include "server_plugin/host/base/guard.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/store/store.h"

namespace pbs::host {
namespace {

template <typename Action>
Result<void> without_exceptions(Action&& action) {
    try {
        return action();
    } catch (const std::exception& error) {
        return fail(PBSE_SYSTEM, error.what());
    }
}

}  // namespace

Result<void> CommitGroup::write(const std::function<Result<void>()>& what) {
    Store& store = server_.parts.store;
    if (!begun_) {
        if (auto done = without_exceptions([&] { return store.begin(); }); !done) return done;
        begun_ = true;
        intact_ = {};
    }
    if (!intact_) return intact_;
    auto done = store.set_savepoint();
    if (!done) return done;
    done = without_exceptions(what);
    // Ending the savepoint may fail, because a full disk may have undone the whole transaction. Then no
    // member can be committed.
    if (auto ended = done ? store.release_savepoint() : store.go_to_savepoint(); !ended) {
        intact_ = ended;
        if (done) done = ended;
    }
    return done;
}

Result<void> CommitGroup::commit() {
    if (!std::exchange(begun_, false)) return outcome_;
    const std::vector<Member> members = std::exchange(members_, {});
    Store& store = server_.parts.store;
    State& state = server_.state;
    const auto began = std::chrono::steady_clock::now();
    outcome_ = std::exchange(intact_, {});
    const auto last = std::ranges::find_if(members.rbegin(), members.rend(), [](const Member& member) {
        return member.next_sequence.has_value();
    });
    if (outcome_ && last != members.rend())
        outcome_ = without_exceptions([&] { return store.save_next_sequence(*last->next_sequence); });
    if (outcome_) outcome_ = without_exceptions([&] { return store.commit(); });
    if (!outcome_) {
        store.rollback();
        for (const Member& member : members)
            for (const uint64_t job : member.jobs) state.erase_job(job);
        return outcome_;
    }
    server_.counters.committed(std::chrono::steady_clock::now() - began);
    report(members);
    return {};
}

// Reports the jobs, which are stored now. If there is no memory for that, the server ends, and the next start
// has them.
void CommitGroup::report(const std::vector<Member>& members) noexcept {
    const Log::Together log_lines(server_.parts.log);
    const Accounting::Together records(server_.parts.accounting);
    for (const Member& member : members) {
        if (server_.parts.plugin != nullptr)
            for (const uint64_t handle : member.jobs)
                if (const Job* job = server_.state.job(handle))
                    server_.parts.plugin->tell(member.now, *job, server_.state);
        for (const auto& action : member.actions) guarded(server_.parts.log, "after a change", action);
        if (member.trigger != 0) server_.want_cycle(member.trigger);
    }
}

}  // namespace pbs::host
