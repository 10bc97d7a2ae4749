#include "ifl/queued_subjobs.h"

#include <algorithm>
#include <limits>

namespace pbs::ifl {
namespace {

// The most subjobs that a server's reply may name: more than any real array has.
constexpr std::int64_t kMostSubjobs = 10'000'000;

// Copies the attributes that a queued subjob shares with its array. They precede the attribute `array`; the
// array's own attributes begin there.
Attributes attributes_of_subjob(std::span<const AttributeView> of_array) {
    Attributes attributes;
    for (const AttributeView& one : of_array) {
        if (one.name == "array") break;
        std::string value(one.value);
        if (one.name == "job_state") value = "Q";
        if (one.name == "substate") value = "10";
        attributes.push_back({std::string(one.name), std::string(one.resource), std::move(value), one.op});
    }
    return attributes;
}

}  // namespace

std::optional<std::vector<values::IndexRange>> parse_remaining(std::string_view text) {
    if (text.empty() || text == "-") return std::vector<values::IndexRange>();
    auto ranges = values::parse_index_list(text);
    std::int64_t count = 0;
    std::int64_t last = -1;
    for (const values::IndexRange& range : ranges.value_or(std::vector<values::IndexRange>())) {
        count += range.count();
        if (range.first <= last || count > kMostSubjobs) return std::nullopt;
        last = range.last;
    }
    return ranges;
}

void QueuedSubjobs::take(const ObjectView& object) {
    const bool of_this = !before_.empty() && object.name.starts_with(before_);
    if (object.type == kTypeOfSubjob || of_this) {
        give_queued_before(values::index_in(object.name));
        return sink_(object);
    }
    end();
    sink_(object);
    if (object.type != kTypeOfArray) return;
    const auto bracket = object.name.find("[]");
    const auto remaining = std::ranges::find(object.attributes, std::string_view("array_indices_remaining"),
                                             &AttributeView::name);
    if (bracket == std::string_view::npos || remaining == object.attributes.end()) return;
    queued_ = parse_remaining(remaining->value).value_or(std::vector<values::IndexRange>());
    before_ = object.name.substr(0, bracket + 1);
    behind_ = object.name.substr(bracket + 1);
    attributes_ = attributes_of_subjob(object.attributes);
}

void QueuedSubjobs::end() {
    give_queued_before(std::numeric_limits<std::int64_t>::max());
    queued_.clear();
    before_.clear();
}

void QueuedSubjobs::give_queued_before(std::int64_t index) {
    if (queued_.empty()) return;
    std::vector<AttributeView> attributes;
    for (const Attribute& one : attributes_)
        attributes.push_back({one.name, one.resource, one.value, one.op});
    auto range = queued_.begin();
    for (; range != queued_.end() && range->first < index; ++range) {
        for (; range->first <= range->last && range->first < index; range->first += range->step)
            sink_({kTypeOfSubjob, before_ + std::to_string(range->first) + behind_, attributes});
        if (range->first <= range->last) break;
    }
    queued_.erase(queued_.begin(), range);
}

}  // namespace pbs::ifl
