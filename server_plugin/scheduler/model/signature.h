// Signatures of jobs. A signature is the set of facts about a job that most filters read, apart from its
// owner and group. Jobs with equal facts share a signature, so a cycle's findings about one of these jobs
// hold for all. Tables store a signature as a number.
#pragma once

#include <cstdint>
#include <vector>

#include "server_plugin/scheduler/model/cluster.h"
#include "server_plugin/scheduler/model/column_index.h"

namespace pbs::sched {

struct Signature {
    Seconds walltime{-1};         // the walltime for planning; -1: none requested
    std::uint32_t request = 0;    // its number in Requests
    std::uint32_t run_host = 0;   // the requested host
    std::uint32_t queue = 0;      // the slot of its queue
    std::uint32_t suspended = 0;  // the slot of a suspended job, which resumes in its place, plus 1; else 0
    std::uint32_t project = 0;    // if limits distinguish projects; else 0
    std::uint8_t shape = 0;       // JobTable::shape(), if limits distinguish shapes; else 0
    std::uint32_t array = 0;      // JobTable::array(), if limits distinguish arrays; else 0
    std::uint32_t together = 0;   // Tables::Impatient::together; 0: the job starts alone
    Seconds hard_walltime{0};     // the walltime after which the job is ended; 0: `walltime`
    friend bool operator==(const Signature&, const Signature&) = default;
};

class Signatures {
  public:
    // Returns the number of a signature; makes it if it is new. Counts users: each has to call release().
    // Numbers are dense, and are reused.
    std::uint32_t acquire(const Signature& signature);
    void release(std::uint32_t id);
    // Returns a serial number that no other signature has or had.
    std::uint64_t serial(std::uint32_t id) const { return serials_[id]; }
    // Returns whether several jobs have the signature.
    bool is_shared(std::uint32_t id) const { return users_[id] > 1; }
    const Signature& operator[](std::uint32_t id) const { return signatures_[id]; }
    // Returns a number above those of all signatures.
    std::uint32_t size() const { return static_cast<std::uint32_t>(signatures_.size()); }

  private:
    struct Hash {
        std::size_t operator()(const Signature& signature) const;
    };
    std::vector<Signature> signatures_;
    std::vector<std::uint32_t> users_;  // the number of jobs with each signature
    std::vector<std::uint64_t> serials_;
    std::uint64_t made_ = 0;  // the number of signatures ever made
    std::vector<std::uint32_t> unused_;
    ColumnIndex<Signature, Hash> index_{signatures_};
};

}  // namespace pbs::sched
