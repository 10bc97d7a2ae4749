// Reads sp/: parallel environments. Jobs have none here; the report says how a job asks for what an
// environment gave it. How many slots a range counts as in urgencies becomes the policy's urgency_size.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdint>
#include <set>
#include <utility>

#include "migrate/grid_engine/output.h"
#include "migrate/words.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::migrate::grid_engine {
namespace {

using objects::ObjectType;

struct EnvironmentRow {
    std::string_view names;  // separated by blanks
    std::string_view why;
};

constexpr std::array kEnvironmentRows{
    EnvironmentRow{"pe_name", "names the environment: jobs have none here, and ask with select and place"},
    EnvironmentRow{"slots", "left out: a quota with shapes=multi limits what parallel jobs use together"},
    EnvironmentRow{"user_lists xuser_lists",
                   "left out: acl_users and acl_groups of a queue say who may use it"},
    EnvironmentRow{"start_proc_args stop_proc_args control_slaves job_is_first_task accounting_summary "
                   "qsort_args daemon_forks_slaves master_forks_slaves ign_sreq_on_mhost",
                   "left out: it is about how jobs run, and not when"},
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kRules{
    {{"$pe_slots", "jobs ask for it with place=pack: all CPUs on one host"},
     {"$fill_up", "the usual: chunks of one CPU (select=4:ncpus=1) fill the vnodes in their order"},
     {"$round_robin", "jobs ask for it with chunk_order=round_robin, or get it by that of the policy"}}};

class EnvironmentsReader {
  public:
    explicit EnvironmentsReader(Output& out) : out_(out) {}

    void read() {
        for (const File* file : out_.folder().of_kind("sp")) read_file(*file);
        if (sizes_.empty()) return;
        const bool one = different_.size() == 1;
        const std::string& size = *different_.begin();
        if (one && (size == "min" || size == "max" || size == "avg")) {
            std::vector<std::string> from;
            for (const auto& [file, line] : sizes_) from.push_back(place_of(*file, {line}, "urgency_slots"));
            return out_.set(ObjectType::policy, kPolicy, "urgency_size", size,
                            fmt::format("{}", fmt::join(from, ", ")));
        }
        for (const auto& [file, line] : sizes_)
            out_.left_out(
                *file, *line, "urgency_slots",
                one ? "left out: urgency_size of the policy is min, max or avg, and no number"
                    : "left out: environments differ in it, and urgency_size of the policy holds for "
                      "all jobs");
    }

  private:
    void read_file(const File& file) {
        std::string_view name;
        for (const Line& line : file.lines)
            if (const Field field = field_of(line); field.name == "pe_name") name = field.value;
        if (name != file.name)
            return out_.problem(file, file.lines.front(), file.lines.front().text, "",
                                "has no line pe_name with the file's name, expected one");
        std::set<std::string, std::less<>> seen;
        for (const Line& line : file.lines)
            if (const Field field = field_of(line); out_.is_first(file, line, field.name, seen))
                read_line(file, line, field);
    }

    void read_line(const File& file, const Line& line, const Field& field) {
        if (field.name == "allocation_rule") return rule(file, line, field);
        if (field.name == "urgency_slots") return size(file, line, field);
        for (const EnvironmentRow& row : kEnvironmentRows)
            for (const std::string_view name : values::words(row.names))
                if (name == field.name) return out_.left_out(file, line, field.name, row.why);
        out_.left_out(file, line, field.name, "left out: pbs_migrate doesn't know this setting");
    }

    void rule(const File& file, const Line& line, const Field& field) {
        for (const auto& [rule, how] : kRules)
            if (field.value == rule)
                return out_.note(file, line, field.name, fmt::format("{}: {}", rule, how));
        const auto number = values::digits<std::int32_t>(field.value);
        if (!number || *number < 1)
            return out_.problem(file, line, field.value.empty() ? field.name : field.value, field.name,
                                fmt::format("{} is no rule, expected $pe_slots, $fill_up, $round_robin or a "
                                            "number of slots for each host",
                                            in_quotes(field.value)));
        out_.note(file, line, field.name, fmt::format("{0}: jobs ask for it with per_host={0}", *number));
    }

    void size(const File& file, const Line& line, const Field& field) {
        std::string word = values::lowered(field.value);
        if (word != "min" && word != "max" && word != "avg" && !values::digits<std::int32_t>(word))
            return out_.problem(
                file, line, field.value.empty() ? field.name : field.value, field.name,
                fmt::format("{} is neither min, max or avg nor a number", in_quotes(field.value)));
        different_.insert(std::move(word));
        sizes_.emplace_back(&file, &line);
    }

    Output& out_;
    std::vector<std::pair<const File*, const Line*>> sizes_;  // the lines urgency_slots
    std::set<std::string> different_;                         // their values
};

}  // namespace

void read_environments(Output& out) {
    EnvironmentsReader(out).read();
}

}  // namespace pbs::migrate::grid_engine
