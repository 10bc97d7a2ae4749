// Fuzz target of job identifiers with indices, and of the ranges of qsub -J. A range must be written as it
// was read. Removing indices from a set of a range's indices must give a valid set.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server_plugin/host/state/array_indices.h"
#include "server_plugin/host/state/job_name.h"

using namespace pbs::host;

namespace {

void check(bool holds) {
    if (!holds) std::abort();
}

// Number of indices above which a set is skipped, as it takes long to make.
constexpr std::int64_t kMost = 10000;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const auto name = parse_job_name(input);
    if (name) {
        check(number_in_id(array_number(name->number)) == name->number);
        check(name->indices.empty() ==
              (name->kind == JobName::Kind::job || name->kind == JobName::Kind::array));
        for (const IndexRange& range : name->indices)
            check(range.first >= 0 && range.last <= pbs::values::kLargestIndex && range.count() > 0);
    }
    const auto range = parse_index_range(input);
    if (!range) return 0;
    check(parse_index_range(index_range_text(*range)) == *range);
    if (range->count() > kMost) return 0;
    IndexSet set(*range);
    check(set.count() == range->count() && set.first() == range->first);
    set.erase(range->first + range->step);
    set.erase(IndexRange{range->first, range->last, range->step * 3});
    const auto again = IndexSet::parse(*range, set.text());
    check(again.has_value() && again->count() == set.count() && again->text() == set.text());
    return 0;
}
