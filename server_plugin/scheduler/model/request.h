// What jobs ask for. Jobs that ask for the same share one Request, and tables hold its number.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/model/resources.h"

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
    // text.
    std::vector<KeptAmount> matches;
};

enum class Arrangement : std::uint8_t { free, pack, scatter, vscatter };

struct Request {
    std::vector<KeptAmount> amounts;  // what was asked for without walltime, sorted by resource
    // Of the whole job: what it asks for by name, else the sum over its chunks.
    std::vector<KeptAmount> totals;
    std::vector<Chunk> chunks;  // those of select; a single one without select
    Arrangement arrangement = Arrangement::free;
    bool exclusive = false;  // its vnodes take no other job
    // What of the request can't be read or isn't supported; empty: nothing.
    std::string unsupported;
    std::int64_t ncpus = -1;  // of the whole job; -1: not asked for
    std::int64_t mem = -1;    // bytes
    std::int64_t ssinodes = -1;
    std::uint32_t users = 0;  // how many jobs and others hold it
    // Counts all requests that were ever made, while numbers in Requests are used again.
    std::uint64_t serial = 0;
};

class Requests {
  public:
    // Returns the number of the request with these amounts (without walltime), which is made if it is new.
    // Users are counted: each gives the number back with release().
    std::uint32_t acquire(std::span<const Amount> amounts, const Resources& resources);
    void release(std::uint32_t id);
    // Counts another user of a request whose number is known.
    void hold(std::uint32_t id) { ++requests_[id].users; }
    const Request& operator[](std::uint32_t id) const { return requests_[id]; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(requests_.size()); }

    // Reads all requests again after a resource was defined.
    void recompile(const Resources& resources);

  private:
    std::vector<Request> requests_;
    std::vector<std::uint32_t> unused_;
    std::uint64_t made_ = 0;
    std::unordered_multimap<std::uint64_t, std::uint32_t> index_;  // by a hash of the amounts
    std::vector<const Amount*> asked_;                             // memory that acquire() uses again
};

}  // namespace pbs::sched
