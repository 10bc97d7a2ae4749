// Amounts as rows of numbers.
//
// The amounts of a vnode, its free amounts and the amounts that a chunk requests are rows with the same
// columns, so that rows are compared without looking up names of resources. The first two columns aren't
// amounts: whether the vnode takes jobs, and whether it takes them together with its present jobs.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/model/request.h"
#include "server_plugin/scheduler/model/resources.h"
#include "server_plugin/scheduler/placement/vnode.h"

namespace pbs::sched {

// A number for each column. Few resources have a column, so rows seldom allocate memory.
using Row = absl::InlinedVector<std::int64_t, 8>;

// A rule that limits the number of chunks from a vnode, called during a search for a place.
class VnodeRule {
  public:
    VnodeRule() = default;
    virtual ~VnodeRule() = default;
    VnodeRule(const VnodeRule&) = delete;
    VnodeRule& operator=(const VnodeRule&) = delete;
    // Returns the number of chunks with these needs (by column), at least 0, that a vnode may give to the
    // job, which has already been given some chunks.
    virtual std::int64_t most(VnodeSlot vnode, const Row& needs, const Placement& given) const = 0;
    // Returns whether the job may have all these places.
    virtual bool allows(const Placement& places) const = 0;
};

constexpr std::uint32_t kOpenColumn = 0;   // holds a Columns::Openness
constexpr std::uint32_t kEmptyColumn = 1;  // holds an emptiness() (sharing.h)
constexpr std::uint32_t kFirstResourceColumn = 2;

class Columns {
  public:
    // The values of the open column; a vnode with a larger value takes more kinds of jobs. A vnode is busy if
    // jobs use all of its processors; the standard algorithm puts no more jobs on it then. A vnode without
    // processors is never busy.
    enum Openness : std::int64_t { closed, busy, open };

    // Returns the least openness for a job. The Origin algorithm, which counts nodes, uses busy vnodes, too.
    static Openness wanted_openness(const NodeSize& node_size) { return node_size.cpus > 0 ? busy : open; }

    // The amounts of two resources in a row. For a resource that vnodes don't limit, it is the largest
    // number.
    struct Room {
        std::int64_t first = 0;
        std::int64_t second = 0;
    };

    // Makes a column for each consumable resource that some vnode has. Earlier rows become invalid.
    void assign(const std::vector<Vnode>& vnodes, const Resources& resources);
    // Returns whether this vnode has a value of a resource for which only a new assign() would make a column.
    bool lacks(const Vnode& vnode, const Resources& resources) const;

    // Returns the number of columns of a row.
    std::uint32_t size() const { return size_; }
    // Returns the column of a resource; 0: it has none.
    std::uint32_t of(std::uint32_t resource) const {
        return resource < columns_.size() ? columns_[resource] : 0;
    }
    std::uint32_t resource(std::uint32_t column) const { return resources_[column]; }
    // Returns whether `need` is for a resource that only vnodes can have (Resources::Info::host_level),
    // although none has it.
    bool is_lacking(const Need& need) const {
        return need.amount > 0 && of(need.resource) == 0 && need.resource < host_level_.size() &&
               host_level_[need.resource];
    }
    // Returns whether vnodes limit the resource: some vnode has a value, or only vnodes can have one.
    bool is_defined(std::uint32_t resource) const { return resource < defined_.size() && defined_[resource]; }
    bool is_boolean(std::uint32_t resource) const {
        return resource < booleans_.size() && booleans_[resource];
    }
    // The built-in resources, as of the last assign().
    const Resources::BuiltIn& known() const { return known_; }

    // Writes the amounts that one chunk needs of a vnode into `row`, whose memory is reused, and returns
    // `row`.
    const Row& needs_of(const Chunk& chunk, AskedSharing sharing, const NodeSize& node_size, Row& row) const;
    // Returns the amounts that one chunk needs of a vnode as a new row.
    Row needs_of(const Chunk& chunk, AskedSharing sharing, const NodeSize& node_size) const;
    // Writes into `row` the amounts that one chunk of a part takes of its vnode; if the part is a piece,
    // those of the piece.
    const Row& needs_of(const Placement& placement, const Part& part, const Request& request,
                        const NodeSize& node_size, Row& row) const;
    // Returns the sum of a request's chunks: the column and the amount of each of their resources.
    std::vector<std::pair<std::uint32_t, std::int64_t>> totals(const Request& request,
                                                               const NodeSize& node_size) const;
    // Returns the amounts of the resources `first` and `second` in a row.
    Room room_of(const std::int64_t* row, std::uint32_t first, std::uint32_t second) const;

  private:
    void start(Row& row, AskedSharing sharing, const NodeSize& node_size) const;
    void add(Row& row, const Need& need) const {
        if (const std::uint32_t column = of(need.resource); column != 0) row[column] += need.amount;
    }

    std::vector<std::uint32_t> columns_;    // by resource; 0: no vnode has the resource
    std::vector<std::uint32_t> resources_;  // by column
    std::uint32_t size_ = kFirstResourceColumn;
    std::vector<bool> defined_;     // by resource: is_defined()
    std::vector<bool> host_level_;  // by resource: only vnodes have it
    std::vector<bool> booleans_;    // by resource: it is a boolean
    Resources::BuiltIn known_;
};

}  // namespace pbs::sched
