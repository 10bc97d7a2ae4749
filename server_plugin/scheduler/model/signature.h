// Signatures of jobs. Jobs that filters can tell apart by their owners only share one: tables hold its
// number, and a cycle's findings about one of the jobs hold for all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "server_plugin/scheduler/model/cluster.h"
#include "server_plugin/scheduler/model/column_index.h"

namespace pbs::sched {

struct Signature {
    Seconds walltime{-1};         // the walltime for planning; -1: none asked
    std::uint32_t request = 0;    // its number in Requests
    std::uint32_t run_host = 0;   // the host that the job asks for
    std::uint32_t queue = 0;      // the slot of its queue
    std::uint32_t suspended = 0;  // the slot of a suspended job, which goes on where it was, plus 1
    std::uint32_t project = 0;    // where limits distinguish projects; else 0
    Seconds hard_walltime{0};     // JobTable::hard_walltime; 0: `walltime`
    friend bool operator==(const Signature&, const Signature&) = default;
};

class Signatures {
  public:
    // Returns the number of a signature; makes it if it is new. Users are counted: each gives the number back
    // with release(). Numbers are dense, and are used again.
    std::uint32_t acquire(const Signature& signature);
    void release(std::uint32_t id);
    // A serial that no other signature has or had.
    std::uint64_t serial(std::uint32_t id) const { return serials_[id]; }
    // Do several jobs have the signature?
    bool is_shared(std::uint32_t id) const { return users_[id] > 1; }
    const Signature& operator[](std::uint32_t id) const { return signatures_[id]; }
    // All numbers are below this one.
    std::uint32_t size() const { return static_cast<std::uint32_t>(signatures_.size()); }

  private:
    struct Hash {
        std::size_t operator()(const Signature& signature) const;
    };
    std::vector<Signature> signatures_;
    std::vector<std::uint32_t> users_;  // how many jobs have each
    std::vector<std::uint64_t> serials_;
    std::uint64_t made_ = 0;  // how many signatures were made so far
    std::vector<std::uint32_t> unused_;
    ColumnIndex<Signature, Hash> index_{signatures_};
};

}  // namespace pbs::sched
