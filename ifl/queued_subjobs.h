// Makes the subjobs that a status reply leaves out. The reply to a request for jobs with subjobs has job
// arrays, each followed by those of its subjobs that aren't queued. The array's array_indices_remaining has
// the indices of the queued subjobs, and the client makes these subjobs from the array's attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/reply.h"
#include "values/indices.h"

namespace pbs::ifl {

/// The queued indices of array_indices_remaining, "3-9:2,12" or "-", in ascending order. nullopt: the text is
/// something else, or has more subjobs than any real array.
std::optional<std::vector<values::IndexRange>> parse_remaining(std::string_view text);

/// Takes the objects of a status reply and passes them on, together with the queued subjobs of job arrays:
/// all subjobs come in the order of their indices.
class QueuedSubjobs {
  public:
    explicit QueuedSubjobs(ObjectSink sink) : sink_(std::move(sink)) {}
    void take(const ObjectView& object);
    /// Call it after the last object.
    void end();

  private:
    void give_queued_before(std::int64_t index);

    ObjectSink sink_;
    // the current array and its queued subjobs
    std::string before_;  // the array's id up to the bracket, "12["
    std::string behind_;  // the id from the closing bracket, "].server"
    Attributes attributes_;
    std::vector<values::IndexRange> queued_;
};

}  // namespace pbs::ifl
