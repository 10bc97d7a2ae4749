#include "server_plugin/host/state/array_indices.h"

#include <fmt/format.h>

#include <algorithm>

#include "ifl/pbs_error.h"

namespace pbs::host {

Result<IndexRange> parse_index_range(std::string_view text) {
    const auto range = values::parse_index_range(text);
    if (range && range->first < range->last) return *range;
    return fail(PBSE_BADATVAL,
                fmt::format("Illegal array_indices_submitted \"{}\": expected X-Y or X-Y:Z with X < Y, Z > 0 "
                            "and none above {}",
                            text, values::kLargestIndex));
}

IndexSet::IndexSet(const IndexRange& range)
    : range_(range), runs_{{0, range.count() - 1}}, count_(range.count()) {}

Result<IndexSet> IndexSet::parse(const IndexRange& range, std::string_view text) {
    IndexSet set(range);
    set.clear();
    if (text == "-") return set;
    const auto wrong = [&] {
        return fail(PBSE_BADATVAL, fmt::format("\"{}\" are no indices of {}", text, index_range_text(range)));
    };
    const auto ranges = values::parse_index_list(text);
    if (!ranges) return wrong();
    for (const IndexRange& some : *ranges) {
        const bool fits = range.contains(some.first) && some.last <= range.last &&
                          (some.first == some.last || some.step == range.step);
        const int64_t begin = (some.first - range.first) / range.step;
        if (!fits || (!set.runs_.empty() && begin <= set.runs_.back().end + 1)) return wrong();
        set.runs_.push_back({begin, begin + some.count() - 1});
        set.count_ += some.count();
    }
    return set;
}

std::vector<IndexSet::Run>::const_iterator IndexSet::at(int64_t place) const {
    return std::partition_point(runs_.begin(), runs_.end(), [&](const Run& run) { return run.end < place; });
}

bool IndexSet::contains(int64_t index) const {
    if (!range_.contains(index)) return false;
    const int64_t place = (index - range_.first) / range_.step;
    const auto run = at(place);
    return run != runs_.end() && run->begin <= place;
}

std::optional<int64_t> IndexSet::first() const {
    if (runs_.empty()) return std::nullopt;
    return range_.first + runs_.front().begin * range_.step;
}

void IndexSet::insert(int64_t index) {
    if (!range_.contains(index) || contains(index)) return;
    ++count_;
    const int64_t place = (index - range_.first) / range_.step;
    const auto next = runs_.begin() + (at(place) - runs_.cbegin());
    const bool before = next != runs_.begin() && std::prev(next)->end + 1 == place;
    const bool behind = next != runs_.end() && next->begin == place + 1;
    if (before && behind) {
        std::prev(next)->end = next->end;
        runs_.erase(next);
    } else if (before) {
        std::prev(next)->end = place;
    } else if (behind) {
        next->begin = place;
    } else {
        runs_.insert(next, {place, place});
    }
}

void IndexSet::erase(int64_t index) {
    if (!contains(index)) return;
    --count_;
    const int64_t place = (index - range_.first) / range_.step;
    const auto run = runs_.begin() + (at(place) - runs_.cbegin());
    const Run old = *run;
    if (old.begin == old.end) {
        runs_.erase(run);
    } else if (place == old.begin) {
        ++run->begin;
    } else if (place == old.end) {
        --run->end;
    } else {
        run->begin = place + 1;
        runs_.insert(run, {old.begin, place - 1});
    }
}

// Removes the indices of a range from the set in one pass, because both may be long.
void IndexSet::erase(const IndexRange& other) {
    std::vector<Run> left;
    const auto keep = [&](int64_t begin, int64_t end) {
        if (begin <= end) left.push_back({begin, end});
    };
    for (const Run& run : runs_) {
        int64_t begin = run.begin;
        const auto index_at = [&](int64_t place) { return range_.first + place * range_.step; };
        // Begin at the run's first place whose index is not less than other.first.
        const int64_t ahead = std::max<int64_t>(other.first - range_.first, 0);
        int64_t place = std::max(run.begin, (ahead + range_.step - 1) / range_.step);
        for (; place <= run.end && index_at(place) <= other.last; ++place) {
            if (!other.contains(index_at(place))) continue;
            keep(begin, place - 1);
            begin = place + 1;
        }
        keep(begin, run.end);
    }
    runs_ = std::move(left);
    count_ = 0;
    for (const Run& run : runs_) count_ += run.end - run.begin + 1;
}

void IndexSet::clear() {
    runs_.clear();
    count_ = 0;
}

std::string IndexSet::text() const {
    if (runs_.empty()) return "-";
    std::vector<IndexRange> ranges;
    for (const Run& run : runs_)
        ranges.push_back({range_.first + run.begin * range_.step, range_.first + run.end * range_.step,
                          run.begin == run.end ? 1 : range_.step});
    return values::index_list_text(ranges);
}

}  // namespace pbs::host
