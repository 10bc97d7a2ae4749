// Distributes the chunks of a job over vnodes that a request names without amounts (qrun -H).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cluster/names.h"
#include "cluster/place.h"

namespace pbs::cluster {

// Returns the number of chunks in a schedselect, such as "2:ncpus=4:mem=1gb+1:ncpus=1".
std::int64_t chunk_count(std::string_view chunks);

// Gives one chunk to each vnode in turn; after the last vnode comes the first again. Doesn't check whether
// the vnodes have the amounts. REQUIRES: there is a vnode.
std::vector<Place> deal_chunks(std::string_view chunks, std::span<const Place> vnodes, const Names& names);

}  // namespace pbs::cluster
