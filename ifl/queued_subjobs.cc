#include "ifl/queued_subjobs.h"

#include <algorithm>
#include <limits>

#include "values/number.h"

namespace pbs::ifl {
namespace {

// A limit beyond any real array, because a server may say anything.
constexpr std::int64_t kMostSubjobs = 10'000'000;
constexpr std::int64_t kLargestIndex = std::numeric_limits<std::int32_t>::max();

std::optional<std::int64_t> take_index(std::string_view& text) {
    const auto value = values::take_number<std::int64_t>(text);
    return value && *value >= 0 && *value <= kLargestIndex ? value : std::nullopt;
}

bool take(std::string_view& text, char c) {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
}

std::optional<IndexStretch> take_stretch(std::string_view& text) {
    const auto first = take_index(text);
    if (!first) return std::nullopt;
    IndexStretch stretch{*first, *first, 1};
    if (!take(text, '-')) return stretch;
    const auto last = take_index(text);
    if (!last || *last < *first) return std::nullopt;
    stretch.last = *last;
    if (!take(text, ':')) return stretch;
    const auto step = take_index(text);
    if (!step || *step < 1) return std::nullopt;
    stretch.step = *step;
    return stretch;
}

// The index in "12[7].server"; -1: there is none.
std::int64_t index_in(std::string_view id) {
    id.remove_prefix(std::min(id.find('[') + 1, id.size()));
    return take_index(id).value_or(-1);
}

// The attributes that a queued subjob shares with its array: those before the array's own ones.
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

std::optional<std::vector<IndexStretch>> parse_remaining(std::string_view text) {
    std::vector<IndexStretch> all;
    if (text.empty() || text == "-") return all;
    std::int64_t count = 0;
    do {
        const auto stretch = take_stretch(text);
        if (!stretch || (!all.empty() && stretch->first <= all.back().last)) return std::nullopt;
        count += (stretch->last - stretch->first) / stretch->step + 1;
        if (count > kMostSubjobs) return std::nullopt;
        all.push_back(*stretch);
    } while (take(text, ','));
    if (!text.empty()) return std::nullopt;
    return all;
}

void QueuedSubjobs::take(const ObjectView& object) {
    const bool of_this = !before_.empty() && object.name.starts_with(before_);
    if (object.type == kTypeOfSubjob || of_this) {
        give_queued_before(index_in(object.name));
        return sink_(object);
    }
    end();
    sink_(object);
    if (object.type != kTypeOfArray) return;
    const auto bracket = object.name.find("[]");
    const auto remaining = std::ranges::find(object.attributes, std::string_view("array_indices_remaining"),
                                             &AttributeView::name);
    if (bracket == std::string_view::npos || remaining == object.attributes.end()) return;
    queued_ = parse_remaining(remaining->value).value_or(std::vector<IndexStretch>());
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
    auto stretch = queued_.begin();
    for (; stretch != queued_.end() && stretch->first < index; ++stretch) {
        for (; stretch->first <= stretch->last && stretch->first < index; stretch->first += stretch->step)
            sink_({kTypeOfSubjob, before_ + std::to_string(stretch->first) + behind_, attributes});
        if (stretch->first <= stretch->last) break;
    }
    queued_.erase(queued_.begin(), stretch);
}

}  // namespace pbs::ifl
