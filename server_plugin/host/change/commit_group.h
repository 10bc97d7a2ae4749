// Submissions that share one commit: those of one turn of the loop wait for the disk once, together. Each is
// written behind a savepoint, so that one that fails takes nothing of the others with it.
//
// A job that has joined is in the state, where the limits on the next submission count it. Nobody else hears
// of it before commit(), neither a client nor the plugin, and it is taken out again if that fails. So
// whatever isn't a submission has to wait for commit().
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

    // While it takes them, changes that add jobs and do nothing else join it (Change::commit).
    void take(bool on) { takes_ = on; }
    bool takes() const { return takes_; }

    // What one change adds, and what is to be done once that is committed.
    struct Member {
        int64_t now;
        std::vector<uint64_t> jobs;  // their handles
        std::vector<std::function<void()>> actions;
        int trigger;
        std::optional<int64_t> next_sequence;  // of the next job, to be stored with the last one
    };
    // Writes what a change writes. On an error nothing of it has been written.
    Result<void> write(const std::function<Result<void>()>& what);
    // The change that was written last is a member, and its jobs may be put into the state.
    void add(Member member) { members_.push_back(std::move(member)); }

    // Must commit() follow?
    bool uncommitted() const { return begun_; }
    // Makes all of it durable and known. On an error none of it has happened. Without anything to commit:
    // what became of the last commit, which another change may have had to make before its own.
    Result<void> commit();

  private:
    Server& server_;
    bool takes_ = false;
    bool begun_ = false;   // a transaction
    Result<void> intact_;  // an error: the database has lost the transaction
    Result<void> outcome_;
    std::vector<Member> members_;
};

}  // namespace pbs::host
