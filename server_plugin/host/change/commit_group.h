// Submissions that share one commit, so that the submissions of one turn of the loop wait for the disk
// together, once. Each submission is written after a savepoint, so that a failing one doesn't undo the
// others.
//
// A job that has joined the group is in the state, where it counts for the limits of the next submission. But
// neither a client nor the plugin learns of it before commit(), and if that fails, the job is removed again.
// So every other change has to wait for commit().
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "server_plugin/host/base/error.h"

namespace pbs::host {

class Server;

class CommitGroup {
  public:
    explicit CommitGroup(Server& server) : server_(server) {}
    CommitGroup(const CommitGroup&) = delete;
    CommitGroup& operator=(const CommitGroup&) = delete;
    ~CommitGroup() = default;

    // While the group takes submissions, changes that only add jobs join it (Change::commit).
    void take(bool on) { takes_ = on; }
    bool takes() const { return takes_; }

    // A change that has joined the group: its jobs, and its actions for after the commit.
    struct Member {
        int64_t now;
        std::vector<uint64_t> jobs;  // handles of the jobs that it adds
        std::vector<std::function<void()>> actions;
        int trigger;
        std::optional<int64_t> next_sequence;  // number for the next job; the last member's one is stored
    };
    // Runs `what`, which writes the rows of a change, within the group's transaction. If it fails, undoes
    // what it has written.
    Result<void> write(const std::function<Result<void>()>& what);
    // Makes the change that write() wrote last a member. Afterwards its jobs may be put into the state.
    void add(Member member) { members_.push_back(std::move(member)); }

    // Returns whether the group's transaction has begun, so that commit() has to follow.
    bool uncommitted() const { return begun_; }
    // Makes all members durable and known to others. On an error none of them has happened. If there is
    // nothing to commit, returns the outcome of the last commit, because another change may have committed
    // the group before itself.
    Result<void> commit();

  private:
    void report(const std::vector<Member>& members) noexcept;

    Server& server_;
    bool takes_ = false;
    bool begun_ = false;   // the transaction has begun
    Result<void> intact_;  // an error: the transaction is lost
    Result<void> outcome_;
    std::vector<Member> members_;
};

}  // namespace pbs::host
