#include "objects/object_list.h"

#include <algorithm>

#include "objects/snapshot.h"

namespace pbs::objects {
namespace {

// Sizes of chunks, in objects. A change copies one chunk and the list of chunks; with 10,000 objects both
// have about the same length. A chunk longer than kLongest is split into pieces of kUsual. A chunk shorter
// than a quarter of kUsual joins the chunk before it.
constexpr std::size_t kLongest = 128;
constexpr std::size_t kUsual = 64;

}  // namespace

ObjectList::ObjectList() : parts_(std::make_shared<const Parts>()) {}

std::string_view ObjectList::name_of(const ObjectPtr& object) {
    return object->name();
}

// Returns the index of the last chunk that begins at or before the name; 0 if there is none.
std::size_t ObjectList::chunk_of(std::string_view name) const {
    const auto after = std::ranges::upper_bound(
        parts_->chunks, name, std::ranges::less{},
        [](const std::shared_ptr<const Chunk>& chunk) { return name_of(chunk->front()); });
    const auto position = static_cast<std::size_t>(after - parts_->chunks.begin());
    return position == 0 ? 0 : position - 1;
}

ObjectPtr ObjectList::find(std::string_view name) const {
    if (empty()) return nullptr;
    const Chunk& chunk = *parts_->chunks[chunk_of(name)];
    const auto at = std::ranges::lower_bound(chunk, name, std::ranges::less{}, name_of);
    return at != chunk.end() && name_of(*at) == name ? *at : nullptr;
}

ObjectList::Iterator ObjectList::behind(std::string_view name) const {
    if (empty()) return end();
    Iterator at(&parts_->chunks, chunk_of(name));
    while (at != end() && name_of(*at) <= name) ++at;
    return at;
}

void ObjectList::append(Chunks& chunks, Chunk chunk) {
    if (!chunks.empty() && chunk.size() < kUsual / 4 && chunks.back()->size() + chunk.size() <= kLongest) {
        Chunk joined = *chunks.back();
        joined.insert(joined.end(), chunk.begin(), chunk.end());
        chunks.back() = std::make_shared<const Chunk>(std::move(joined));
    } else if (chunk.size() > kLongest) {
        for (std::size_t from = 0; from < chunk.size(); from += kUsual) {
            const std::size_t to = chunk.size() - from < 2 * kUsual ? chunk.size() : from + kUsual;
            chunks.push_back(std::make_shared<const Chunk>(chunk.begin() + static_cast<std::ptrdiff_t>(from),
                                                           chunk.begin() + static_cast<std::ptrdiff_t>(to)));
            if (to == chunk.size()) break;
        }
    } else if (!chunk.empty()) {
        chunks.push_back(std::make_shared<const Chunk>(std::move(chunk)));
    }
}

ObjectList ObjectList::with(std::span<const Change> changes) const {
    const Chunks& old = parts_->chunks;
    auto parts = std::make_shared<Parts>();
    parts->size = parts_->size;
    parts->chunks.reserve(old.size() + 1);
    const auto keep = [&](std::size_t from, std::size_t to) {
        parts->chunks.insert(parts->chunks.end(), old.begin() + static_cast<std::ptrdiff_t>(from),
                             old.begin() + static_cast<std::ptrdiff_t>(to));
    };
    std::size_t kept = 0;  // how many chunks of the old list are copied or changed
    for (auto change = changes.begin(); change != changes.end();) {
        const std::size_t at = old.empty() ? 0 : chunk_of(change->first);
        keep(kept, at);
        kept = at + 1;
        static const Chunk nothing;
        const Chunk& chunk = old.empty() ? nothing : *old[at];
        const bool last = kept >= old.size();
        Chunk merged;
        merged.reserve(chunk.size() + 1);
        auto from = chunk.begin();
        for (; change != changes.end() && (last || change->first < name_of(old[kept]->front())); ++change) {
            while (from != chunk.end() && name_of(*from) < change->first) merged.push_back(*from++);
            if (from != chunk.end() && name_of(*from) == change->first) {
                ++from;
                --parts->size;
            }
            if (!change->second) continue;
            merged.push_back(change->second);
            ++parts->size;
        }
        merged.insert(merged.end(), from, chunk.end());
        append(parts->chunks, std::move(merged));
    }
    if (kept < old.size()) keep(kept, old.size());
    ObjectList result;
    result.parts_ = std::move(parts);
    return result;
}

}  // namespace pbs::objects
