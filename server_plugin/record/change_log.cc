#include "server_plugin/record/change_log.h"

#include <algorithm>
#include <set>
#include <utility>

namespace pbs::record {

void ChangeLog::note(sched::ObjectRef object) {
    ++last_;
    if (!keeps_) return;
    changes_.push_back(std::move(object));
    if (changes_.size() > kMost) changes_.pop_front();
}

std::optional<ChangeLog::Some> ChangeLog::after(std::int64_t version, std::size_t most) const {
    const std::int64_t before = last_ - static_cast<std::int64_t>(changes_.size());
    if (version < before || version > last_) return std::nullopt;
    const auto from = static_cast<std::size_t>(version - before);
    const std::size_t count = std::min(most, changes_.size() - from);
    Some some{{}, version + static_cast<std::int64_t>(count)};
    std::set<sched::ObjectRef> seen;
    for (std::size_t i = 0; i < count; ++i)
        if (const sched::ObjectRef& object = changes_[from + i]; seen.insert(object).second)
            some.objects.push_back({object, version + 1 + static_cast<std::int64_t>(i)});
    return some;
}

}  // namespace pbs::record
