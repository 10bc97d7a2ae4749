// A status reply with subjobs has job arrays, each followed by those of its subjobs that aren't queued. How
// many are queued, the array's array_indices_remaining says; the client makes them of the array's attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/reply.h"

namespace pbs::ifl {

/// Indices as array_indices_remaining has them, "3-9:2,12" or "-". nullopt: it is something else.
struct IndexStretch {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::int64_t step = 1;
    bool operator==(const IndexStretch&) const = default;
};
std::optional<std::vector<IndexStretch>> parse_remaining(std::string_view text);

/// Takes the objects of a status reply and gives them on, arrays with all of their subjobs, by index.
class QueuedSubjobs {
  public:
    explicit QueuedSubjobs(ObjectSink sink) : sink_(std::move(sink)) {}
    void take(const ObjectView& object);
    /// After the last object.
    void end();

  private:
    void give_queued_before(std::int64_t index);

    ObjectSink sink_;
    // The array whose subjobs come, and what is queued of them.
    std::string before_;  // its id up to the bracket, "12["
    std::string behind_;  // and from the other one, "].server"
    Attributes attributes_;
    std::vector<IndexStretch> queued_;
};

}  // namespace pbs::ifl
