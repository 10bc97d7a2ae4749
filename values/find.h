// Looks for elements of maps.
#pragma once

namespace pbs::values {

// Returns the value of a key in a map; null: the map hasn't the key.
template <class Map, class Key>
auto* find_in(Map& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
}

}  // namespace pbs::values
