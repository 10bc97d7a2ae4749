// Amounts as rows of numbers.
//
// What a vnode has, what is free of it and what a chunk asks for are rows with the same columns, so that one
// is compared with another without a look at the names of resources. The first two columns aren't amounts:
// whether the vnode takes jobs, and whether it is without one.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/model/request.h"
#include "server_plugin/scheduler/model/resources.h"
#include "server_plugin/scheduler/placement/vnode.h"

namespace pbs::sched {

using Row = std::vector<std::int64_t>;  // by column

constexpr std::uint32_t open_column = 0;   // Columns::Openness
constexpr std::uint32_t empty_column = 1;  // 1: no job is there
constexpr std::uint32_t first_resource_column = 2;

class Columns {
  public:
    // What the open column says; more takes more kinds of jobs. Busy: jobs have all of its processors. By the
    // standard algorithm a vnode takes no others then. One that has no processors is never busy.
    enum Openness : std::int64_t { closed, busy, open };

    // How open a vnode has to be for a job. The Origin algorithm, which counts nodes, takes busy ones.
    static Openness wanted_openness(const NodeSize& node_size) { return node_size.cpus > 0 ? busy : open; }

    // What a row has of two resources; of one that vnodes don't limit the largest number.
    struct Room {
        std::int64_t first = 0;
        std::int64_t second = 0;
    };

    // A column for each consumable resource that one of the vnodes has an amount of. Rows of before are void.
    void assign(const std::vector<Vnode>& vnodes, const Resources& resources);
    // Has this vnode a value of a resource that has to be taken up by assign()?
    bool lacks(const Vnode& vnode, const Resources& resources) const;

    // How many columns a row has.
    std::uint32_t size() const { return size_; }
    // The column of a resource; 0: it has none.
    std::uint32_t of(std::uint32_t resource) const {
        return resource < columns_.size() ? columns_[resource] : 0;
    }
    // The resource of a column.
    std::uint32_t resource(std::uint32_t column) const { return resources_[column]; }
    // Has some vnode a value of the resource?
    bool is_defined(std::uint32_t resource) const { return resource < defined_.size() && defined_[resource]; }
    // The resources that PBS knows by name, as of the last assign().
    const Resources::Known& known() const { return known_; }

    // What one chunk asks of a vnode; put into `row`, whose memory is used again.
    const Row& needs_of(const Chunk& chunk, bool exclusive, const NodeSize& node_size, Row& row) const;
    // The same in a row of its own.
    Row needs_of(const Chunk& chunk, bool exclusive, const NodeSize& node_size) const;
    // What one chunk of a part, or its piece, takes of its vnode.
    const Row& needs_of(const Placement& placement, const Part& part, const Request& request,
                        const NodeSize& node_size, Row& row) const;
    // What the chunks of a request ask for together, by column of a resource that is asked for.
    std::vector<std::pair<std::uint32_t, std::int64_t>> totals(const Request& request,
                                                               const NodeSize& node_size) const;
    // What a row has of two resources.
    Room room_of(const std::int64_t* row, std::uint32_t first, std::uint32_t second) const;

  private:
    void start(Row& row, bool exclusive, const NodeSize& node_size) const;
    void add(Row& row, const Need& need) const {
        if (const std::uint32_t column = of(need.resource); column != 0) row[column] += need.amount;
    }

    std::vector<std::uint32_t> columns_;    // by resource; 0: no vnode has it
    std::vector<std::uint32_t> resources_;  // by column
    std::uint32_t size_ = first_resource_column;
    std::vector<bool> defined_;  // by resource: some vnode has a value
    Resources::Known known_;
};

}  // namespace pbs::sched
