#include "ifl/cmds/quota_counter.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ifl/cmds/attr_list.h"
#include "values/amount.h"

namespace pbs::cmds {

bool QuotaCounter::is_for(std::string_view filter, std::string_view value) const {
    return value.empty() || std::ranges::all_of(of, [&](const auto& one) {
               return one.first != filter || one.second == value;
           });
}

std::string QuotaCounter::whose(std::string_view separator) const {
    std::string text;
    for (const auto& [filter, value] : of)
        text += fmt::format("{}{}={}", text.empty() ? "" : separator, filter, value);
    return text.empty() ? "all" : text;
}

QuotaCounter quota_counter(const batch_status& object) {
    QuotaCounter counter;
    counter.quota = view(object.name);
    for (const attrl* attribute = object.attribs; attribute != nullptr; attribute = attribute->next) {
        const std::string_view name = view(attribute->name);
        const std::string value(view(attribute->value));
        if (name == "rule") counter.rule = value;
        if (name == "of") counter.of.emplace_back(view(attribute->resource), value);
        if (name == "job") counter.jobs.emplace_back(view(attribute->resource), value);
        if (name == "used") counter.used = value;
        if (name == "limit") {
            counter.limit = value;
            counter.resource = view(attribute->resource);
        }
        if (name == "enabled") counter.enabled = value == "True";
        if (name == "in_force") counter.in_force = value == "True";
    }
    return counter;
}

std::vector<QuotaCounter> quota_counters(const batch_status* objects) {
    std::vector<QuotaCounter> counters;
    for (; objects != nullptr; objects = objects->next) {
        QuotaCounter read = quota_counter(*objects);
        const auto is_mark = [](const attrl* attribute) { return view(attribute->name) == "continues"; };
        const attrl* mark = objects->attribs;
        while (mark != nullptr && !is_mark(mark)) mark = mark->next;
        if (mark == nullptr || counters.empty()) {
            counters.push_back(std::move(read));
        } else {
            std::ranges::move(read.jobs, std::back_inserter(counters.back().jobs));
        }
    }
    return counters;
}

std::optional<double> number_of_amount(std::string_view text) {
    if (const auto real = values::parse_real(text)) return real;
    const auto whole =
        text.find(':') == std::string_view::npos ? values::parse_bytes(text) : values::parse_duration(text);
    return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
}

}  // namespace pbs::cmds
