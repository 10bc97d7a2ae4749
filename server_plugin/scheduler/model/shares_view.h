// A tree of shares at an instant, for display; and managers' changes to it.
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
    std::string parent;  // empty: this is the root
    bool is_group = false;
    std::int64_t shares = 0;
    double usage = 0;
    double decayed = 0;     // the usage that a decay at that instant would leave
    double long_usage = 0;  // the usage of its jobs in all, without decays
    double target = 0;      // its part of the machine by its shares, as a fraction
    double actual = 0;      // its part of all usage so far, as a fraction
    double tree_usage = 0;
    double factor = 0;
    // The next members are for tickets_share, by the jobs that wait or run now.
    double level = 0;                 // its part of the shares of all siblings with jobs
    double short_target = 0;          // its part of these siblings' tickets
    double overall_short_target = 0;  // its part of all tickets
    std::uint32_t jobs = 0;           // an entity's own jobs
    std::uint32_t running = 0;        // the number of these that run
    // The rank of an entity, from 1: the entity that has used the least of its share goes first; 0: it is a
    // group.
    std::size_t place = 0;
};

struct SharesView {
    std::string sched;
    FsGroup group;
    bool counts = true;  // a policy of the scheduler uses the tree, and jobs add to its usage
    Instant now{};
    Instant last_decay{};  // the Epoch: there was none
    Instant next_decay{};
    std::vector<ShareRow> rows;  // each group before its members
};

// A user's query about trees.
struct SharesAsked {
    Instant now{};
    std::string sched;
    std::string group;  // the fs_group; empty: all of the scheduler
    // The user who asks. The answer has the user's own entity, the entities of the user's jobs, and the
    // groups above them. nullopt: it has all elements.
    std::optional<std::string> user;
};

struct SharesChange {
    std::vector<std::pair<std::string, double>> usage;  // new usage of entities
    bool decay = false;                                 // decay at once
    bool trim = false;  // remove the usage of entities that are in no group of the tree
};

// The shares, the usage and the rank of a job's entity, for an explanation.
struct EntityShares {
    std::string group;  // the fs_group
    std::string entity;
    double usage = 0;
    double target = 0;
    double actual = 0;
    std::size_t place = 0;     // the rank, from 1, among the entities that have jobs in the queues
    std::size_t entities = 0;  // the number of such entities
};

}  // namespace pbs::sched
