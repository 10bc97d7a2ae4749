// Reads sq/: a queue gets the time_windows of its calendar, and the policy gets the queue's load_thresholds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "migrate/grid_engine/output.h"
#include "migrate/grid_engine/resource_names.h"
#include "migrate/words.h"
#include "objects/forms.h"
#include "values/comparison.h"
#include "values/text.h"

namespace pbs::migrate::grid_engine {
namespace {

using objects::ObjectType;

// Lines of a queue that become nothing. `why` names the setting of PBS with a similar purpose, if any.
struct QueueRow {
    std::string_view names;  // separated by blanks
    std::string_view why;
};

constexpr std::array kQueueRows{
    QueueRow{"qname",
             "the queue itself isn't made: create it before this migration, as a new queue has no windows"},
    QueueRow{"hostlist", "left out: vnodes serve all queues, or the one in their attribute queue"},
    QueueRow{"seq_no", "left out: sort_priority of vnodes gives them an order"},
    QueueRow{"suspend_thresholds nsuspend suspend_interval",
             "left out: preemption and the end of time_windows suspend jobs, loads don't"},
    QueueRow{"slots complex_values", "left out: resources_available of vnodes and of the queue has amounts"},
    QueueRow{"pe_list qtype", "left out: jobs ask with select and place"},
    QueueRow{"user_lists xuser_lists projects xprojects",
             "left out: acl_users, acl_groups and resources_max of the queue say who may use it"},
    QueueRow{"subordinate_list",
             "left out: preemption of the policy makes room for queues of higher Priority"},
    QueueRow{"s_rt h_rt s_cpu h_cpu s_rss h_rss s_vmem h_vmem s_fsize h_fsize",
             "left out: resources_max of the queue limits jobs"},
    QueueRow{"s_data h_data s_stack h_stack s_core h_core",
             "left out: no resource here is a limit on a process's data, stack or core"},
    QueueRow{
        "priority min_cpu_interval processors ckpt_list rerun tmpdir shell prolog epilog shell_start_mode "
        "starter_method suspend_method resume_method terminate_method notify owner_list initial_state",
        "left out: it is about how jobs run, and not when"},
};

class QueueReader {
  public:
    QueueReader(Output& out, const File& file, const CalendarWindows& calendars)
        : out_(out), file_(file), calendars_(calendars) {}

    void read() {
        for (const Line& line : file_.lines) {
            const Field field = field_of(line);
            if (field.name != "qname") continue;
            queue_ = field.value;
            if (queue_ != file_.name)
                out_.problem(file_, line, field.value, field.name, "isn't the file's name, expected that");
        }
        if (queue_.empty() && !file_.lines.empty())
            out_.problem(file_, file_.lines.front(), file_.lines.front().text, "",
                         "has no line qname, expected one");
        std::set<std::string, std::less<>> seen;
        for (const Line& line : file_.lines) {
            const Field field = field_of(line);
            if (!out_.is_first(file_, line, field.name, seen)) continue;
            if (field.value.empty()) {
                out_.problem(file_, line, field.name, field.name,
                             "has no value, expected a name and a value");
            } else if (const std::string word = values::lowered(field.value);
                       word == "none" || word == "infinity" || word == "undefined") {
                out_.left_out(file_, line, field.name, "nothing to carry over: NONE, INFINITY or UNDEFINED");
            } else if (field.name == "calendar") {
                calendar(line, field);
            } else if (field.name == "load_thresholds") {
                thresholds(line, field);
            } else {
                leave_out(line, field);
            }
        }
    }

  private:
    void leave_out(const Line& line, const Field& field) {
        for (const QueueRow& row : kQueueRows)
            for (const std::string_view name : values::words(row.names))
                if (name == field.name) return out_.left_out(file_, line, field.name, row.why);
        out_.left_out(file_, line, field.name, "left out: pbs_migrate doesn't know this setting");
    }

    // Returns whether PBS allows the queue's name. If not, notes that the line is left out.
    bool can_be_here(const Line& line, const Field& field) {
        if (objects::is_queue_name(queue_)) return true;
        out_.note(file_, line, field.name,
                  fmt::format("left out: {} can't be the name of a queue here, which has at most 15 "
                              "letters, digits and any of -_.",
                              in_quotes(queue_)));
        return false;
    }

    void calendar(const Line& line, const Field& field) {
        const std::size_t end = std::min(field.value.find(','), field.value.size());
        const std::string_view name = values::trim(field.value.substr(0, end));
        if (end < field.value.size())
            out_.note(
                file_, line, field.name,
                "calendars of single hosts are left out: the windows of a queue hold on all its vnodes");
        if (name == "NONE") return;
        const auto found = calendars_.find(std::string(name));
        if (found == calendars_.end())
            return out_.problem(file_, line, name, field.name,
                                fmt::format("there is no calendar {}, expected the file scal/{} with it "
                                            "(qconf -scal {})",
                                            in_quotes(name), printable(name), printable(name)));
        if (!can_be_here(line, field)) return;
        if (found->second.empty()) return out_.left_out(file_, line, field.name, "the calendar is always on");
        const std::string from = place_of(file_, {&line}, field.name);
        out_.set(ObjectType::queue, std::string(queue_), "time_window",
                 fmt::format("{}", fmt::join(found->second, ",")), from);
        out_.closes(from);
    }

    // Reads "np_load_avg=1.75,own=2,[host=np_load_avg=2]". Elements in brackets, for single hosts, are left
    // out.
    void thresholds(const Line& line, const Field& field) {
        const std::string_view own = field.value.substr(0, field.value.find('['));
        if (own.size() < field.value.size())
            out_.note(file_, line, field.name,
                      "thresholds of single hosts are left out: those of a queue hold on all its vnodes");
        if (!can_be_here(line, field)) return;
        for (const std::string_view word : values::words(own))
            for (const std::string_view part : values::split(word, ','))
                if (!part.empty() && values::lowered(part) != "none") threshold(line, field, part);
    }

    void threshold(const Line& line, const Field& field, std::string_view part) {
        const std::size_t equals = std::min(part.find('='), part.size());
        const std::string_view name = part.substr(0, equals);
        const auto number = amount_of(part.substr(std::min(equals + 1, part.size())));
        if (name.empty() || !number)
            return out_.problem(
                file_, line, part, field.name,
                fmt::format("{} is no threshold, expected np_load_avg=1.75 or the like", in_quotes(part)));
        const ComplexName load = names_.load(name);
        if (load.resource.empty())
            return out_.note(
                file_, line, field.name,
                fmt::format("{} is left out: the vnodes here have no such load", printable(name)));
        std::string_view sign = load.relation;
        const auto how = values::take_comparison(sign);
        const bool is_order =
            how && sign.empty() && how != values::Comparison::equal && how != values::Comparison::unequal;
        const double here = load.type == ComplexType::size ? *number / 1024 : *number;
        out_.threshold(
            fmt::format("{}:{} {} {}", queue_, load.resource, is_order ? load.relation : ">=", here),
            place_of(file_, {&line}, field.name));
    }

    Output& out_;
    const File& file_;
    const CalendarWindows& calendars_;
    const ComplexNames names_{out_.folder().find("sc")};
    std::string_view queue_;
};

}  // namespace

void read_queues(Output& out, const CalendarWindows& windows) {
    for (const File* file : out.folder().of_kind("sq")) QueueReader(out, *file, windows).read();
}

}  // namespace pbs::migrate::grid_engine
