// The vnodes of a simulation whose jobs a program of the site starts: their amounts, and the amounts that
// started jobs hold. Reads the places that the program names, and checks that they have room, as a server
// does for qrun.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ifl/error.h"
#include "tools/simulate/machine.h"

namespace pbs::simulate {

// Places with the amounts to which they refer.
struct OwnPlaces {
    std::vector<sched::Place> places;
    std::deque<std::vector<sched::Amount>> amounts;
};

class Room {
  public:
    // The cluster has to outlive the object. The error names a vnode's amount that can't be read.
    static Result<Room> make(const Cluster& cluster);

    // Notes the places that a job holds from now on; none: it has left.
    void holds(std::size_t job, std::span<const sched::Place> places);

    // Reads a place such as "(n1:ncpus=4)+(n2:ncpus=4)". If it has only names of vnodes, such as "n1+n2",
    // distributes the chunks of the request over them: one chunk to each vnode in turn. Errors:
    // PBSE_UNKNODE, PBSE_UNKRESC, PBSE_BADATVAL.
    ifl::Result<OwnPlaces> read(std::string_view location, std::span<const sched::Amount> requested) const;
    // Returns the number of places that read() would make.
    std::int64_t count(std::string_view location, std::span<const sched::Amount> requested) const;
    // Checks that the vnodes take jobs, and have the amounts free. PBSE_RESCUNAV, with the vnode and the
    // resource. A resource that a vnode doesn't define isn't limited there.
    ifl::Result<void> check(std::span<const sched::Place> places) const;

    struct Vnode {
        std::string name;
        std::string host;
        bool free = true;  // takes jobs
        std::map<std::uint32_t, std::int64_t> available{};
        std::map<std::uint32_t, std::int64_t> used{};
    };
    // The vnodes, by their handle - 1.
    const std::vector<Vnode>& vnodes() const { return vnodes_; }

  private:
    explicit Room(const Cluster& cluster) : cluster_(&cluster) {}

    struct Chunk {
        std::int64_t count = 1;
        std::vector<sched::Amount> amounts;
    };
    // A job with a select_range has the least number of its first chunks, as in a server.
    std::vector<Chunk> chunks_of(std::span<const sched::Amount> requested) const;
    std::int64_t least_chunks(std::span<const sched::Amount> requested) const;  // 0: it has no range
    ifl::Result<void> add_amount(std::vector<sched::Amount>& amounts, std::string_view text) const;

    const Cluster* cluster_;
    std::vector<Vnode> vnodes_;
    std::unordered_map<std::string, std::uint64_t> handles_;  // by name
    struct Held {
        std::uint64_t vnode;
        std::uint32_t resource;
        std::int64_t amount;
    };
    std::unordered_map<std::size_t, std::vector<Held>> held_;  // by job
};

}  // namespace pbs::simulate
