// Reads ssconf: the settings of the scheduler become attributes of the policy and of its fs_group.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include "migrate/grid_engine/output.h"
#include "migrate/grid_engine/resource_names.h"
#include "migrate/words.h"
#include "objects/formula.h"
#include "objects/value.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::migrate::grid_engine {
namespace {

using objects::ObjectType;

constexpr std::string_view kByEvents = "left out: cycles follow events, at once";
constexpr std::string_view kNoTree = "left out: there is no share tree (sstree) that it could be about";
constexpr std::string_view kNoDuration =
    "nothing to carry over: a job without a walltime has no expected end";
constexpr std::string_view kNoFunctional = "left out: without weight_tickets_functional it has no effect";
constexpr std::string_view kOff = "nothing to carry over: it is switched off";

// A setting that becomes an attribute of the policy with the same value, or that is left out for the reason
// `why`.
struct SettingRow {
    std::string_view name;
    std::string_view attribute;
    std::string_view why{};
};

constexpr std::array kSettingRows{
    SettingRow{"algorithm", "", "left out: the policy's attribute algorithm is standard"},
    SettingRow{"schedule_interval", "", kByEvents},
    SettingRow{"flush_submit_sec", "", kByEvents},
    SettingRow{"flush_finish_sec", "", kByEvents},
    SettingRow{"schedd_job_info", "",
               "left out: jobs have comments, and pbs_explain has all reasons, at any time"},
    SettingRow{"report_pjob_tickets", "", "left out: pbs_fairshare --tickets shows the tickets of all jobs"},
    SettingRow{"max_pending_tasks_per_job", "",
               "left out: an array has tickets as one job, for its next subjob"},
    SettingRow{"weight_tickets_functional", "tickets_functional"},
    SettingRow{"weight_tickets_share", "tickets_share"},
    SettingRow{"share_override_tickets", "share_override_tickets"},
    SettingRow{"weight_ticket", "weight_tickets"},
    SettingRow{"weight_waiting_time", "weight_waiting_time"},
    SettingRow{"weight_urgency", "weight_urgency"},
};

// Settings that are parts of the attribute functional_weights.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kFunctionalWeights{
    {{"weight_user", "user"},
     {"weight_department", "group"},
     {"weight_project", "project"},
     {"weight_job", "job"}}};

class SettingsReader {
  public:
    SettingsReader(Output& out, const File& file)
        : out_(out),
          file_(file),
          has_tree_(out.folder().find_lines("sstree") != nullptr),
          functional_(is_functional(file)) {}

    void read() {
        out_.expect_settings(file_, {"algorithm", "default_duration"});
        order_of_jobs();
        for (const Line& line : file_.lines) {
            line_ = &line;
            field_ = field_of(line);
            if (field_.value.empty()) {
                wrong(fmt::format("{} has no value, expected a name and a value", in_quotes(field_.name)));
                continue;
            }
            if (!seen_.emplace(field_.name).second) {
                wrong("is there twice, expected each setting once");
                continue;
            }
            setting();
        }
        order_of_vnodes();
        decay_of_adjustments();
        if (functional_weights_.empty()) return;
        out_.set(ObjectType::policy, kPolicy, "functional_weights",
                 fmt::format("{}", fmt::join(functional_weights_, ",")),
                 place_of(file_, functional_lines_, "weights of functional tickets"));
    }

  private:
    // Returns whether the file gives functional tickets. Without them the settings of these have no effect.
    static bool is_functional(const File& file) {
        return std::ranges::any_of(file.lines, [](const Line& line) {
            const Field field = field_of(line);
            return field.name == "weight_tickets_functional" &&
                   field.value.find_first_not_of('0') != std::string_view::npos;
        });
    }

    // Makes the weighted priority the order of jobs, without by_queue and help_starving_jobs, which would go
    // before it.
    void order_of_jobs() {
        out_.set(ObjectType::policy, kPolicy, "by_queue", "False", file_.path);
        out_.note(fmt::format(
            "{}: by_queue is False: as in Grid Engine, the order of jobs is over all queues", file_.path));
        out_.set(ObjectType::policy, kPolicy, "help_starving_jobs", "False", file_.path);
        out_.set(ObjectType::policy, kPolicy, "weighted_priority", "True", file_.path);
    }

    void order_of_vnodes() {
        if (!orders_by_load_) {
            if (sort_line_ != nullptr)
                out_.left_out(file_, *sort_line_, "queue_sort_method",
                              "left out: node_sort_key of the policy orders the vnodes");
            return;
        }
        if (sort_line_ != nullptr) load_lines_.push_back(sort_line_);
        std::ranges::sort(load_lines_, {}, &Line::number);
        out_.set(ObjectType::policy, kPolicy, "node_sort_key",
                 by_sequence_ ? "sort_priority HIGH,load_formula LOW" : "load_formula LOW,sort_priority HIGH",
                 place_of(file_, load_lines_,
                          sort_line_ != nullptr ? "queue_sort_method and load_formula" : "load_formula"));
    }

    void setting() {
        if (field_.name == "queue_sort_method") {
            by_sequence_ = values::lowered(field_.value) == "seqno";
            sort_line_ = line_;
            return;
        }
        const auto* row = std::ranges::find(kSettingRows, field_.name, &SettingRow::name);
        if (row != kSettingRows.end())
            return row->attribute.empty() ? leave_out(row->why)
                                          : policy(row->attribute, std::string(field_.value));
        const auto* weight = std::ranges::find(kFunctionalWeights, field_.name,
                                               &std::pair<std::string_view, std::string_view>::first);
        if (weight != kFunctionalWeights.end()) return functional_weight(weight->second);
        if (field_.name == "share_functional_shares")
            return functional("share_functional_shares", std::string(field_.value));
        if (field_.name == "policy_hierarchy") return hierarchy();
        if (field_.name == "maxujobs") return max_user_jobs();
        if (field_.name == "max_functional_jobs_to_schedule") return max_functional_jobs();
        if (field_.name == "params") return params();
        if (field_.name == "reprioritize_interval")
            return is_zero_time() ? leave_out(kOff) : policy("reprioritize", "True");
        if (field_.name == "halftime") return half_time();
        if (field_.name == "usage_weight_list") return usage_weights();
        if (field_.name == "compensation_factor")
            return group("compensation_factor", std::string(field_.value));
        if (field_.name == "halflife_decay_list")
            return leave_out(nothing() ? kOff : "left out: an entity has one usage, and so one half-life");
        if (field_.name == "max_reservation") return max_reservation();
        if (field_.name == "weight_deadline") return weight_deadline();
        if (field_.name == "weight_priority") return weight_priority();
        if (field_.name == "load_formula") return load_formula();
        if (field_.name == "job_load_adjustments") return load_adjustments();
        if (field_.name == "load_adjustment_decay_time") {
            decay_ = {line_, field_};
            return;
        }
        if (field_.name == "default_duration") return duration("default_duration", field_.value, kNoDuration);
        leave_out("left out: pbs_migrate doesn't know this setting");
    }

    void wrong(std::string message) {
        out_.problem(file_, *line_, field_.value.empty() ? field_.name : field_.value, field_.name,
                     std::move(message));
    }
    void leave_out(std::string_view why) { out_.left_out(file_, *line_, field_.name, why); }
    bool nothing() const { return values::lowered(field_.value) == "none"; }
    bool is_zero_time() const { return field_.value.find_first_not_of("0:") == std::string_view::npos; }

    void policy(std::string_view attribute, const std::string& value) {
        out_.set_checked(file_, *line_, field_, ObjectType::policy, kPolicy, attribute, value);
    }
    void functional(std::string_view attribute, const std::string& value) {
        if (functional_) return policy(attribute, value);
        if (const auto read =
                objects::parse_value(*objects::find_attribute(ObjectType::policy, attribute), value);
            !read)
            return wrong(read.error().message);
        leave_out(kNoFunctional);
    }
    void group(std::string_view attribute, const std::string& value) {
        if (!has_tree_) return leave_out(kNoTree);
        out_.set_checked(file_, *line_, field_, ObjectType::fs_group, kGroup, attribute, value);
    }

    void duration(std::string_view attribute, std::string_view value, std::string_view why_nothing) {
        const std::string word = values::lowered(value);
        if (word == "infinity" || word == "none") return leave_out(why_nothing);
        policy(attribute, std::string(value));
    }

    void functional_weight(std::string_view kind) {
        const auto weight = values::decimal(field_.value);
        if (!weight || *weight < 0)
            return wrong(
                fmt::format("{} is no weight, expected a number of at least 0", in_quotes(field_.value)));
        if (!functional_) return leave_out(kNoFunctional);
        std::string element = fmt::format("{}={}", kind, *weight);
        if (!out_.checked_element(file_, *line_, field_.value, field_.name, "functional_weights", element))
            return;
        functional_weights_.push_back(std::move(element));
        functional_lines_.push_back(line_);
    }

    void hierarchy() {
        const std::string letters = values::uppered(field_.value);
        const std::set<char> different(letters.begin(), letters.end());
        const bool some =
            letters.find_first_not_of("OFS") == std::string::npos && different.size() == letters.size();
        if (!some && letters != "NONE")
            return wrong(fmt::format("{} is no order, expected some of O, F and S, each once, or NONE",
                                     in_quotes(field_.value)));
        policy("ticket_order", letters);
    }

    void max_user_jobs() {
        const auto number = values::digits<std::int64_t>(field_.value);
        if (!number)
            return wrong(fmt::format("{} is no number, expected 0 or more", in_quotes(field_.value)));
        if (*number == 0) return leave_out(kOff);
        const std::string from = place_of(file_, {line_}, field_.name);
        const std::string quota = out_.new_quota(file_, *line_, "maxujobs", field_.name);
        out_.set(ObjectType::quota, quota, "rule", fmt::format("users={{*}} to jobs={}", *number), from,
                 "each");
        out_.set(ObjectType::quota, quota, "enabled", "True", from);
    }

    void max_functional_jobs() {
        const auto number = values::digits<std::int64_t>(field_.value);
        if (!number)
            return wrong(fmt::format("{} is no number, expected 0 or more", in_quotes(field_.value)));
        if (!functional_) return leave_out(kNoFunctional);
        const std::int64_t here = std::clamp<std::int64_t>(*number, 1, 100000);
        if (here != *number)
            out_.note(file_, *line_, field_.name, fmt::format("is {} here: 1 to 100000 jobs", here));
        policy("max_functional_jobs", std::to_string(here));
    }

    void params() {
        if (nothing()) return leave_out(kOff);
        std::string_view rest = field_.value;
        bool done = false;
        for (const std::string_view word : values::words(rest)) {
            for (const std::string_view param : values::split(word, ',')) {
                const std::size_t equals = std::min(param.find('='), param.size());
                if (param.substr(0, equals) != "DURATION_OFFSET") continue;
                duration("duration_offset", param.substr(std::min(equals + 1, param.size())), kOff);
                done = true;
            }
        }
        if (!done || rest.find_first_of(", ") != std::string_view::npos)
            leave_out(
                "left out: PROFILE, MONITOR and the like: pbs_diag and pbs_web show what a scheduler "
                "does");
    }

    void half_time() {
        const auto hours = values::digits<std::int32_t>(field_.value);
        if (!hours)
            return wrong(
                fmt::format("{} is no number of hours, expected 0 or more", in_quotes(field_.value)));
        if (*hours == 0) return group("decay_factor", "1");
        group("half_life", fmt::format("{}:00:00", *hours));
    }

    void usage_weights() {
        std::vector<std::string> terms;
        for (const std::string_view part : values::split(field_.value, ',')) {
            const std::size_t equals = std::min(part.find('='), part.size());
            const std::string_view name = values::trim(part.substr(0, equals));
            const auto weight = values::decimal(values::trim(part.substr(std::min(equals + 1, part.size()))));
            if (name.empty() || !weight || *weight < 0)
                return out_.problem(
                    file_, *line_, part, field_.name,
                    fmt::format("{} is no weight of usage, expected cpu=1.0 or the like", in_quotes(part)));
            const std::string factor = *weight == 1 ? "" : fmt::format("{}*", *weight);
            if (*weight == 0) continue;
            if (name == "cpu") {
                terms.push_back(factor + "cput");
            } else if (name == "mem") {
                terms.push_back(factor + "mem*walltime/1048576");
            } else {
                out_.note(file_, *line_, field_.name,
                          fmt::format("{} is left out: it isn't measured here", printable(name)));
            }
        }
        if (terms.empty()) return leave_out(has_tree_ ? "left out: nothing counts as usage" : kNoTree);
        group("usage_formula", fmt::format("{}", fmt::join(terms, "+")));
    }

    void max_reservation() {
        const auto number = values::digits<std::int32_t>(field_.value);
        if (!number)
            return wrong(fmt::format("{} is no number, expected 0 or more", in_quotes(field_.value)));
        policy("strict_ordering", *number == 0 ? "False" : "True");
        if (*number == 0) return;
        policy("backfill_depth", std::to_string(*number));
        out_.reserves(place_of(file_, {line_}, field_.name));
        out_.note(file_, *line_, field_.name,
                  "the first waiting jobs have reservations, whether or not they ask for one (-R y)");
    }

    // In Grid Engine only the users of a list may set deadlines, and at first nobody is in it.
    void weight_deadline() {
        const auto users = out_.deadline_users();
        const bool nobody = users && values::lowered(*users) == "none";
        const bool some = values::decimal(field_.value).value_or(0) != 0;
        if (some && nobody)
            out_.note(
                file_, *line_, field_.name,
                fmt::format("is 0 here, as nobody is in the list {}: to count deadlines of some users, set "
                            "it to {}, and deadline_users",
                            kDeadlineUsers, printable(field_.value)));
        if (some && !users)
            out_.note(
                file_, *line_, field_.name,
                fmt::format("the deadlines of all users count, as su/{} is missing: set deadline_users, or "
                            "weight_deadline=0 to count none",
                            kDeadlineUsers));
        policy(field_.name, some && nobody ? "0" : std::string(field_.value));
    }

    void weight_priority() {
        if (values::decimal(field_.value).value_or(0) != 0)
            out_.note(
                file_, *line_, field_.name,
                "users may raise the Priority of their jobs here (-p), not only lower it: with "
                "weight_job_priority=0 it doesn't count, and operators can raise jobs by override_tickets");
        policy("weight_job_priority", std::string(field_.value));
    }

    // Returns the name of a load in PBS. Empty: PBS has no such load, which the report says then.
    std::string load_name(std::string_view name) {
        ComplexName load = names_.load(name);
        if (load.resource.empty())
            leave_out(
                fmt::format("left out: the vnodes here have no load {}; a number that is set in their "
                            "resources_available can be one",
                            printable(name)));
        return load.resource;
    }

    // Converts a sum of loads with weights: "np_load_avg+0.5*mem_part", also with $ before names.
    void load_formula() {
        if (nothing()) return leave_out(kOff);
        std::string formula;
        std::string_view rest = field_.value;
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find_first_of("+-* "), rest.size());
            std::string_view word = rest.substr(0, end);
            if (!word.empty() && !values::decimal(word)) {
                word.remove_prefix(word.starts_with('$') ? 1 : 0);
                const std::string name = load_name(word);
                if (name.empty()) return;
                formula += name;
            } else {
                formula += word;
            }
            if (end < rest.size()) formula += rest[end];
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        if (const auto compiled = objects::Formula::compile(formula); !compiled)
            return wrong(fmt::format("{} is no formula of loads, expected one such as np_load_avg: {}",
                                     in_quotes(field_.value), compiled.error().text));
        policy("load_formula", formula);
        orders_by_load_ = true;
        load_lines_ = {line_};
    }

    void load_adjustments() {
        if (nothing()) return leave_out(kOff);
        std::vector<std::string> elements;
        for (const std::string_view word : values::words(field_.value)) {
            for (const std::string_view part : values::split(word, ',')) {
                if (part.empty()) continue;
                const std::size_t equals = std::min(part.find('='), part.size());
                const auto number = amount_of(part.substr(std::min(equals + 1, part.size())));
                if (equals == 0 || !number || *number < 0)
                    return out_.problem(
                        file_, *line_, part, field_.name,
                        fmt::format("{} is no adjustment, expected np_load_avg=0.5 or the like",
                                    in_quotes(part)));
                const std::string name = load_name(part.substr(0, equals));
                if (name.empty()) continue;
                const bool is_size = names_.load(part.substr(0, equals)).type == ComplexType::size;
                elements.push_back(fmt::format("{}={}", name, is_size ? *number / 1024 : *number));
            }
        }
        if (elements.empty()) return;
        policy(field_.name, fmt::format("{}", fmt::join(elements, ",")));
        adjusts_ = true;
    }

    void decay_of_adjustments() {
        if (decay_.first == nullptr) return;
        std::tie(line_, field_) = decay_;
        if (nothing()) return leave_out(kOff);
        if (adjusts_) return policy(field_.name, std::string(field_.value));
        leave_out("left out: without job_load_adjustments it has no effect");
    }

    Output& out_;
    const File& file_;
    const ComplexNames names_{out_.folder().find("sc")};
    const bool has_tree_;
    const bool functional_;  // there are functional tickets
    const Line* line_ = nullptr;
    Field field_;
    std::set<std::string, std::less<>> seen_;
    std::vector<std::string> functional_weights_;
    std::vector<const Line*> functional_lines_;
    bool orders_by_load_ = false;
    const Line* sort_line_ = nullptr;  // queue_sort_method
    bool by_sequence_ = false;         // vnodes are ordered by sort_priority first, and then by load
    std::vector<const Line*> load_lines_;
    std::pair<const Line*, Field> decay_{};  // load_adjustment_decay_time
    bool adjusts_ = false;                   // there are job_load_adjustments
};

}  // namespace

void read_settings(Output& out) {
    if (const File* file = out.folder().find_lines("ssconf")) SettingsReader(out, *file).read();
}

}  // namespace pbs::migrate::grid_engine
