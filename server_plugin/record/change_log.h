// Logs which of the scheduler's objects have changed, in the order of the changes, for programs of sites that
// schedule themselves, and makes the answer of pbs_statchanges() (ifl/pbs_ifl.h): lines like those of a
// record, for the objects that have changed. The policy plugin and pbs_simulate answer with it.
//
// Each change has a serial number, one more than the change before. The log has the names of the objects that
// changed last, but no values: an answer to such a program has the values of the moment when it is made.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server_plugin/scheduler/record.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::record {

class ChangeLog {
  public:
    // The number of changes that the log keeps: the last ones.
    static constexpr std::size_t kMost = 100'000;

    // `before`: one less than the number of the first change. Each start of the server has to choose a number
    // that no earlier process of the server has reached. Without `keeps` changes are only counted until
    // keep() is called.
    explicit ChangeLog(std::int64_t before, bool keeps = true) : last_(before), keeps_(keeps) {}

    // Keeps the changes from now on.
    void keep() { keeps_ = true; }
    bool keeps() const { return keeps_; }

    void note(sched::ObjectRef::Kind kind, std::uint64_t id) { note({kind, id, {}}); }
    void note(sched::ObjectRef object);

    // The number of the last change.
    std::int64_t version() const { return last_; }

    struct Changed {
        sched::ObjectRef object;
        std::int64_t first;  // the number of its first change after the version that was asked for
    };
    struct Some {
        std::vector<Changed> objects;  // each once, in the order of their first changes
        std::int64_t version;          // the number of the last change that is included
    };
    // Returns the objects of the next changes after the change `version`, at most `most` changes. nullopt:
    // the log doesn't go back that far, or `version` isn't a number that this server has given.
    std::optional<Some> after(std::int64_t version, std::size_t most) const;

  private:
    // A change without the object's name: each running job has several, so they should take little memory.
    struct Change {
        std::uint64_t id;
        sched::ObjectRef::Kind kind;
    };
    sched::ObjectRef object(std::int64_t number) const;

    std::int64_t last_;
    bool keeps_;
    std::deque<Change> changes_;                 // the last element has the number `last_`
    std::map<std::int64_t, std::string> names_;  // by number: the names of objects that have one
};

// The most changes in an answer: the number to pass to ChangeLog::after().
inline constexpr std::size_t kMostChanges = 2000;

// The text of PBSE_HISTORY, for a version after which ChangeLog::after() doesn't know all changes.
std::string too_old_text(std::int64_t version);

// Writes the objects of `some` as they are in the scheduler, and as the last line the number of the last
// change that is included and the time: {"version":1796000000000200,"now":1796000000}. A long text ends
// early; the last line says so. If another thread sets `give_up`, writing stops in the middle.
std::string changes_text(const sched::Inspector& scheduler, const ChangeLog::Some& some, sched::Instant now,
                         const std::atomic<bool>& give_up);

}  // namespace pbs::record
