#include "server_plugin/host/cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ifl/pbs_error.h"
#include "server_plugin/host/change.h"
#include "server_plugin/host/exec_vnode.h"
#include "server_plugin/host/job_life.h"
#include "server_plugin/host/log.h"
#include "server_plugin/host/placement.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

int64_t iteration(const Sched& sched) {
    return std::max<int64_t>(1, sched.attributes.integer("scheduler_iteration", 600));
}

// The decisions of one cycle, on their way into one transaction. What earlier ones have taken of the vnodes
// counts for the later ones.
class Application {
  public:
    Application(Server& server, int64_t now) : server_(server), change_(server, now) {}

    void apply(const Decision& decision);
    Result<void> commit() { return change_.commit(); }

  private:
    Result<void> run(const Decision& decision, Job& job);
    Result<void> move(const Decision& decision, Job& job);
    Result<void> take_room(const std::vector<Place>& places);

    Server& server_;
    Change change_;
    Taken taken_;
};

Result<void> Application::take_room(const std::vector<Place>& places) {
    if (auto ok = check_places(places, server_.state, taken_); !ok) return ok;
    for (const Place& place : places)
        for (const auto& [id, amount] : place.amounts) taken_[place.node][id] += amount;
    return {};
}

Result<void> Application::move(const Decision& decision, Job& job) {
    if (decision.queue == 0 || decision.queue == job.queue) return {};
    const Queue* queue = server_.state.queue(decision.queue);
    if (queue == nullptr) return fail(PBSE_UNKQUE, "the queue to move to has gone");
    return enter_queue(change_, job, *queue, Entry::managed);
}

Result<void> Application::run(const Decision& decision, Job& job) {
    const Job before = job;
    static const AttributeDef& resource_list = *job_table().find("Resource_List");
    auto done = take_room(decision.places);
    if (done) done = move(decision, job);
    if (done) {
        for (const auto& [id, value] : decision.set_resources)
            if (const Resource* resource = server_.state.resources.by_id(id))
                job.attributes.set(resource_list, resource->name, value);
        done = start_job(change_, job, decision.places, decision.text);
    }
    if (!done) job = before;
    return done;
}

void Application::apply(const Decision& decision) {
    const Job* current = server_.state.job(decision.job);
    if (current == nullptr || current->running() || current->history()) return;
    Result<void> done;
    switch (decision.kind) {
        case Decision::Kind::run:
            if (current->state != job_state::queued) return;
            done = run(decision, change_.job(*current));
            break;
        case Decision::Kind::comment:
            if (current->attributes.text("comment") == decision.text) return;
            set_comment(change_.job(*current), decision.text);
            change_.job(*current).mtime = change_.now();
            break;
        case Decision::Kind::reject:
            reject_job(change_, change_.job(*current), decision.text);
            break;
        case Decision::Kind::move:
            done = move(decision, change_.job(*current));
            break;
    }
    if (!done)
        server_.parts.log.write(LogEvent::sched, LogClass::job, current->id,
                                fmt::format("decision dropped: {}", done.error().message));
}

}  // namespace

Result<void> apply_decisions(Server& server, int64_t now, const std::vector<Decision>& decisions) {
    if (decisions.empty()) return {};
    Application application(server, now);
    for (const Decision& decision : decisions) application.apply(decision);
    return application.commit();
}

void Cycles::run(const std::string& name, int trigger) {
    const Sched* sched = server_.state.sched(name);
    if (sched == nullptr || !sched->attributes.boolean("scheduling", false) || server_.stopping) return;
    const int64_t now = server_.now();
    last_[name] = now;
    auto decisions = server_.parts.plugin->cycle(now, name, trigger, server_.state);
    auto done = decisions ? apply_decisions(server_, now, *decisions) : tl::unexpected(decisions.error());
    if (!done) {
        server_.parts.log.error(name, fmt::format("cycle failed: {}", done.error().message));
        return;
    }
    server_.parts.log.write(LogEvent::debug2, LogClass::sched, name,
                            fmt::format("cycle, command {}: {} decisions", trigger, decisions->size()));
}

void Cycles::run_wanted() {
    auto wanted = server_.take_wanted_cycles();
    const auto all = wanted.find("");
    const int trigger = all == wanted.end() ? 0 : all->second;
    std::vector<std::string> names;
    for (const auto& [name, sched] : server_.state.scheds()) names.push_back(name);
    for (const std::string& name : names) {
        const auto own = wanted.find(name);
        if (own != wanted.end()) {
            run(name, own->second);
        } else if (trigger != 0) {
            run(name, trigger);
        }
    }
}

void Cycles::look_at_clock() {
    const int64_t now = server_.now();
    Plugin& plugin = *server_.parts.plugin;
    if (plugin.next_deadline(now) <= now) {
        for (const auto& [name, trigger] : plugin.tick(now, server_.state)) server_.want_cycle(trigger, name);
    }
    for (const auto& [name, sched] : server_.state.scheds()) {
        const auto [at, added] = last_.try_emplace(name, now);
        if (now < at->second) at->second = now;  // the clock was set back
        if (now - at->second >= iteration(sched)) {
            at->second = now;
            server_.want_cycle(PBS_SCH_SCHEDULE_TIME, name);
        }
    }
}

}  // namespace pbs::host
