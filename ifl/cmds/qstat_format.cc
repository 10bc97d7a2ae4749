#include "ifl/cmds/qstat_format.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ifl/cmds/datetime.h"
#include "ifl/cmds/text.h"
#include "values/counts.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {

constexpr std::string_view kBlank = " -- ";

// The values of a job that the formats show.
struct JobFields {
    std::string_view name = kBlank;
    std::string_view owner = kBlank;
    std::string_view state = kBlank;
    std::string_view queue = kBlank;
    std::string_view session = kBlank;
    std::string_view nodes = kBlank;
    std::string_view tasks = kBlank;
    std::string memory{kBlank};
    std::string_view walltime_asked;
    std::string_view cput_asked;
    std::string_view walltime_used;
    std::string_view cput_used;
    std::string_view exec_host;
    std::string_view comment;
    std::string_view estimated_start;
    std::string_view array_counts;
};

void take_request(JobFields& job, std::string_view resource, std::string_view value,
                  const QstatOptions& options) {
    if (resource == "nodect")
        job.nodes = value;
    else if (resource == "ncpus" && value != "0")
        job.tasks = value;
    else if (resource == "mem")
        job.memory = size_text(value, options);
    else if (resource == "walltime")
        job.walltime_asked = value;
    else if (resource == "cput")
        job.cput_asked = value;
}

JobFields fields_of(const attrl* attribute, const QstatOptions& options) {
    JobFields job;
    for (; attribute != nullptr; attribute = attribute->next) {
        const std::string_view name = view(attribute->name);
        const std::string_view resource = view(attribute->resource);
        const std::string_view value = view(attribute->value);
        if (name == ATTR_N)
            job.name = value;
        else if (name == ATTR_owner)
            job.owner = value.substr(0, value.find('@'));
        else if (name == ATTR_state)
            job.state = value.substr(0, 1);
        else if (name == ATTR_queue)
            job.queue = value.substr(0, value.find('@'));
        else if (name == ATTR_session)
            job.session = value;
        else if (name == ATTR_l)
            take_request(job, resource, value, options);
        else if (name == ATTR_used && resource == "walltime")
            job.walltime_used = value;
        else if (name == ATTR_used && resource == "cput")
            job.cput_used = value;
        else if (name == ATTR_exechost)
            job.exec_host = value;
        else if (name == ATTR_comment)
            job.comment = value;
        else if (name == ATTR_estimated && resource == "start_time")
            job.estimated_start = value;
        else if (name == ATTR_array_state_count)
            job.array_counts = value;
    }
    return job;
}

// The part "12.server" of "12.server.site.org".
std::string_view short_id(std::string_view id) {
    const std::size_t first = id.find('.');
    return first == std::string_view::npos ? id : id.substr(0, id.find('.', first + 1));
}

long long percent_of(std::string_view used, std::string_view asked) {
    const auto done = parse_duration(used);
    const auto all = parse_duration(asked);
    return done && all && *all > 0 ? *done * 100 / *all : -1;
}

// The percentage of a job that is done, by its subjobs, its CPU time or its walltime.
std::string percent_text(const JobFields& job) {
    if (job.state == "Q" || job.state == "T" || job.state == "W") return "-- ";
    if (job.state == "X") return "100";
    long long percent = std::max(percent_of(job.cput_used, job.cput_asked),
                                 percent_of(job.walltime_used, job.walltime_asked));
    if (!job.array_counts.empty()) {
        const long long done = values::count_of(job.array_counts, "Expired");
        const long long all = done + values::count_of(job.array_counts, "Queued") +
                              values::count_of(job.array_counts, "Running") +
                              values::count_of(job.array_counts, "Exiting");
        percent = all > 0 ? done * 100 / all : -1;
    }
    return percent < 0 ? "-- " : fmt::format("{:>3} ", percent);
}

struct ListWidths {
    std::size_t id;
    std::size_t name;
    std::size_t user;
    std::size_t queue;
};

constexpr ListWidths kListWidths{17, 16, 16, 16};
constexpr ListWidths kLongListWidths{22, 16, 16, 16};
constexpr ListWidths kWideListWidths{30, 15, 15, 15};

const ListWidths& list_widths(const QstatHeading& heading, const QstatOptions& options) {
    return options.wide ? kWideListWidths : heading.long_ids ? kLongListWidths : kListWidths;
}

std::string jobs_heading(const QstatHeading& heading, const QstatOptions& options) {
    const ListWidths& widths = list_widths(heading, options);
    const std::string_view dashes = "------------------------------";
    const std::string_view time = options.percent ? " % done " : "Time Use";
    return fmt::format("{:<{}} {:<{}} {:<{}}  {} S Queue\n{:<{}} {:<{}} {:<{}}  -------- - {}\n",  //
                       "Job id", widths.id, "Name", widths.name, "User", widths.user, time,
                       dashes.substr(0, widths.id - 1), widths.id, dashes.substr(0, widths.name), widths.name,
                       dashes.substr(0, widths.user), widths.user,
                       options.wide ? dashes.substr(0, widths.queue) : dashes.substr(0, 5));
}

struct AlternateWidths {
    std::size_t id;
    std::size_t user;
    std::size_t queue;
    std::size_t name;
    std::size_t session;
    std::size_t nodes;
    std::size_t tasks;
    std::size_t comment;  // of the comment, in the line below the job
};

constexpr AlternateWidths kAlternate{15, 8, 8, 10, 6, 3, 3, 74};
constexpr AlternateWidths kAlternateLong{20, 8, 8, 10, 6, 3, 3, 74};
constexpr AlternateWidths kAlternateWide{30, 15, 15, 15, 8, 4, 5, 114};

std::string dash_line(std::size_t width) {
    return std::string(width, '-');
}

std::string alternate_heading(const AlternateWidths& w, const QstatHeading& heading,
                              const QstatOptions& options) {
    const std::size_t before = w.id + w.user + w.queue + w.name + w.session + w.nodes + w.tasks + 7;
    std::string text = fmt::format("\n{}: {}\n", heading.server, printable(heading.comment));
    if (options.estimated_start) text += fmt::format("{:<{}}Est\n", "", before + 15);
    text += fmt::format("{:<{}}Req'd  Req'd   {}\n", "", before, options.estimated_start ? "Start" : "Elap");
    text += fmt::format("{:<{}} {:<{}} {:<{}} {:<{}} {:<{}} {:<{}} {:<{}} Memory Time  S Time\n", "Job ID",
                        w.id, "Username", w.user, "Queue", w.queue, "Jobname", w.name, "SessID", w.session,
                        "NDS", w.nodes, "TSK", w.tasks);
    text += fmt::format("{} {} {} {} {} {} {} ------ ----- - -----\n", dash_line(w.id), dash_line(w.user),
                        dash_line(w.queue), dash_line(w.name), dash_line(w.session), dash_line(w.nodes),
                        dash_line(w.tasks));
    return text;
}

// The chunks of "node1/0*2+node2/0", with host names cut at their first dot, unless they are addresses.
std::vector<std::string> short_hosts(std::string_view exec_host) {
    std::vector<std::string> chunks;
    for (const std::string_view chunk : values::split(exec_host, '+')) {
        const std::size_t slash = std::min(chunk.find('/'), chunk.size());
        std::string_view host = chunk.substr(0, slash);
        const bool address = host.find_first_not_of("0123456789.") == std::string_view::npos;
        if (!address) host = host.substr(0, host.find('.'));
        chunks.push_back(std::string(host) + std::string(chunk.substr(slash)));
    }
    return chunks;
}

// The hosts below the job, 79 columns a line; with -1 on the job's line.
std::string hosts_text(std::string_view exec_host, bool one_line) {
    if (exec_host.empty()) return one_line ? "  -- \n" : "    -- \n";
    const std::vector<std::string> chunks = short_hosts(exec_host);
    if (one_line) return fmt::format(" {}\n", printable(fmt::format("{}", fmt::join(chunks, "+"))));
    constexpr std::size_t kLine = 76;
    std::string text;
    std::string line;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        const std::string chunk = chunks[i] + (i + 1 < chunks.size() ? "+" : "");
        if (!line.empty() && line.size() + chunk.size() > kLine) {
            text += fmt::format("   {}\n", printable(line));
            line.clear();
        }
        line += chunk;
    }
    return text + fmt::format("   {}\n", printable(line));
}

std::string comment_line(std::string_view comment, std::size_t width, bool one_line) {
    // on the job's line four blanks precede the comment, on a line of its own three
    const std::string_view before = one_line ? "    " : "   ";
    if (comment.empty()) return fmt::format("{} -- \n", before);
    if (comment.size() <= width) return fmt::format("{}{}\n", before, printable(comment));
    return fmt::format("{}{}...\n", before, printable(comment.substr(0, width - 3)));
}

// The first five characters of a time: HH:MM.
std::string_view five(std::string_view time) {
    return time.empty() ? kBlank : time.substr(0, 5);
}

// Puts a number into a column. A number that doesn't fit is cut and ends with '*', such as "99*" for 9999.
// kBlank, which stands for no number, is cut without '*'.
std::string number_column(std::string_view number, std::size_t width) {
    return right(number == kBlank ? number.substr(0, width) : number, width);
}

std::string alternate_row(const batch_status& status, const AlternateWidths& w, const QstatOptions& options,
                          std::time_t now) {
    const JobFields job = fields_of(status.attribs, options);
    const bool cput = !job.cput_asked.empty();
    std::string time(cput ? five(job.cput_used) : five(job.walltime_used));
    if (options.estimated_start) {
        const bool waits = job.state == "Q" || job.state == "S" || job.state == "B";
        const auto start = parse_integer(job.estimated_start);
        time = waits && start ? start_time_text(static_cast<std::time_t>(*start), now) : "--";
    }
    std::string text = fmt::format(
        "{} {} {} {} {} {} {} {:>6} {:>5} {:.1} {:>5}", left(view(status.name), w.id),
        left(job.owner, w.user), left(job.queue, w.queue), left(job.name, w.name),
        right(job.session, w.session), number_column(job.nodes, w.nodes), number_column(job.tasks, w.tasks),
        job.memory, cput ? five(job.cput_asked) : five(job.walltime_asked), job.state, time);
    if (!options.one_line) text += '\n';
    if (options.nodes) text += hosts_text(job.exec_host, options.one_line);
    if (options.comments) {
        // with -n, hosts_text() has ended the job's line
        text += comment_line(job.comment, w.comment, options.one_line && !options.nodes);
    }
    return text;
}

// Returns the jobs in the order of their starts: first running jobs, then waiting jobs whose estimated start
// is to come, then the other jobs.
std::vector<const batch_status*> by_start(const batch_status* jobs, std::time_t now) {
    struct Key {
        int group;
        long long time;
        const batch_status* job;
    };
    std::vector<Key> keys;
    for (; jobs != nullptr; jobs = jobs->next) {
        const auto started = parse_integer(value_of(jobs->attribs, ATTR_stime).value_or(""));
        const auto estimated =
            parse_integer(value_of(jobs->attribs, ATTR_estimated, "start_time").value_or(""));
        if (started)
            keys.push_back({0, *started, jobs});
        else if (estimated && *estimated >= now)
            keys.push_back({1, *estimated, jobs});
        else
            keys.push_back({2, 0, jobs});
    }
    std::stable_sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
        return a.group != b.group ? a.group < b.group : a.time < b.time;
    });
    std::vector<const batch_status*> sorted;
    sorted.reserve(keys.size());
    for (const Key& key : keys) sorted.push_back(key.job);
    return sorted;
}

bool is_true(std::string_view value) {
    return values::same_word(value, "true") || value == "1" || values::same_word(value, "t");
}

// A count in a column of five.
std::string number_cell(std::string_view number) {
    return right(number, 5);
}

struct StateCounts {
    std::array<std::string, 6> cells;  // Que Run Hld Wat Trn Ext
};

StateCounts state_counts(const attrl* attributes) {
    const std::string_view counts = value_of(attributes, ATTR_count).value_or("");
    constexpr std::array<std::string_view, 6> kStates{"Queued",  "Running", "Held",
                                                      "Waiting", "Transit", "Exiting"};
    StateCounts cells;
    for (std::size_t i = 0; i < kStates.size(); ++i)
        cells.cells[i] = number_cell(std::to_string(values::count_of(counts, kStates[i])));
    return cells;
}

}  // namespace

std::string size_text(std::string_view value, const QstatOptions& options) {
    constexpr std::string_view kUnits = " kmgtp?";
    std::size_t digits = 0;
    while (digits < value.size() && values::is_digit(value[digits])) ++digits;
    const auto parsed = parse_integer(value.substr(0, digits));
    if (!parsed) return std::string(value.substr(0, 5));
    auto amount = static_cast<unsigned long long>(*parsed);
    const std::string_view suffix = value.substr(digits);
    const std::size_t found =
        suffix.empty() || suffix[0] == ' ' ? std::string_view::npos : kUnits.find(suffix[0]);
    std::size_t unit = found == std::string_view::npos || found > 5 ? 0 : found;
    bool words = suffix.find('w') != std::string_view::npos;
    if (words) amount *= 8;  // to bytes
    if (options.megawords || options.gigabytes) {
        const std::size_t wanted = options.megawords ? 2 : 3;
        words = options.megawords;
        for (; unit < wanted; ++unit) amount = (amount + 1023) / 1024;
        for (; unit > wanted; --unit) amount *= 1024;
    }
    if (words) amount = (amount + 7) / 8;
    for (; amount > 9999 && unit < 6; ++unit) amount = (amount + 1023) / 1024;
    std::string text = std::to_string(amount);
    if (unit > 0) text += kUnits[unit];
    return text + (words ? 'w' : 'b');
}

AttrList shown_job_attributes(const QstatOptions& options) {
    AttrList list;
    if (options.full || options.format == ListFormat::json) return list;
    const auto add = [&](std::initializer_list<const char*> names) {
        for (const char* name : names) list.add(name, "", "");
    };
    add({ATTR_N, ATTR_owner, ATTR_state, ATTR_queue, ATTR_used});
    if (options.alternate)
        add({ATTR_session, ATTR_l, ATTR_exechost, ATTR_comment, ATTR_estimated, ATTR_stime});
    else if (options.percent)
        add({ATTR_l, ATTR_array_state_count});
    return list;
}

std::string jobs_text(const batch_status* jobs, const QstatHeading& heading, const QstatOptions& options) {
    const ListWidths& widths = list_widths(heading, options);
    std::string text;
    if (heading.shown) {
        text += heading.comment.empty() ? "" : printable(heading.comment) + "\n";
        text += jobs_heading(heading, options);
    }
    for (; jobs != nullptr; jobs = jobs->next) {
        const JobFields job = fields_of(jobs->attribs, options);
        const std::string used = options.percent         ? percent_text(job)
                                 : job.cput_used.empty() ? "0"
                                                         : std::string(job.cput_used);
        // a name that fills its column is cut too, as in PBS
        const std::string name =
            job.name.size() == widths.name ? std::string(job.name) + " " : std::string(job.name);
        text += fmt::format("{} {} {}  {} {:.1} {}\n", left(short_id(view(jobs->name)), widths.id),
                            left(name, widths.name), left(job.owner, widths.user), right(used, 8), job.state,
                            left(job.queue, widths.queue));
    }
    return text;
}

std::string alternate_jobs_text(const batch_status* jobs, const QstatHeading& heading,
                                const QstatOptions& options, std::time_t now) {
    const AlternateWidths& widths = options.wide       ? kAlternateWide
                                    : heading.long_ids ? kAlternateLong
                                                       : kAlternate;
    std::string text = heading.shown ? alternate_heading(widths, heading, options) : "";
    if (options.estimated_start) {
        for (const batch_status* job : by_start(jobs, now)) text += alternate_row(*job, widths, options, now);
        return text;
    }
    for (; jobs != nullptr; jobs = jobs->next) text += alternate_row(*jobs, widths, options, now);
    return text;
}

std::string queues_text(const batch_status* queues, bool heading) {
    std::string text;
    if (heading) {
        text +=
            "Queue              Max   Tot Ena Str   Que   Run   Hld   Wat   Trn   Ext Type\n"
            "---------------- ----- ----- --- --- ----- ----- ----- ----- ----- ----- ----\n";
    }
    for (; queues != nullptr; queues = queues->next) {
        const attrl* attributes = queues->attribs;
        const auto yes_no = [&](const char* name) {
            return is_true(value_of(attributes, name).value_or("")) ? "yes" : "no";
        };
        std::string_view type = value_of(attributes, ATTR_qtype).value_or("not defined");
        const StateCounts counts = state_counts(attributes);
        text += fmt::format("{} {} {} {:>3} {:>3} {} {}\n", left(view(queues->name), 16),
                            number_cell(value_of(attributes, ATTR_maxrun).value_or("0")),
                            number_cell(value_of(attributes, ATTR_total).value_or("0")), yes_no(ATTR_enable),
                            yes_no(ATTR_start), fmt::join(counts.cells, " "), left(type, 4));
    }
    return text;
}

std::string queue_limits_text(const batch_status* queues, std::string_view server,
                              const QstatOptions& options) {
    std::string text = fmt::format(
        "\nserver: {}\n\n"
        "Queue            Memory CPU Time Walltime Node   Run   Que   Lm  State\n"
        "---------------- ------ -------- -------- ---- ----- ----- ----  -----\n",
        server);
    long long all_running = 0;
    long long all_waiting = 0;
    for (; queues != nullptr; queues = queues->next) {
        const attrl* attributes = queues->attribs;
        const auto limit = [&](const char* resource) { return value_of(attributes, ATTR_rescmax, resource); };
        const std::string_view counts = value_of(attributes, ATTR_count).value_or("");
        const long long running = values::count_of(counts, "Running");
        const long long waiting = values::count_of(counts, "Queued") + values::count_of(counts, "Held") +
                                  values::count_of(counts, "Waiting");
        all_running += running;
        all_waiting += waiting;
        const auto memory = limit("mem");
        text += fmt::format(
            "{} {:>6} {:>8} {:>8} {:>4} {:>5} {:>5} {:>4}   {} {}\n", left(view(queues->name), 16),
            memory ? size_text(*memory, options) : "--  ", limit("cput").value_or("  --   ").substr(0, 8),
            limit("walltime").value_or("  --   ").substr(0, 8), limit("nodect").value_or("-- ").substr(0, 4),
            running, waiting, value_of(attributes, ATTR_maxrun).value_or("  --").substr(0, 4),
            is_true(value_of(attributes, ATTR_enable).value_or("")) ? 'E' : 'D',
            is_true(value_of(attributes, ATTR_start).value_or("")) ? 'R' : 'S');
    }
    return text + fmt::format("{:47}----- -----\n{:47}{:>5} {:>5}\n", "", "", all_running, all_waiting);
}

std::string servers_text(const batch_status* servers, bool heading) {
    std::string text;
    if (heading) {
        text +=
            "Server             Max   Tot   Que   Run   Hld   Wat   Trn   Ext Status\n"
            "---------------- ----- ----- ----- ----- ----- ----- ----- ----- -----------\n";
    }
    for (; servers != nullptr; servers = servers->next) {
        const attrl* attributes = servers->attribs;
        text += fmt::format("{} {} {} {} {}\n", left(view(servers->name), 16),
                            number_cell(value_of(attributes, ATTR_maxrun).value_or("0")),
                            number_cell(value_of(attributes, ATTR_total).value_or("0")),
                            fmt::join(state_counts(attributes).cells, " "),
                            left(value_of(attributes, ATTR_status).value_or(""), 10));
    }
    return text;
}

}  // namespace pbs::cmds
