// The requests of jobs. Jobs that ask for the same share one Request, and tables hold its number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/model/resources.h"
#include "server_plugin/scheduler/model/sharing.h"

namespace pbs::sched {

// An amount of a consumable resource.
struct Need {
    std::uint32_t resource = 0;
    std::int64_t amount = 0;
};

// A chunk that is asked for `count` times. Each is given from one vnode, or from several vnodes of a host
// (Chunks::divided).
struct Chunk {
    std::int64_t count = 1;
    std::vector<Need> needs;
    // Values of resources that aren't consumable: a vnode's value has to be equal, or be a list with the
    // text; a number has to be at least as large.
    std::vector<KeptAmount> matches;
};

enum class Arrangement : std::uint8_t { free, pack, scatter, vscatter };

struct Request {
    std::vector<KeptAmount> amounts;  // the amounts asked for, without walltime, sorted by resource
    // For the whole job: the amounts asked for by name, else the sums over its chunks.
    std::vector<KeptAmount> totals;
    std::vector<Chunk> chunks;  // the chunks of select; a single one without select
    Arrangement arrangement = Arrangement::free;
    AskedSharing sharing = AskedSharing::unsaid;
    std::uint32_t group = kNoResource;  // place=group=: the job's vnodes have the same value of this resource
    // The part of the request that can't be read or isn't supported; empty: none.
    std::string unsupported;
    std::int64_t ncpus = -1;  // for the whole job; -1: not asked for
    std::int64_t mem = -1;    // bytes
    std::int64_t ssinodes = -1;
    std::uint32_t users = 0;  // how many jobs and reservations ask for it
    std::uint32_t kept = 0;   // how many others keep it
    // Counts all requests that were ever made, while numbers in Requests are used again.
    std::uint64_t serial = 0;
};

class Requests {
  public:
    // Returns the number of the request with these amounts (without walltime); makes it if it is new. Users
    // are counted: each gives the number back with release().
    std::uint32_t acquire(std::span<const Amount> amounts, const Resources& resources);
    void release(std::uint32_t id);
    // Keeps a request that is in use until drop(), even if its last user releases it.
    void keep(std::uint32_t id) { ++requests_[id].kept; }
    void drop(std::uint32_t id);
    // The request as the cycle that called see_without() last sees it.
    const Request& operator[](std::uint32_t id) const {
        return seen_ == nullptr ? requests_[id] : (*seen_)[id];
    }
    std::uint32_t size() const { return static_cast<std::uint32_t>(requests_.size()); }

    // Leaves resources aside, by name (exclude_resources): from now on the chunks of requests are without
    // them, so they are neither looked for on vnodes nor taken of them. Host and vnode stay. The rest of a
    // request, such as its totals, is unchanged. Each set costs a walk over all requests when it first comes.
    void see_without(std::span<const std::string> names, const Resources& resources);
    // Is the resource left aside now?
    bool is_excluded(std::uint32_t resource) const;

    // Does any job ask for the resource?
    bool asks_for(std::uint32_t resource) const {
        return resource < asked_by_.size() && asked_by_[resource] > 0;
    }

    // Does any job want hosts for itself (place=exclhost)?
    bool wants_hosts() const { return want_hosts_ > 0; }

    // Reads all requests again after a resource was defined.
    void recompile(const Resources& resources);

  private:
    // A set of resources that some policy leaves aside, and all requests without them.
    struct Without {
        std::vector<std::uint32_t> resources;  // sorted
        std::vector<Request> requests;
    };
    static constexpr std::size_t kMostSets = 8;

    std::vector<Request> requests_;
    std::list<Without> without_;  // most recently used first
    // The requests of the first of without_; null: nothing is left aside.
    const std::vector<Request>* seen_ = nullptr;
    void count(const Request& request, int sign);
    void forget(std::uint32_t id);

    std::vector<std::uint32_t> asked_by_;  // by resource: how many requests name it, or a chunk of theirs
    std::uint32_t want_hosts_ = 0;         // how many requests ask for hosts without other jobs
    std::vector<std::uint32_t> unused_;
    std::uint64_t made_ = 0;
    std::unordered_multimap<std::uint64_t, std::uint32_t> index_;  // by a hash of the amounts
    std::vector<const Amount*> asked_;                             // memory that acquire() uses again
};

}  // namespace pbs::sched
