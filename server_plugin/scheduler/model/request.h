// The requests of jobs. Jobs with equal requests share one Request, and tables have its number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/model/arrangement.h"
#include "server_plugin/scheduler/model/chunk_range.h"
#include "server_plugin/scheduler/model/preferences.h"
#include "server_plugin/scheduler/model/resources.h"
#include "server_plugin/scheduler/model/sharing.h"

namespace pbs::sched {

// An amount of a consumable resource.
struct Need {
    std::uint32_t resource = 0;
    std::int64_t amount = 0;
    friend bool operator==(const Need&, const Need&) = default;
};

// A chunk, requested `count` times. Each comes from one vnode, or from several vnodes of a host
// (Chunks::divided).
struct Chunk {
    std::int64_t count = 1;
    std::vector<Need> needs;
    // Values of resources that aren't consumable. A vnode's text has to be equal, or be a list that contains
    // the text; its boolean has to be equal, and another number at least as large.
    std::vector<KeptAmount> matches;
};

struct Request {
    std::vector<KeptAmount> amounts;  // the requested amounts, without walltime, sorted by resource
    // For the whole job: the job-wide requests, else the sums over its chunks.
    std::vector<KeptAmount> totals;
    std::vector<Chunk> chunks;  // the chunks of select; a single one without select
    Arrangement arrangement = Arrangement::free;
    AskedSharing sharing = AskedSharing::unsaid;
    std::uint32_t group = kNoResource;  // place=group=: all vnodes of the job have the same value
    ChunkOrder order = ChunkOrder::by_policy;
    std::int64_t per_host = 0;  // each host that is used gives so many chunks; 0: any number
    std::vector<Preference> preferences;
    ChunkRange range;  // select_range: the numbers of the first chunks that are allowed; empty: none
    // Why the request can't be scheduled: "select_range=4-2 can't be scheduled here: expected ..."; empty: it
    // can. `unspread`: the same for chunk_order, per_host and prefer, which only the standard algorithm
    // reads.
    std::string unsupported;
    std::string unspread;
    const std::string& not_supported() const { return unsupported.empty() ? unspread : unsupported; }
    std::int64_t ncpus = -1;  // the CPUs of the whole job; -1: not asked for
    std::int64_t mem = -1;    // bytes
    std::int64_t ssinodes = -1;
    std::uint32_t users = 0;  // the number of jobs and reservations with this request
    std::uint32_t kept = 0;   // the number of calls of keep() without a drop()
    // A number that no other request has or had. The numbers in Requests are reused.
    std::uint64_t serial = 0;
};

// Reads the first part of a select, with its number. nullopt: it is malformed.
std::optional<Chunk> first_chunk(std::string_view select, const Resources& resources);

// Returns whether the job requests some of the resource, for any chunk or for all of the job.
bool asks_for(const Request& request, std::uint32_t resource);
// Returns the first of these resources that the request would have to ask for: `available` has it, with a
// value other than 0 and False, but the request doesn't ask for it. kNoResource: there is none.
std::uint32_t is_reserved(std::span<const KeptAmount> available, std::span<const std::uint32_t> resources,
                          const Request& request);
// Returns those of these resources for which the request doesn't ask.
std::vector<std::uint32_t> not_asked_for(std::span<const std::uint32_t> resources, const Request& request);
// Returns whether one of these resources is available, with a value other than 0 and False.
bool has_some(std::span<const KeptAmount> available, std::span<const std::uint32_t> resources);

class Requests {
  public:
    // Returns the number of the request with these amounts (without walltime); makes it if it is new. Counts
    // users: each has to call release().
    std::uint32_t acquire(std::span<const Amount> amounts, const Resources& resources);
    // Does the same for the amounts of request `id`, with another number of first chunks and without a range.
    std::uint32_t acquire_with_chunks(std::uint32_t id, std::int64_t count, const Resources& resources);
    void release(std::uint32_t id);
    // keep() lets a request last until drop(), even after its last release(). REQUIRES: the request is in
    // use.
    void keep(std::uint32_t id) { ++requests_[id].kept; }
    void drop(std::uint32_t id);
    // The request, without the resources that the last see_without() excluded.
    const Request& operator[](std::uint32_t id) const {
        return seen_ == nullptr ? requests_[id] : (*seen_)[id];
    }
    std::uint32_t size() const { return static_cast<std::uint32_t>(requests_.size()); }
    // Returns the number of requests that were ever made.
    std::uint64_t made() const { return made_; }

    // Excludes resources, by name (exclude_resources): from now on the chunks of requests don't have them, so
    // vnodes are neither searched nor charged for them. host and vnode can't be excluded. The rest of a
    // request, such as its totals, is unchanged. Each new set costs a walk over all requests.
    void see_without(std::span<const std::string> names, const Resources& resources);
    // Returns whether the last see_without() excluded the resource.
    bool is_excluded(std::uint32_t resource) const;

    // Returns whether any job requests the resource.
    bool asks_for(std::uint32_t resource) const {
        return resource < asked_by_.size() && asked_by_[resource] > 0;
    }

    // Returns whether any job requests exclusive hosts (place=exclhost).
    bool wants_hosts() const { return want_hosts_ > 0; }

    // Parses all requests again after a resource was defined.
    void recompile(const Resources& resources);

  private:
    // A set of excluded resources, and all requests without them.
    struct Without {
        std::vector<std::uint32_t> resources;  // sorted
        std::deque<Request> requests;
    };
    static constexpr std::size_t kMostSets = 8;

    std::deque<Request> requests_;  // references stay valid when others are made
    std::list<Without> without_;    // most recently used first
    // The requests of the first element of without_; null: nothing is excluded.
    const std::deque<Request>* seen_ = nullptr;
    void count(const Request& request, int sign);
    void forget(std::uint32_t id);

    std::vector<std::uint32_t> asked_by_;  // by resource: its number of amounts in requests
    std::uint32_t want_hosts_ = 0;         // the number of requests for exclusive hosts
    std::vector<std::uint32_t> unused_;
    std::uint64_t made_ = 0;
    std::unordered_multimap<std::uint64_t, std::uint32_t> index_;  // numbers of requests, by hash
    std::vector<const Amount*> asked_;                             // memory that acquire() reuses
};

}  // namespace pbs::sched
