// What jobs ask for. Jobs that ask for the same share one Request: tables hold its number.
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

// `count` of them, each of which is given from one vnode, or from several of a host (Chunks::divided).
struct Chunk {
    std::int64_t count = 1;
    std::vector<Need> needs;
    std::vector<KeptAmount>
        matches;  // other resources: a vnode's value has to be equal (or contain the text)
};

enum class Arrangement : std::uint8_t { free, pack, scatter, vscatter };

struct Request {
    std::vector<KeptAmount> amounts;  // as asked, without walltime, by resource
    std::vector<KeptAmount> totals;   // of the whole job: as asked, else the sum over the chunks
    std::vector<Chunk> chunks;        // of select; without one, a single chunk
    Arrangement arrangement = Arrangement::free;
    bool exclusive = false;   // no other job on its vnodes
    std::string unsupported;  // what of the request can't be read or isn't supported; empty: nothing
    std::int64_t ncpus = -1;  // of the whole job; -1: not asked
    std::int64_t mem = -1;    // bytes
    std::int64_t ssinodes = -1;
    std::uint32_t users = 0;   // jobs that hold it
    std::uint64_t serial = 0;  // of all that were ever made; numbers in Requests are used again
};

class Requests {
  public:
    // The number of the request with these amounts (walltime is left out), made if it is new. Counted: give
    // it back with release().
    std::uint32_t acquire(std::span<const Amount> amounts, const Resources& resources);
    void release(std::uint32_t id);
    // Once more for whoever has its number already.
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
    std::vector<const Amount*> asked_;                             // used again and again
};

}  // namespace pbs::sched
