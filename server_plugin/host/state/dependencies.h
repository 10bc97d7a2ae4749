// The dependencies between jobs, as links that can be found from both jobs. A link names each job by the
// number in its id. The database has a link once, for the waiting job. The other job shows the same link in
// its types before, beforeok and the like.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "server_plugin/host/state/depend_value.h"

namespace pbs::host {

// The kind of a link, which also says what Link::other means. The first kinds are those of DependType, with
// the same numbers; the later ones are pending work for other jobs (depend.h). The database stores these
// numbers.
enum class LinkKind : uint8_t {
    after = 0,
    afterok = 1,
    afternotok = 2,
    afterany = 3,
    on = 8,        // other: the number of jobs whose links the job still expects
    runone = 9,    // other: the number of the runone set, the jobs of which only one is to run
    to_tell = 10,  // other: the event (JobOutcome) to report to the jobs that wait for `job`
    to_hold = 11,  // other: the runone set whose further jobs are to be held, because `job` runs
    to_free = 12,  // other: the runone set whose further jobs are to be freed, because `job` doesn't run
    to_end = 13,   // other: the runone set whose further jobs are to be ended, because `job` has run
    // other: the answer for the qsub that waits for the end of `job` (block_answer.h)
    to_answer = 14
};
constexpr bool is_work(LinkKind kind) {
    return kind >= LinkKind::to_tell;
}

struct Link {
    uint64_t id = 0;  // ascending in the order of creation
    uint64_t job = 0;
    LinkKind kind{};
    uint64_t other = 0;
};

class Dependencies {
  public:
    uint64_t new_id() { return ++last_id_; }
    void add(const Link& link);
    void remove(const Link& link);

    // Finds a link; nullopt: there is none.
    std::optional<Link> find(uint64_t job, LinkKind kind, uint64_t other) const;
    // The job's links of one kind, in no order.
    std::vector<Link> of(uint64_t job, LinkKind kind) const;
    // Finds, among the links of this kind to `other`, the first one in the order of their jobs. With `job`,
    // finds the first one after the link of `job`. nullopt: there is none.
    std::optional<Link> next_to(uint64_t other, LinkKind kind, std::optional<uint64_t> job = {}) const;
    // Returns whether the job waits for another job, which may be one that is yet to be submitted.
    bool waits(uint64_t job) const;
    // Returns the oldest link that is pending work; nullopt: there is none.
    std::optional<Link> work() const;
    // Returns the value of `depend`, with types and jobs in the order of creation; empty: there are no links.
    std::string text(uint64_t job, std::string_view server) const;

  private:
    using Key = std::tuple<uint64_t, LinkKind, uint64_t>;
    template <typename Do>
    static void for_each(const std::map<Key, uint64_t>& map, uint64_t first, LinkKind kind, Do&& visit);

    std::map<Key, uint64_t> by_job_;    // (job, kind, other) to the link's id
    std::map<Key, uint64_t> by_other_;  // (other, kind, job) to the link's id
    std::map<uint64_t, Link> work_;
    uint64_t last_id_ = 0;
};

}  // namespace pbs::host
