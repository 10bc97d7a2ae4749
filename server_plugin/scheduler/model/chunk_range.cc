#include "server_plugin/scheduler/model/chunk_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "server_plugin/scheduler/model/request.h"
#include "server_plugin/scheduler/model/sort_unique.h"

namespace pbs::sched {
namespace {

// The select of a job in two parts: the number of the first chunks, and what follows it.
struct FirstChunks {
    std::int64_t count = 1;
    std::string_view rest;
    bool has_resources = false;  // `rest` begins with the first chunks' resources
};
FirstChunks split_select(std::string_view select) {
    const auto end = std::min(select.find_first_of(":+"), select.size());
    const auto count = values::number_of_chunks(select.substr(0, end));
    if (!count) return {1, select, true};
    const bool has_resources = end < select.size() && select[end] == ':';
    return {*count, select.substr(has_resources ? end + 1 : end), has_resources};
}

const Amount* find(std::span<const Amount> amounts, std::uint32_t resource) {
    const auto found = std::ranges::find(amounts, resource, &Amount::resource);
    return found == amounts.end() || found->text.empty() ? nullptr : &*found;
}

}  // namespace

std::optional<ChunkRange> ChunkRange::parse(std::string_view text) {
    auto parts = values::parse_chunk_numbers(text);
    if (!parts) return std::nullopt;
    ChunkRange range;
    for (const values::ChunkNumbers& part : *parts) range.parts_.push_back({part.low, part.high, part.step});
    return range;
}

bool ChunkRange::keep_multiples(std::int64_t number) {
    std::vector<Part> kept;
    for (const Part& part : parts_) {
        if (number > part.high) continue;
        // Find the first number of the part that is a multiple of `number`; the next ones follow at their
        // least common multiple. Try numbers whose distance is the larger of part.step and `number`: their
        // remainders by the smaller of the two repeat after as many tries as its value.
        const std::int64_t stride = std::max(number, part.step);
        const std::int64_t other = std::min(number, part.step);
        const bool by_step = part.step >= number;
        const std::int64_t from = by_step ? part.low : (part.low + number - 1) / number * number;
        for (std::int64_t i = 0; i < other; ++i) {
            const std::int64_t n = from + i * stride;
            if (n > part.high) break;
            if ((by_step ? n : n - part.low) % other != 0) continue;
            kept.push_back({n, part.high, std::lcm(part.step, number)});
            break;
        }
    }
    parts_ = std::move(kept);
    return !parts_.empty();
}

std::int64_t ChunkRange::least() const {
    return std::ranges::min_element(parts_, {}, &Part::low)->low;
}

std::int64_t ChunkRange::greatest(std::int64_t most) const {
    std::int64_t greatest = least();
    for (const Part& part : parts_)
        if (const std::int64_t count = part.count(most); count > 0)
            greatest = std::max(greatest, part.low + (count - 1) * part.step);
    return greatest;
}

double ChunkRange::average(std::int64_t most) const {
    double sum = 0;
    double numbers = 0;
    for (const Part& part : parts_) {
        const auto count = static_cast<double>(part.count(most));
        numbers += count;
        sum += count * (static_cast<double>(part.low) + (count - 1) / 2 * static_cast<double>(part.step));
    }
    return numbers > 0 ? sum / numbers : static_cast<double>(least());
}

std::vector<std::int64_t> ChunkRange::numbers(std::int64_t most) const {
    std::vector<std::int64_t> numbers{least()};
    for (const Part& part : parts_)
        for (std::int64_t n = part.low; n <= std::min(part.high, most); n += part.step) numbers.push_back(n);
    sort_unique(numbers);
    return numbers;
}

std::optional<OwnAmounts> with_chunks(std::span<const Amount> amounts, std::int64_t count, bool ranged,
                                      const Resources& resources) {
    const auto& known = resources.known();
    const Amount* select = find(amounts, known.select);
    if (select == nullptr) return std::nullopt;
    const FirstChunks first = split_select(select->text);
    const auto chunk = first_chunk(select->text, resources);
    if (!chunk) return std::nullopt;
    const std::int64_t more = count - first.count;
    const std::uint32_t nodect = resources.id("nodect");
    OwnAmounts own;
    for (Amount amount : amounts) {
        if (amount.resource == known.select) {
            amount.text = own.texts.emplace_back(
                fmt::format("{}{}{}", count, first.has_resources ? ":" : "", first.rest));
        } else if (amount.resource == known.select_range) {
            if (!ranged) continue;
        } else if (amount.resource == nodect) {
            amount.number += more;
        } else if (amount.text.empty()) {
            for (const Need& need : chunk->needs) {
                std::int64_t by = 0;
                if (need.resource == amount.resource &&
                    (__builtin_mul_overflow(more, need.amount, &by) ||
                     __builtin_add_overflow(amount.number, by, &amount.number)))
                    return std::nullopt;
            }
        }
        own.amounts.push_back(amount);
    }
    return own;
}

std::optional<OwnAmounts> planned_amounts(std::span<const Amount> amounts, bool waits,
                                          const Resources& resources) {
    const Amount* asked = find(amounts, resources.known().select_range);
    if (asked == nullptr) return std::nullopt;
    auto range = ChunkRange::parse(asked->text);
    const Amount* select = find(amounts, resources.known().select);
    const auto per_host = std::ranges::find(amounts, resources.known().per_host, &Amount::resource);
    if (!range || select == nullptr) return std::nullopt;
    if (per_host != amounts.end() && (per_host->number < 1 || !range->keep_multiples(per_host->number)))
        return std::nullopt;
    const std::int64_t count = waits ? range->least() : split_select(select->text).count;
    return with_chunks(amounts, count, waits, resources);
}

}  // namespace pbs::sched
