// A Change is one transaction on the server's state. A request changes copies of objects. commit() stores
// them; when they are durable, it puts them in place, reports them to the plugin, and runs the actions that
// were added by then(). If anything fails, nothing has changed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/state/configuration.h"
#include "server_plugin/host/state/limits.h"
#include "server_plugin/host/state/objects.h"

namespace pbs::host {

class Batch;
class CommitGroup;

// A step in the life of a subjob within a change. `before`: the subjob before the change; nullptr: it wasn't
// a job of its own. `after`: the subjob after the change; if `gone`, the job was removed, and this is its
// last state.
struct SubjobStep {
    const Job* before = nullptr;
    const Job* after = nullptr;
    bool gone = false;
};

class Change {
  public:
    Change(Server& server, int64_t now) : server_(server), now_(now), counted_(server.state) {}
    ~Change();  // undoes changes of links between jobs that weren't committed
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

    Server& server() { return server_; }
    int64_t now() const { return now_; }

    // Returns the copy that will replace the object; the first call makes it. References stay valid until
    // commit().
    Job& job(const Job& current);
    Queue& queue(const Queue& current) { return changed(current); }
    Node& node(const Node& current) { return changed(current); }
    Sched& sched(const Sched& current) { return changed(current); }
    Reservation& reservation(const Reservation& current) { return changed(current); }
    Attributes& server_attributes();

    // Adds a new object, whose handle has to come from State::new_handle().
    Job& add(Job job, std::string script);
    Job& put(Job job);  // puts in a job, new or not, without a script
    // Sets the job's comment. If nothing else of the job changes, only the comment is written and put in
    // place, because a cycle sets very many comments.
    void comment(const Job& current, std::string_view text);
    template <typename Object>
    Object& add(Object object) {
        const uint64_t handle = object.handle;
        return of<Object>().there.insert_or_assign(handle, std::move(object)).first->second;
    }

    void remove(const Job& job);
    template <typename Object>
    void remove(const Object& object) {
        const uint64_t handle = object.handle;
        of<Object>().gone[handle] = name_of(object);
        of<Object>().there.erase(handle);
    }

    // These functions make and remove links between jobs. They change the state's Dependencies at once,
    // before the commit.
    void link(uint64_t job, LinkKind kind, uint64_t other);
    void link(const Link& link);
    void unlink(const Link& link);
    // Returns the job as this change leaves it; nullptr: there is none with this number.
    const Job* current(uint64_t sequence) const;

    // The jobs that count for limits, as this change leaves them. enter_queue() stages a job that enters a
    // queue; the end of a job removes it.
    CountedJobs& counted() { return counted_; }

    // Note a new or changed definition of a resource, or its removal. The table of resources changes at the
    // commit.
    void save_resource(Resource resource) { resource_ = std::move(resource); }
    void remove_resource(std::string name) { removed_resource_ = std::move(name); }

    void next_sequence(int64_t next) { next_sequence_ = next; }
    // Notes that another server handed in the job with this id. `hops`: the number of servers that had the
    // job.
    void received(std::string id, int64_t hops) { received_ = std::pair(std::move(id), hops); }

    // Adds an action to run after the commit, such as an accounting record, a line in the log, or a start of
    // a process. Actions run in the order of these calls.
    void then(std::function<void()> action) { actions_.push_back(std::move(action)); }
    void want_cycle(int trigger) { trigger_ = trigger; }

    // Returns the differences that this change makes to the managers' configuration, for the plugin's
    // history.
    std::vector<ConfigChange> configuration() const;

    // Permits that a crash of the machine undoes this change, because nobody relies on it.
    void need_not_last() { lasts_ = false; }

    // Commits. `before` runs when everything is written and not yet committed; if it returns an error,
    // everything is undone. In a batch (Server::batch) only the batch's tables change. While
    // Server::commit_group takes submissions, a change that only adds jobs joins the group: it becomes
    // durable and known to others when the group is committed.
    Result<void> commit(const std::function<Result<void>()>& before = {});

  private:
    // The facts about a removed job that this change needs until the commit.
    struct RemovedJob {
        uint64_t sequence;
        uint64_t told;
        std::optional<Job> subjob;
    };
    // The changes of one kind of objects, by handle: new or changed objects, and the names of removed ones.
    // The trait Kind<Object> in change.cc says how to handle the kind.
    template <typename Object>
    struct Objects {
        std::map<uint64_t, Object> there{};
        std::map<uint64_t, std::string> gone{};
        bool empty() const { return there.empty() && gone.empty(); }
    };
    template <typename Object>
    Objects<Object>& of() {
        return std::get<Objects<Object>>(objects_);
    }
    // Calls `visit` with the Objects of each kind.
    template <typename Visit>
    void for_kinds(Visit&& visit) const {
        std::apply([&](const auto&... kinds) { (visit(kinds), ...); }, objects_);
    }
    template <typename Object>
    Object& changed(const Object& current) {
        return of<Object>().there.try_emplace(current.handle, current).first->second;
    }
    template <typename Object>
    static const std::string& name_of(const Object& object) {
        return object.name;
    }
    static const std::string& name_of(const Reservation& reservation) { return reservation.id; }

    Result<void> join(Batch& batch);
    bool only_adds_jobs() const;
    Result<void> join(CommitGroup& group);
    void follow_arrays();
    void settle_accruals();
    Result<void> write();
    Result<void> write_objects();
    Result<void> write_removals();
    void note(ChangedSince& changed) const;
    // Bring the committed change into the state and into the plugin. They are noexcept: a lack of memory ends
    // the server, and its next start reads the database. A server that went on would miss jobs.
    void put_in_place() noexcept;
    void tell_plugin() noexcept;

    Server& server_;
    int64_t now_;
    CountedJobs counted_;
    std::map<uint64_t, Job> jobs_;
    std::map<uint64_t, std::string> scripts_;
    std::map<uint64_t, SharedText> comments_;  // comments of jobs that aren't in jobs_
    std::tuple<Objects<Queue>, Objects<Node>, Objects<Sched>, Objects<Reservation>> objects_;
    std::optional<Attributes> server_attributes_;
    std::map<uint64_t, RemovedJob> removed_jobs_;  // by handle
    std::vector<std::pair<Link, bool>> links_;     // links made (true) or removed (false), in order
    std::optional<Resource> resource_;
    std::optional<std::string> removed_resource_;
    std::optional<int64_t> next_sequence_;
    std::optional<std::pair<std::string, int64_t>> received_;
    std::vector<std::function<void()>> actions_;
    int trigger_ = 0;
    bool lasts_ = true;
};

}  // namespace pbs::host
