// Submissions that share one commit: those of one turn of the loop wait for the disk once, together. Each is
// written behind a savepoint, so that a failing one takes none of the others with it.
//
// A job that has joined is in the state, where limits count it for the next submission. Nobody else learns of
// it before commit(), neither a client nor the plugin, and it is taken out again if that fails. So every
// other change has to wait for commit().
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

    // While the group takes submissions, changes that add jobs and do nothing else join it (Change::commit).
    void take(bool on) { takes_ = on; }
    bool takes() const { return takes_; }

    // One change of the group: its jobs, and the actions for after the commit.
    struct Member {
        int64_t now;
        std::vector<uint64_t> jobs;  // handles of the jobs that it adds
        std::vector<std::function<void()>> actions;
        int trigger;
        std::optional<int64_t> next_sequence;  // number of the next job, of which the last member's is stored
    };
    // Runs `what`, which writes a change. After an error nothing of the change has been written.
    Result<void> write(const std::function<Result<void>()>& what);
    // Makes the change that was written last a member; its jobs may be put into the state.
    void add(Member member) { members_.push_back(std::move(member)); }

    // Has a transaction begun, so that commit() must follow?
    bool uncommitted() const { return begun_; }
    // Makes all members durable and known; after an error none of them has happened. If there is nothing to
    // commit, returns the outcome of the last commit, which another change may have had to make before its
    // own.
    Result<void> commit();

  private:
    Server& server_;
    bool takes_ = false;
    bool begun_ = false;   // the transaction has begun
    Result<void> intact_;  // an error: the database has lost the transaction
    Result<void> outcome_;
    std::vector<Member> members_;
};

}  // namespace pbs::host
