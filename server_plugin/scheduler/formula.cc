#include "server_plugin/scheduler/formula.h"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <deque>

namespace pbs::sched {

struct Formula::Impl {
    struct Variable {
        std::string name;
        double value = 0;
        std::uint32_t resource = no_resource;
    };
    mu::Parser parser;
    std::deque<Variable> variables;  // a deque: the parser holds the addresses of values
    std::size_t known_resources = 0;

    static double* make_variable(const mu::char_type* name, void* self) {
        auto& made = static_cast<Impl*>(self)->variables.emplace_back();
        made.name = name;
        return &made.value;
    }
    double read(const Variable& v, const OrderContext& c, const Resources& resources, JobSlot job) const;
};

Formula::Formula(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Formula::Formula(Formula&&) noexcept = default;
Formula& Formula::operator=(Formula&&) noexcept = default;
Formula::~Formula() = default;

Result<Formula> Formula::compile(const std::string& text) {
    auto impl = std::make_unique<Impl>();
    try {
        impl->parser.SetVarFactory(&Impl::make_variable, impl.get());
        impl->parser.SetExpr(text);
        impl->parser.Eval();
    } catch (const mu::Parser::exception_type& e) {
        return tl::unexpected(Error{fmt::format("job_sort_formula \"{}\": {}", text, e.GetMsg())});
    }
    return Formula(std::move(impl));
}

double Formula::Impl::read(const Variable& v, const OrderContext& c, const Resources& resources,
                           JobSlot job) const {
    if (v.name == "eligible_time") return static_cast<double>((c.now - c.jobs.eligible[job]).count());
    if (v.name == "queue_priority") return c.queues[c.jobs.queue[job]].priority;
    if (v.name == "job_priority") return c.jobs.priority[job];
    if (v.resource == no_resource) return 0;
    if (v.resource == resources.known().walltime)
        return static_cast<double>(std::max(Seconds(0), c.jobs.walltime[job]).count());
    const auto asked = number_of(c.requests[c.jobs.request[job]].totals, v.resource).value_or(0);
    switch (resources.find(v.resource)->kind) {
        case ResourceKind::size:
            return std::ceil(static_cast<double>(asked) / 1024);
        case ResourceKind::real:
            return static_cast<double>(asked) / 1e6;
        default:
            return static_cast<double>(asked);
    }
}

double Formula::value(const OrderContext& context, const Resources& resources, JobSlot job) {
    if (impl_->known_resources != resources.size()) {
        for (auto& v : impl_->variables) v.resource = resources.id(v.name);
        impl_->known_resources = resources.size();
    }
    for (auto& v : impl_->variables) v.value = impl_->read(v, context, resources, job);
    try {
        const double value = impl_->parser.Eval();
        return std::isfinite(value) ? value : 0;
    } catch (const mu::Parser::exception_type&) {
        return 0;
    }
}

std::vector<std::string> Formula::unsupported() const {
    std::vector<std::string> names;
    for (const auto& v : impl_->variables)
        if (v.name.starts_with("fairshare_") || v.name == "accrue_type") names.push_back(v.name);
    return names;
}

}  // namespace pbs::sched
