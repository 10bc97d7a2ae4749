// An fs_group as plain values: a tree of entities with shares, and the rules for counting their usage.
// (PP-748, interface 4)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::objects {
class Object;
}  // namespace pbs::objects

namespace pbs::sched {

// The property of a job that names its entity in the tree.
enum class ShareEntity : std::uint8_t { euser, egroup, account, queue, egroup_euser };

struct FsGroup {
    struct Element {
        std::string name;
        std::string parent;  // "root", or another element
        std::int64_t shares = 0;
        friend bool operator==(const Element&, const Element&) = default;
    };
    std::string name;
    std::vector<Element> elements{};
    std::int64_t unknown_shares = 10;
    std::string usage_formula{};  // empty: cput
    ShareEntity entity = ShareEntity::euser;
    Seconds decay_time{24 * 3600};
    double decay_factor = 0.5;
    Seconds half_life{};  // 0: none; else decay_time and decay_factor follow from it
    double compensation_factor = 5;
    bool enforce_no_shares = false;
    friend bool operator==(const FsGroup&, const FsGroup&) = default;
};

// Reads an object, whose values were checked when they were set.
FsGroup read_fs_group(const objects::Object& object);

}  // namespace pbs::sched
