// The changes of the scheduler's objects, in their order, for programs that schedule themselves
// (requests/changes.h).
//
// Each change has a serial number, one more than the one before. The log has the names of the last changed
// objects, and no values: an answer has the values of the moment at which it is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "server_plugin/scheduler/record.h"

namespace pbs::plugin {

class ChangeLog {
  public:
    // So many changes are known.
    static constexpr std::size_t kMost = 100'000;

    // `before`: the changes are numbered from the next number on. A later life of the server has to begin at
    // a number that this one doesn't reach. Without `keeps` they are only counted, on a host that can't be
    // asked for them.
    explicit ChangeLog(std::int64_t before, bool keeps = true) : last_(before), keeps_(keeps) {}

    void note(sched::ObjectRef::Kind kind, std::uint64_t id) { note({kind, id, {}}); }
    void note(sched::ObjectRef object);

    // The number of the last change.
    std::int64_t version() const { return last_; }

    struct Changed {
        sched::ObjectRef object;
        std::int64_t first;  // the number of its first change that was asked for
    };
    struct Some {
        std::vector<Changed> objects;  // each once, in the order of their first changes
        std::int64_t version;          // the last change that is counted
    };
    // The objects of the next changes after `version`, up to `most` changes. nullopt: the log doesn't go back
    // that far, or no server of this life has said that number.
    std::optional<Some> after(std::int64_t version, std::size_t most) const;

  private:
    std::int64_t last_;
    bool keeps_;
    std::deque<sched::ObjectRef> changes_;  // the last of them has the number `last_`
};

}  // namespace pbs::plugin
