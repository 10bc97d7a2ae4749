// The arrangement of a job's chunks: the words of place and of chunk_order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pbs::sched {

enum class Arrangement : std::uint8_t { free, pack, scatter, vscatter };

// Returns the arrangement with this name; nullopt: the word is no arrangement.
constexpr std::optional<Arrangement> arrangement_of(std::string_view word) {
    constexpr std::array<std::string_view, 4> kWords = {"free", "pack", "scatter", "vscatter"};
    for (std::size_t i = 0; i < kWords.size(); ++i)
        if (word == kWords.at(i)) return static_cast<Arrangement>(i);
    return std::nullopt;
}

// The order in which vnodes give chunks that may be anywhere. `by_policy`: as the policy says; `fill`: each
// vnode gives as many as it can; `round_robin`: each vnode gives one in each round.
enum class ChunkOrder : std::uint8_t { by_policy, fill, round_robin };

// Returns the order with this name; nullopt: the word is no order.
constexpr std::optional<ChunkOrder> chunk_order_of(std::string_view word) {
    if (word == "fill") return ChunkOrder::fill;
    if (word == "round_robin") return ChunkOrder::round_robin;
    return std::nullopt;
}

}  // namespace pbs::sched
