#include "server_plugin/scheduler/framework/usage_formula.h"

#include <fmt/format.h>

#include <cmath>

namespace pbs::sched {

Result<UsageFormula> UsageFormula::compile(const std::string& text) {
    auto expression = objects::Formula::compile(text.empty() ? "cput" : text);
    if (!expression)
        return tl::unexpected(Error{fmt::format("usage_formula \"{}\": at position {}: {}", text,
                                                expression.error().at + 1, expression.error().text)});
    return UsageFormula(*std::move(expression));
}

double UsageFormula::value(const Amounts& job, const Resources& resources, double walltime) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
        const std::string& name = expression_.names()[i].name;
        const auto id = resources.id(name);
        if (id == kNoResource) {
            values_[i] = name == "fs_factor" ? 1 : 0;
        } else if (id == resources.known().walltime) {
            values_[i] = walltime;
        } else {
            auto amount = number_of(job.used, id);
            if (!amount) amount = number_of(job.asked, id);
            values_[i] = formula_amount(amount.value_or(0), resources.find(id)->kind);
        }
    }
    return std::max(0.0, expression_.value(values_).value_or(0));
}

std::optional<FairShares::Use> UsageFormula::line(const Amounts& job, const Resources& resources) {
    const double base = value(job, resources, 0);
    constexpr double kHour = 3600;
    const double after_one = value(job, resources, kHour);
    const double after_two = value(job, resources, 2 * kHour);
    const double after_many = value(job, resources, 1000 * kHour);
    const double rate = (after_one - base) / kHour;
    const auto is_near = [](double a, double b) {
        return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b));
    };
    if (rate < 0 || !is_near(base + 2 * kHour * rate, after_two) ||
        !is_near(base + 1000 * kHour * rate, after_many))
        return std::nullopt;
    return FairShares::Use{base, rate};
}

}  // namespace pbs::sched
