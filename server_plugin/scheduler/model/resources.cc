#include "server_plugin/scheduler/model/resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace pbs::sched {
namespace {

std::optional<std::int64_t> parse_integer(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
    return value;
}

// Reads a size: 12, 12b, 12kb, 12mb and so on; a word (w) is 8 bytes.
std::optional<std::int64_t> parse_size(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || value < 0) return std::nullopt;
    std::string unit(text.substr(static_cast<std::size_t>(end - text.data())));
    std::ranges::transform(unit, unit.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    std::int64_t factor = 1;
    if (!unit.empty() && unit.back() == 'w') factor = 8;
    if (!unit.empty() && (unit.back() == 'b' || unit.back() == 'w')) unit.pop_back();
    if (unit.size() > 1) return std::nullopt;
    if (unit.size() == 1) {
        const auto power = std::string_view("kmgtp").find(unit[0]);
        if (power == std::string_view::npos) return std::nullopt;
        factor <<= 10 * (power + 1);
    }
    if (value > INT64_MAX / factor) return std::nullopt;
    return value * factor;
}

// Reads [[HH:]MM:]SS.
std::optional<std::int64_t> parse_duration(std::string_view text) {
    std::int64_t total = 0;
    for (int parts = 0; parts < 3; ++parts) {
        const auto colon = text.find(':');
        const auto part = parse_integer(text.substr(0, colon));
        if (!part || *part < 0 || *part > 1'000'000'000'000) return std::nullopt;
        total = total * 60 + *part;
        if (colon == std::string_view::npos) return total;
        text.remove_prefix(colon + 1);
    }
    return std::nullopt;
}

std::optional<std::int64_t> parse_boolean(std::string_view text) {
    for (std::string_view word : {"True", "true", "TRUE", "t", "T", "y", "Y", "1"})
        if (text == word) return 1;
    for (std::string_view word : {"False", "false", "FALSE", "f", "F", "n", "N", "0"})
        if (text == word) return 0;
    return std::nullopt;
}

std::optional<std::int64_t> parse_real(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || std::abs(value) > 9e12)
        return std::nullopt;
    return std::llround(value * 1e6);
}

}  // namespace

std::vector<KeptAmount> keep(std::span<const Amount> amounts) {
    std::vector<KeptAmount> kept;
    kept.reserve(amounts.size());
    for (const Amount& a : amounts) kept.push_back({a.resource, a.number, std::string(a.text)});
    std::ranges::sort(kept, {}, &KeptAmount::resource);
    return kept;
}

void Resources::define(const ResourceRecord& record) {
    if (record.id >= infos_.size()) infos_.resize(record.id + 1);
    infos_[record.id] = {std::string(record.name), record.kind, record.consumable, true, record.host_level};
    const std::pair<std::string_view, std::uint32_t*> names[] = {
        {"ncpus", &known_.ncpus},       {"mem", &known_.mem},
        {"walltime", &known_.walltime}, {"select", &known_.select},
        {"place", &known_.place},       {"ssinodes", &known_.ssinodes},
        {"host", &known_.host},         {"vnode", &known_.vnode},
        {"hpm", &known_.hpm},           {"min_walltime", &known_.min_walltime},
    };
    for (const auto& [name, id] : names)
        if (record.name == name) *id = record.id;
}

const Resources::Info* Resources::find(std::uint32_t id) const {
    return id < infos_.size() && infos_[id].defined ? &infos_[id] : nullptr;
}

std::uint32_t Resources::id(std::string_view name) const {
    for (std::uint32_t i = 0; i < infos_.size(); ++i)
        if (infos_[i].defined && infos_[i].name == name) return i;
    return kNoResource;
}

bool Resources::is_text(std::uint32_t id) const {
    const Info* info = find(id);
    return info != nullptr &&
           (info->kind == ResourceKind::string || info->kind == ResourceKind::string_array);
}

bool Resources::is_boolean(std::uint32_t id) const {
    const Info* info = find(id);
    return info != nullptr && info->kind == ResourceKind::boolean;
}

bool Resources::consumable(std::uint32_t id) const {
    const Info* info = find(id);
    return info != nullptr && info->consumable;
}

bool Resources::host_level(std::uint32_t id) const {
    const Info* info = find(id);
    return info != nullptr && info->host_level;
}

std::string_view Resources::name(std::uint32_t id) const {
    const Info* info = find(id);
    return info != nullptr ? std::string_view(info->name) : std::string_view("?");
}

std::optional<KeptAmount> Resources::parse(std::uint32_t id, std::string_view text) const {
    const Info* info = find(id);
    if (info == nullptr) return std::nullopt;
    std::optional<std::int64_t> number;
    switch (info->kind) {
        case ResourceKind::integer:
            number = parse_integer(text);
            break;
        case ResourceKind::real:
            number = parse_real(text);
            break;
        case ResourceKind::size:
            number = parse_size(text);
            break;
        case ResourceKind::duration:
            number = parse_duration(text);
            break;
        case ResourceKind::boolean:
            number = parse_boolean(text);
            break;
        case ResourceKind::string:
        case ResourceKind::string_array:
            return KeptAmount{id, 0, std::string(text)};
    }
    if (!number) return std::nullopt;
    return KeptAmount{id, *number, {}};
}

std::optional<KeptAmount> Resources::parse_told(std::uint32_t id, std::string_view output) const {
    constexpr std::size_t kLongest = 255;
    constexpr double kMost = 4e18;
    std::string_view line = output.substr(0, output.find('\n'));
    while (line.ends_with('\r')) line.remove_suffix(1);
    const Info* info = find(id);
    if (info == nullptr || line.empty() || line.size() > kLongest) return std::nullopt;
    if (is_text(id) || is_boolean(id)) return parse(id, line);
    if (info->kind == ResourceKind::duration && line.find(':') != std::string_view::npos)
        return parse(id, line);
    double value = 0;
    if (line.starts_with('+')) line.remove_prefix(1);
    const auto [end, error] =
        std::from_chars(line.data(), line.data() + line.size(), value, std::chars_format::fixed);
    if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
    const std::string_view unit = line.substr(static_cast<std::size_t>(end - line.data()));
    double factor = info->kind == ResourceKind::real ? 1e6 : 1;
    if (info->kind == ResourceKind::size) {
        const auto one = parse_size(unit.empty() ? "1kb" : fmt::format("1{}", unit));
        if (!one) return std::nullopt;
        factor = static_cast<double>(*one);
    } else if (!unit.empty()) {
        return std::nullopt;
    }
    if (std::abs(value * factor) > kMost) return std::nullopt;
    return KeptAmount{id, static_cast<std::int64_t>(value * factor), {}};
}

std::string Resources::format(std::uint32_t id, std::int64_t number) const {
    const Info* info = find(id);
    switch (info != nullptr ? info->kind : ResourceKind::integer) {
        case ResourceKind::size: {
            if (number == 0) return "0kb";
            static constexpr const char* kUnits[] = {"b", "kb", "mb", "gb", "tb", "pb"};
            std::size_t unit = 0;
            while (unit < 5 && number % 1024 == 0) number /= 1024, ++unit;
            return fmt::format("{}{}", number, kUnits[unit]);
        }
        case ResourceKind::duration:
            return format_duration(Seconds(number));
        case ResourceKind::real:
            return fmt::format("{:g}", static_cast<double>(number) / 1e6);
        case ResourceKind::boolean:
            return number != 0 ? "True" : "False";
        default:
            return fmt::format("{}", number);
    }
}

std::string format_duration(Seconds duration) {
    const auto s = duration.count();
    return fmt::format("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

}  // namespace pbs::sched
