// A tree of shares as people see it at an instant, and what managers change of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/model/fs_group.h"

namespace pbs::sched {

// An element of the tree: a group, or an entity.
struct ShareRow {
    std::string name;
    std::string parent;  // empty: it is the root
    bool is_group = false;
    std::int64_t shares = 0;
    double usage = 0;
    double decayed = 0;  // what a decay at that instant would leave of the usage
    double target = 0;   // the part of the machine that it has by its shares, as a fraction
    double actual = 0;   // the part of all usage that it has had, as a fraction
    double tree_usage = 0;
    double factor = 0;
    std::size_t place = 0;  // of an entity, from 1: who has the least of its share goes first; 0: of groups
};

struct SharesView {
    std::string sched;
    FsGroup group;
    bool counts = true;  // a policy of the scheduler goes by it, and the usage of jobs is counted
    Instant now{};
    Instant last_decay{};  // the Epoch: there was none
    Instant next_decay{};
    std::vector<ShareRow> rows;  // each group before what is in it
};

// Which trees are asked for, and by whom.
struct SharesAsked {
    Instant now{};
    std::string sched;
    std::string group;  // the fs_group; empty: all of the scheduler's
    // This user is shown the user's own entity, those of the user's jobs, and the groups above them. Nothing:
    // all elements are shown.
    std::optional<std::string> user;
};

struct SharesChange {
    std::vector<std::pair<std::string, double>> usage;  // that entities have from now on
    bool decay = false;                                 // at once
    bool trim = false;  // entities that are in no group of the tree have used nothing
};

// How a job's entity stands, for an explanation.
struct EntityShares {
    std::string group;  // the fs_group
    std::string entity;
    double usage = 0;
    double target = 0;
    double actual = 0;
    std::size_t place = 0;     // from 1, among the entities that have jobs in the queues
    std::size_t entities = 0;  // how many these are
};

}  // namespace pbs::sched
