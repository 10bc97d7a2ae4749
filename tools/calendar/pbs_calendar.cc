// The program pbs_calendar: shows a server's calendar, and imports public holidays.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "rrule/plain_text.h"
#include "tools/calendar/ask.h"
#include "tools/calendar/changes.h"
#include "tools/calendar/dates.h"
#include "tools/calendar/import.h"
#include "tools/calendar/month.h"
#include "tools/calendar/resources.h"

namespace {

using namespace pbs::calendar;
using pbs::rrule::Instant;

constexpr int kFailed = 2;

constexpr const char* kDescription =
    "Shows which policies, time windows and non-work days of a PBS server hold from when to when, and adds\n"
    "public holidays to it.";
constexpr const char* kFooter =
    "Times are in the server's time zone: YYYY-MM-DD, YYYY-MM-DD HH:MM or YYYY-MM-DD HH:MM:SS.\n"
    "Exit status: 0 done, 1 wrong usage, 2 failed (the reason is on standard error).";

struct Arguments {
    std::string server;
    std::string from;
    std::string to;
    bool json = false;
    std::string month;
    std::string colour = "auto";
    std::string file;
    std::string svg;
    bool apply = false;
    std::string resource;
    std::string vnode;
    std::string queue;
    std::string quota;
    std::string rule;
    std::vector<std::string> of;
    std::string sched = "default";
};

// Returns the server's clock, or this machine's if the server doesn't report its clock.
Instant now(const Site& site) {
    return site.now.value_or(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
}

int fail(const std::string& message) {
    fmt::print(stderr, "pbs_calendar: {}\n", pbs::rrule::plain_text(message));
    return kFailed;
}

// Writes to a file, or to standard output if `file` is empty or "-".
int write(const std::string& file, const std::string& text) {
    if (file.empty() || file == "-") {
        fmt::print("{}", text);
        return std::fflush(stdout) == 0 ? 0 : fail(fmt::format("standard output: {}", std::strerror(errno)));
    }
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    return out ? 0 : fail(fmt::format("{}: {}", file, std::strerror(errno)));
}

// Reads a file, or standard input if `file` is "-".
Result<std::string> read(const std::string& file) {
    constexpr std::size_t kLargest = std::size_t{64} << 20;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(
        file == "-" ? stdin : std::fopen(file.c_str(), "rb"), std::fclose);
    const auto failed = [&] { return tl::unexpected(fmt::format("{}: {}", file, std::strerror(errno))); };
    if (!in) return failed();
    std::string text;
    char part[65536];
    while (const std::size_t got = std::fread(part, 1, sizeof part, in.get())) {
        text.append(part, got);
        if (text.size() > kLargest)
            return tl::unexpected(
                fmt::format("{}: more than {} bytes; expected a calendar file (.ics)", file, kLargest));
    }
    if (std::ferror(in.get()) != 0) return failed();
    return text;
}

// Returns the range of --from and --to. By default it begins now and has the given length.
Result<pbs::rrule::Interval> range(const Arguments& arguments, const Site& site, std::chrono::days length) {
    Result<Instant> from = now(site);
    if (!arguments.from.empty()) from = parse_time(arguments.from, site.zone);
    if (!from) return tl::unexpected(from.error());
    Result<Instant> to = *from + length;
    if (!arguments.to.empty()) to = parse_time(arguments.to, site.zone);
    if (!to) return tl::unexpected(to.error());
    // Limit the range: the spans within it are all held in memory.
    constexpr std::chrono::days kLongest{36525};
    if (*to - *from > kLongest)
        return tl::unexpected(std::string("--to is more than 100 years after --from"));
    if (*to <= *from) return tl::unexpected(std::string("--to is not after --from"));
    return pbs::rrule::Interval{*from, *to};
}

int changes(const Arguments& arguments, const Site& site) {
    const auto when = range(arguments, site, std::chrono::days(7));
    if (!when) return fail(when.error());
    const auto list = spans(site, when->start, when->end);
    return write({}, arguments.json ? to_json(site, list, when->start, when->end)
                                    : to_text(site, list, when->start, when->end));
}

int export_calendar(const Arguments& arguments, const Site& site) {
    const auto when = range(arguments, site, std::chrono::days(366));
    if (!when) return fail(when.error());
    return write(arguments.file, to_icalendar(site, when->start, when->end, now(site)));
}

int resources(const Arguments& arguments, const Client& client, const Site& site) {
    using Level = ResourceOwner::Level;
    const auto when = range(arguments, site, std::chrono::days(1));
    if (!when) return fail(when.error());
    const auto answers = client.resource_answers(arguments.quota.empty() ? std::string() : arguments.sched);
    if (!answers) return fail(answers.error());
    ResourceOwner owner;
    if (!arguments.vnode.empty()) owner = {Level::vnode, arguments.vnode};
    if (!arguments.queue.empty()) owner = {Level::queue, arguments.queue};
    if (!arguments.quota.empty()) owner = {Level::quota, arguments.quota, arguments.rule, arguments.of};
    const auto diagram = make_diagram(site, *answers, arguments.resource, owner, *when, now(site));
    if (!diagram) return fail(diagram.error());
    if (!arguments.svg.empty()) return write(arguments.svg, to_svg(site, *diagram));
    return write({}, arguments.json ? to_json(site, *diagram) : to_text(site, *diagram));
}

bool colours_wanted(const std::string& choice) {
    if (choice != "auto") return choice == "always";
    const char* refused = std::getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) != 0 && (!refused || !*refused);
}

int month(const Arguments& arguments, const Site& site) {
    const std::chrono::year_month_day today(
        std::chrono::floor<std::chrono::days>(site.zone.local(now(site))));
    Result<std::chrono::year_month> asked = std::chrono::year_month(today.year(), today.month());
    if (!arguments.month.empty()) asked = parse_month(arguments.month);
    if (!asked) return fail(asked.error());
    const Month made = make_month(site, *asked);
    if (!arguments.svg.empty()) return write(arguments.svg, to_svg(made));
    return write({}, to_terminal(made, colours_wanted(arguments.colour)));
}

int import_holidays(const Arguments& arguments, const Client& client, const Site& site) {
    const auto text = read(arguments.file);
    if (!text) return fail(text.error());
    const auto plan = plan_import(*text, site, now(site));
    if (!plan) return fail(fmt::format("{}: {}", arguments.file, plan.error()));
    const int shown = write({}, to_text(*plan));
    if (shown != 0) return shown;
    if (plan->added.empty()) return 0;
    if (!arguments.apply) {
        fmt::print("Nothing was changed; --apply adds these to non_work_days.\n");
        return 0;
    }
    const auto done = client.add_non_work_days(entries(*plan));
    if (!done) return fail(done.error());
    if (!done->empty()) fmt::print(stderr, "pbs_calendar: Warning: {}\n", *done);
    fmt::print("Added to non_work_days.\n");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app(kDescription, "pbs_calendar");
    app.footer(kFooter);
    app.set_version_flag("--version", std::string("pbspolicy ") + PBSPOLICY_VERSION);
    app.require_subcommand(1);
    app.fallthrough();
    app.add_option("--server", arguments.server, "The server; the default one if not given")
        ->type_name("NAME");

    const auto add_range = [&](CLI::App* command, const char* until) {
        command->add_option("--from", arguments.from, "The beginning; now if not given")->type_name("TIME");
        command->add_option("--to", arguments.to, until)->type_name("TIME");
    };
    CLI::App* list = app.add_subcommand("list", "What holds from when to when, one line each");
    add_range(list, "The end; 7 days after the beginning if not given");
    list->add_flag("--json", arguments.json, "As JSON");

    CLI::App* view =
        app.add_subcommand("month", "Prime, non-prime, dedicated time and non-work days of a month");
    view->add_option("month", arguments.month, "YYYY-MM; this month if not given")->type_name("MONTH");
    view->add_option("--color", arguments.colour, "Colours: auto (on a terminal), always, never")
        ->type_name("WHEN")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    view->add_option("--svg", arguments.svg, "Write a picture to FILE instead")->type_name("FILE");

    CLI::App* use = app.add_subcommand("resources", "How much of a resource jobs use and will use");
    use->add_option("resource", arguments.resource, "The resource, such as ncpus")
        ->type_name("NAME")
        ->required();
    CLI::Option* of_vnode =
        use->add_option("--vnode", arguments.vnode, "Of a vnode; of the server if not given");
    of_vnode->type_name("NAME");
    CLI::Option* of_queue = use->add_option("--queue", arguments.queue, "Of a queue's jobs");
    of_queue->type_name("NAME")->excludes(of_vnode);
    CLI::Option* of_quota =
        use->add_option("--quota", arguments.quota, "Of a quota's counter; the resource may be jobs, too");
    of_quota->type_name("NAME")->excludes(of_vnode)->excludes(of_queue);
    use->add_option("--rule", arguments.rule, "The rule of the quota")->type_name("NAME")->needs(of_quota);
    use->add_option("--of", arguments.of,
                    "What the counter is for, such as users=bob; may be given several times")
        ->type_name("FILTER=VALUE")
        ->needs(of_quota);
    use->add_option("--sched", arguments.sched, "The scheduler whose quotas count; default if not given")
        ->type_name("NAME")
        ->needs(of_quota);
    add_range(use, "The end; a day after the beginning if not given");
    CLI::Option* as_json = use->add_flag("--json", arguments.json, "As JSON");
    use->add_option("--svg", arguments.svg, "Write a picture to FILE instead")
        ->type_name("FILE")
        ->excludes(as_json);

    CLI::App* out = app.add_subcommand("export", "Windows and non-work days as an iCalendar file");
    add_range(out, "The end; 366 days after the beginning if not given");
    out->add_option("file", arguments.file, "The file to write; - or none for standard output")
        ->type_name("FILE");

    CLI::App* in = app.add_subcommand("import", "Public holidays of an iCalendar file as non_work_days");
    in->add_option("file", arguments.file, "The file to read (.ics); - for standard input")
        ->type_name("FILE")
        ->required();
    in->add_flag("--apply", arguments.apply, "Add them; without it they are only shown");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 1;
    }
    const auto client = Client::open(arguments.server);
    if (!client) return fail(client.error());
    const auto answers = client->answers();
    if (!answers) return fail(answers.error());
    const auto site = make_site(*answers);
    if (!site) return fail(site.error());
    if (*list) return changes(arguments, *site);
    if (*view) return month(arguments, *site);
    if (*use) return resources(arguments, *client, *site);
    if (*out) return export_calendar(arguments, *site);
    return import_holidays(arguments, *client, *site);
}
