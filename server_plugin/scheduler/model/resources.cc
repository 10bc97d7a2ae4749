#include "server_plugin/scheduler/model/resources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "values/amount.h"
#include "values/text.h"

namespace pbs::sched {

std::vector<KeptAmount> keep(std::span<const Amount> amounts) {
    std::vector<KeptAmount> kept;
    kept.reserve(amounts.size());
    for (const Amount& a : amounts) kept.push_back({a.resource, a.number, std::string(a.text)});
    std::ranges::sort(kept, {}, &KeptAmount::resource);
    return kept;
}

namespace {

using BuiltIn = Resources::BuiltIn;
constexpr std::pair<std::string_view, std::uint32_t BuiltIn::*> kKnownNames[] = {
    {"ncpus", &BuiltIn::ncpus},
    {"mem", &BuiltIn::mem},
    {"walltime", &BuiltIn::walltime},
    {"select", &BuiltIn::select},
    {"place", &BuiltIn::place},
    {"ssinodes", &BuiltIn::ssinodes},
    {"host", &BuiltIn::host},
    {"vnode", &BuiltIn::vnode},
    {"min_walltime", &BuiltIn::min_walltime},
    {"start_within", &BuiltIn::start_within},
    {"select_range", &BuiltIn::select_range},
    {"chunk_order", &BuiltIn::chunk_order},
    {"per_host", &BuiltIn::per_host},
    {"prefer", &BuiltIn::prefer},
};

}  // namespace

void Resources::define(const ResourceRecord& record) {
    if (record.id >= infos_.size()) infos_.resize(record.id + 1);
    infos_[record.id] = {std::string(record.name), record.kind, record.consumable, true, record.host_level};
    for (const auto& [name, id] : kKnownNames)
        if (record.name == name) known_.*id = record.id;
    ++version_;
}

void Resources::remove(std::string_view name) {
    const std::uint32_t gone = id(name);
    if (gone == kNoResource) return;
    infos_[gone] = {};
    for (const auto& [known, id] : kKnownNames)
        if (known_.*id == gone) known_.*id = kNoResource;
    ++version_;
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
    if (values::is_text(info->kind)) return KeptAmount{id, 0, std::string(text)};
    const auto number = values::parse_amount(info->kind, text);
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
    if (info->kind == ResourceKind::string_array)
        return parse(id, fmt::format("{}", fmt::join(values::split_trimmed(line, ','), ",")));
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
        const auto one = values::parse_bytes(unit.empty() ? "1kb" : fmt::format("1{}", unit));
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
        case ResourceKind::size:
            return number == 0 ? "0kb" : values::size_text(number);
        case ResourceKind::duration:
            return values::duration_text(number);
        case ResourceKind::real:
            return fmt::format("{:g}", static_cast<double>(number) / 1e6);
        case ResourceKind::boolean:
            return values::boolean_text(number != 0);
        default:
            return fmt::format("{}", number);
    }
}

double formula_amount(std::int64_t amount, ResourceKind kind) {
    switch (kind) {
        case ResourceKind::size:
            return std::ceil(static_cast<double>(amount) / 1024);
        case ResourceKind::real:
            return static_cast<double>(amount) / 1e6;
        default:
            return static_cast<double>(amount);
    }
}

std::int64_t amount_of_formula(double result, ResourceKind kind) {
    constexpr double kMost = 4e18;
    const double factor = kind == ResourceKind::size ? 1024 : kind == ResourceKind::real ? 1e6 : 1;
    return static_cast<std::int64_t>(std::clamp(std::floor(result * factor), 0.0, kMost));
}

}  // namespace pbs::sched
