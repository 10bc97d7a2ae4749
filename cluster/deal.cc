#include "cluster/deal.h"

#include <algorithm>

#include "cluster/amount.h"
#include "cluster/exec_vnode.h"
#include "values/amount.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::cluster {
namespace {

// A kind of chunk, and the number of such chunks that a job requests.
struct Chunks {
    std::int64_t count = 1;
    std::vector<std::string_view> amounts;  // "ncpus=2"
};

std::vector<Chunks> read_chunks(std::string_view text) {
    std::vector<Chunks> all;
    if (text.empty()) return all;
    for (const std::string_view part : values::split(text, '+')) {
        Chunks& chunks = all.emplace_back();
        chunks.amounts = values::split(part, ':');
        if (const auto count = values::digits<std::int64_t>(chunks.amounts.front())) {
            chunks.count = *count;
            chunks.amounts.erase(chunks.amounts.begin());
        }
    }
    return all;
}

Amounts amounts_of(const Chunks& chunks, const Names& names) {
    Amounts amounts;
    for (const std::string_view text : chunks.amounts) {
        const WrittenAmount written = amount_in(text);
        const auto resource = names.resource(written.resource);
        if (!resource || !resource->on_vnodes) continue;
        std::int64_t& amount = amounts[resource->id];
        amount = values::amount_sum(amount, amount_of(resource->kind, written.value));
    }
    return amounts;
}

}  // namespace

std::int64_t chunk_count(std::string_view chunks) {
    std::int64_t count = 0;
    for (const Chunks& one : read_chunks(chunks)) count = values::amount_sum(count, one.count);
    return count;
}

std::vector<Place> deal_chunks(std::string_view chunks, std::span<const Place> vnodes, const Names& names) {
    std::vector<Place> places;
    for (const Chunks& one : read_chunks(chunks)) {
        const Amounts amounts = amounts_of(one, names);
        for (std::int64_t i = 0; i < one.count; ++i) {
            const Place& to = vnodes[places.size() % vnodes.size()];
            places.push_back({to.node, to.node_name, amounts});
        }
    }
    return places;
}

}  // namespace pbs::cluster
