// job_sort_formula: an expression over a job's request, compiled once for each change of configuration.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objects/formula.h"
#include "server_plugin/scheduler/model/error.h"
#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {

// A compiled job_sort_formula. Names in a formula: resources (sizes in kilobytes, durations in seconds, as in
// pbs_sched; 0 if the job requests none), eligible_time (seconds), queue_priority, job_priority. The names
// about the job's entity are fairshare_perc or fair_share_perc (its part of the machine),
// fairshare_tree_usage and fairshare_factor; they are 0 without an fs_group. accrue_type is 0 if the host
// doesn't count eligible time. The parts of weighted_priority are urgency and tickets, and as numbers from 0
// to 1 urgency_norm, tickets_norm and priority_norm.
class Formula {
  public:
    // Errors name the formula and the place of the mistake.
    static Result<Formula> compile(const std::string& text);

    // The value for a job. A value that can't be computed (a division by zero) is 0.
    double value(const OrderContext& context, const Resources& resources, JobSlot job);

    std::size_t operations() const { return expression_.operations(); }

    // Returns whether the value changes with time, without any event of the job.
    bool changes_with_time() const {
        return std::ranges::any_of(reads_, [](const Read& read) {
            return read.what == Meaning::eligible_time || read.what == Meaning::accrue_type ||
                   is_of_shares(read.what) || is_of_priorities(read.what);
        });
    }
    // Returns by how much the values of all jobs that gain eligible time grow in a second, to the last digit;
    // nullopt: they don't grow alike.
    std::optional<double> growth() const;
    // REQUIRES: growth(). Returns whether the job's value is computed without rounding, at all times until
    // the year 2400.
    bool is_exact(const OrderContext& context, const Resources& resources, JobSlot job);

    // Returns whether the formula reads parts of weighted_priority.
    bool reads_priorities() const {
        return std::ranges::any_of(reads_, [](const Read& read) { return is_of_priorities(read.what); });
    }
    // Returns whether the formula reads the shares or usage of a job's entity.
    bool reads_shares() const {
        return std::ranges::any_of(reads_, [](const Read& read) { return is_of_shares(read.what); });
    }

  private:
    enum class Meaning : std::uint8_t {
        nothing,
        eligible_time,
        accrue_type,
        queue_priority,
        job_priority,
        walltime,
        share,
        tree_usage,
        share_factor,
        urgency,
        urgency_norm,
        priority_norm,
        tickets,
        tickets_norm,
        resource
    };
    // A name of a formula that isn't a resource. Two names may stand for the same value, as those that
    // OpenPBS has for an entity's part of the machine.
    struct Term {
        std::string_view name;
        Meaning what;
    };
    static constexpr std::array<Term, 13> kTerms = {{{"eligible_time", Meaning::eligible_time},
                                                     {"accrue_type", Meaning::accrue_type},
                                                     {"queue_priority", Meaning::queue_priority},
                                                     {"job_priority", Meaning::job_priority},
                                                     {"fairshare_perc", Meaning::share},
                                                     {"fair_share_perc", Meaning::share},
                                                     {"fairshare_tree_usage", Meaning::tree_usage},
                                                     {"fairshare_factor", Meaning::share_factor},
                                                     {"urgency", Meaning::urgency},
                                                     {"urgency_norm", Meaning::urgency_norm},
                                                     {"priority_norm", Meaning::priority_norm},
                                                     {"tickets", Meaning::tickets},
                                                     {"tickets_norm", Meaning::tickets_norm}}};
    struct Read {
        Meaning what = Meaning::nothing;
        Meaning term = Meaning::nothing;  // the meaning of the name while there is no resource of that name
        std::uint32_t resource = kNoResource;
    };
    static bool is_of_shares(Meaning what) {
        return what == Meaning::share || what == Meaning::tree_usage || what == Meaning::share_factor;
    }
    static bool is_of_priorities(Meaning what) {
        return what >= Meaning::urgency && what <= Meaning::tickets_norm;
    }
    explicit Formula(objects::Formula expression);
    // Finds out what each name of the expression stands for. A name that isn't a term is a resource, which
    // may be defined later. If a resource has the name of a part of weighted_priority, the name stands for
    // the resource.
    void resolve(const Resources& resources);
    struct Parts;  // those of weighted_priority
    double read(std::size_t name, const OrderContext& c, const Resources& resources, JobSlot job,
                const Parts& parts) const;

    objects::Formula expression_;
    std::optional<objects::Formula::Sum> sum_;
    std::vector<Read> reads_;  // by index of the expression's names
    std::size_t known_resources_ = SIZE_MAX;
    std::vector<double> values_;
};

}  // namespace pbs::sched
