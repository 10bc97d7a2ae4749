#include "ifl/cmds/reservation.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "ifl/attributes/reservation_start.h"
#include "ifl/cmds/datetime.h"
#include "ifl/cmds/job_id.h"
#include "ifl/cmds/job_options.h"
#include "ifl/cmds/options.h"
#include "ifl/cmds/text.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kStates{{{"NO", "RESV_NONE"},
                                                                                 {"UN", "RESV_UNCONFIRMED"},
                                                                                 {"CO", "RESV_CONFIRMED"},
                                                                                 {"WT", "RESV_WAIT"},
                                                                                 {"TR", "RESV_TIME_TO_RUN"},
                                                                                 {"RN", "RESV_RUNNING"},
                                                                                 {"FN", "RESV_FINISHED"},
                                                                                 {"BD", "RESV_BEING_DELETED"},
                                                                                 {"DE", "RESV_DELETED"},
                                                                                 {"DJ", "RESV_DELETING_JOBS"},
                                                                                 {"DG", "RESV_DEGRADED"},
                                                                                 {"AL", "RESV_BEING_ALTERED"},
                                                                                 {"IC", "RESV_IN_CONFLICT"}}};

// The text in a column of this width, cut if necessary.
std::string column(std::string_view text, std::size_t width) {
    return fmt::format("{:<{}.{}}", text, width, width);
}

std::time_t instant_of(std::string_view seconds) {
    return static_cast<std::time_t>(parse_integer(seconds).value_or(0));
}

tl::unexpected<Error> illegal(char letter, std::string_view kind, std::string_view why) {
    return fail(fmt::format("illegal -{} {}: {}", letter, kind, why));
}

// Returns whether the text is a time of day alone: "hhmm" or "hhmm.ss".
bool is_time_of_day(std::string_view text) {
    return text.substr(0, text.find('.')).size() == 4;
}

// Applies an option that pbs_rsub and pbs_ralter share. False: it is another option.
Result<bool> apply_common(ReservationOptions& options, const Option& option, std::time_t now) {
    const auto put = [&](const char* name) {
        options.attributes.put(name, "", std::string(values::trim(option.value)));
        return true;
    };
    switch (option.letter) {
        case 'R':
        case 'E': {
            const auto when = parse_date(option.value, now);
            if (!when) return illegal(option.letter, "time value", when.error().message);
            options.attributes.put(option.letter == 'R' ? ATTR_resv_start : ATTR_resv_end, "",
                                   std::to_string(*when));
            return true;
        }
        case 'm':
            return put(ATTR_m);
        case 'M':
            return put(ATTR_M);
        case 'N':
            return put(ATTR_resv_name);
        case 'U':
            return put(ATTR_auth_u);
        case 'G':
            return put(ATTR_auth_g);
        case 'q':
            if (!option.value.starts_with('@')) return fail("illegal -q value: format \"@server\"");
            options.server = option.value.substr(1);
            return true;
        default:
            return false;
    }
}

// Checks the options for -W qmove=: the reservation begins as soon as possible, and the job is moved into it.
// If it isn't confirmed within the given seconds, it is deleted.
Result<void> check_moved_job(ReservationOptions& options) {
    const std::string* const name = options.attributes.find(ATTR_convert);
    if (name == nullptr) return {};
    const auto id = parse_job_id(*name);
    if (!id) return tl::unexpected(id.error());
    for (const char* const other : {ATTR_resv_start, ATTR_resv_end, ATTR_resv_rrule, ATTR_resv_job})
        if (options.attributes.has(other)) return fail("-W qmove can't be used with -R, -E, -r or --job");
    if (options.of_hosts) return fail("-W qmove can't be used with --hosts");
    const std::string* const seconds = options.attributes.find(ATTR_inter);
    if (seconds != nullptr && parse_integer(*seconds).value_or(0) >= 0)
        return fail("-I with -W qmove: expected a number of seconds below 0");
    options.moved_job = sent_job_id(*id);
    options.attributes.put(ATTR_convert, "", options.moved_job);
    options.attributes.put(ATTR_resv_start, "", std::to_string(ifl::kAsSoonAsPossible));
    if (seconds == nullptr) options.attributes.put(ATTR_inter, "", "-10");
    return {};
}

// Checks the options for --hosts, where the resources follow from the hosts' names.
Result<void> check_hosts(const ReservationOptions& options) {
    if (!options.of_hosts) return {};
    if (options.operands.empty()) return fail("--hosts: expected the names of hosts");
    for (const char* const name : {ATTR_inter, ATTR_resv_rrule, ATTR_resv_job}) {
        if (options.attributes.has(name)) {
            return fail(fmt::format("--hosts: {} can't be used with it",
                                    name == std::string_view(ATTR_inter)        ? "-I"
                                    : name == std::string_view(ATTR_resv_rrule) ? "-r"
                                                                                : "--job"));
        }
    }
    for (const char* const resource : {"select", "place"})
        if (options.attributes.find(ATTR_l, resource) != nullptr)
            return fail(fmt::format("--hosts: -l {} can't be used with it", resource));
    for (auto host = options.operands.begin(); host != options.operands.end(); ++host)
        if (std::find(options.operands.begin(), host, *host) != host)
            return fail(fmt::format("--hosts: {} is given twice", *host));
    return {};
}

}  // namespace

Result<ReservationId> parse_reservation_id(std::string_view text) {
    ReservationId id;
    const std::size_t at = text.find('@');
    const std::string_view name = text.substr(0, at);
    if (at != std::string_view::npos) id.server = text.substr(at + 1);
    const std::size_t dot = std::min(name.find('.'), name.size());
    const std::string_view number = name.substr(std::min<std::size_t>(1, name.size()), dot - 1);
    const bool ok = !name.empty() && values::is_letter(name[0]) && !number.empty() &&
                    number.find_first_not_of("0123456789") == std::string_view::npos &&
                    dot + 1 != name.size() && (at == std::string_view::npos || !id.server.empty());
    if (!ok) return fail(fmt::format("illegally formed reservation identifier: {}", text), 1);
    id.name = name;
    return id;
}

std::string shown_reservation_id(const ReservationId& id, std::string_view server) {
    return id.name.find('.') != std::string::npos || server.empty() ? id.name
                                                                    : fmt::format("{}.{}", id.name, server);
}

int for_each_reservation(const Program& program, const std::vector<std::string>& names,
                         const ReservationRequest& request) {
    int status = 0;
    const auto note = [&](const Error& error) {
        complain(program, error.message);
        status = error.status;
    };
    for (const std::string& name : names) {
        const auto id = parse_reservation_id(name);
        if (!id) {
            note(id.error());
            continue;
        }
        const auto connection = Connection::open(id->server);
        if (!connection)
            note(connection.error());
        else if (const int failed = request(*connection, *id); failed != 0)
            status = failed;
    }
    return status;
}

Result<ReservationOptions> parse_reservation_options(const std::vector<std::string>& arguments,
                                                     std::time_t now) {
    std::vector<std::string> letters = arguments;
    ReservationOptions options;
    if (const auto of_job = std::find(letters.begin(), letters.end(), "--job"); of_job != letters.end()) {
        const auto name = std::next(of_job);
        const auto id = name == letters.end() ? Result<JobId>(fail("--job: expected a job identifier"))
                                              : parse_job_id(*name);
        if (!id) return tl::unexpected(id.error());
        options.attributes.put(ATTR_resv_job, "", sent_job_id(*id));
        letters.erase(of_job, std::next(name));
    }
    if (const auto of_hosts = std::find(letters.begin(), letters.end(), "--hosts");
        of_hosts != letters.end()) {
        options.of_hosts = true;
        letters.erase(of_hosts);
    }
    const auto line = parse_options("D:E:I:l:m:M:N:q:r:R:u:U:g:G:H:W:", letters);
    if (!line) return tl::unexpected(line.error());
    options.operands = line->all_operands();
    bool is_of_day = false;
    for (const Option& option : line->options) {
        const auto done = apply_common(options, option, now);
        if (!done) return tl::unexpected(done.error());
        if (option.letter == 'R') is_of_day = is_time_of_day(option.value);
        if (*done) continue;
        switch (option.letter) {
            case 'D':
            case 'l': {
                const std::string text = option.letter == 'D' ? "walltime=" + option.value : option.value;
                if (const auto added = add_resources(options.attributes, text); !added)
                    return illegal(option.letter, "value", added.error().message);
                break;
            }
            case 'I':
                if (!option.value.empty() && !parse_integer(option.value))
                    return illegal('I', "time value", "expected a number of seconds");
                options.attributes.put(ATTR_inter, "", option.value.empty() ? "0" : option.value);
                break;
            case 'u':
                options.attributes.put(ATTR_u, "", option.value);
                break;
            case 'g':
                options.attributes.put(ATTR_g, "", option.value);
                break;
            case 'H':
                options.attributes.put(ATTR_auth_h, "", option.value);
                break;
            case 'r':
                options.attributes.put(ATTR_resv_rrule, "", option.value);
                options.attributes.put(ATTR_resv_standing, "", "1");
                break;
            default: {
                const auto pairs = parse_pairs(option.value);
                if (!pairs || option.value.empty()) return illegal('W', "value", "expected name=value");
                for (const auto& [name, value] : *pairs) options.attributes.put(name, "", value);
            }
        }
    }
    if (const auto done = check_hosts(options); !done) return tl::unexpected(done.error());
    if (const auto done = check_moved_job(options); !done) return tl::unexpected(done.error());
    if (options.attributes.has(ATTR_resv_job) &&
        (options.attributes.has(ATTR_resv_start) || options.attributes.has(ATTR_resv_end)))
        return fail("Start/End time cannot be used with --job option");
    // an end by the time of day that is before the start is on the next day
    const std::string* const start = options.attributes.find(ATTR_resv_start);
    const std::string* const end = options.attributes.find(ATTR_resv_end);
    if (is_of_day && start != nullptr && end != nullptr && instant_of(*end) < instant_of(*start)) {
        constexpr std::time_t kDay = 24 * 60 * 60;
        options.attributes.put(ATTR_resv_end, "", std::to_string(instant_of(*end) + kDay));
    }
    return options;
}

Result<ReservationOptions> parse_alter_reservation(const std::vector<std::string>& arguments,
                                                   std::time_t now) {
    const auto line = parse_options("E:I:m:M:N:R:q:U:G:D:l:W:", arguments);
    if (!line) return tl::unexpected(line.error());
    ReservationOptions options;
    options.operands = line->all_operands();
    for (const Option& option : line->options) {
        const auto done = apply_common(options, option, now);
        if (!done) return tl::unexpected(done.error());
        if (*done) continue;
        switch (option.letter) {
            case 'D':
                options.attributes.put(ATTR_resv_duration, "", option.value);
                break;
            case 'I': {
                const auto seconds = parse_integer(option.value);
                if (!seconds || *seconds <= 0)
                    return illegal('I', "time value", "expected a number of seconds above 0");
                options.attributes.put(ATTR_inter, "", option.value);
                break;
            }
            case 'l':
                if (!option.value.starts_with("select=")) return fail("-l only allows for select");
                options.attributes.put(ATTR_l, "select", option.value.substr(7));
                break;
            default:
                if (option.value != "force") return illegal('W', "value", "expected force");
                options.is_forced = true;
        }
    }
    return options;
}

std::string reservation_time_text(std::time_t when, std::time_t now) {
    const std::tm then = local_time(when);
    const std::tm today = local_time(now);
    if (then.tm_year != today.tm_year) return fmt::format("{:%a %b %d %Y %H:%M}", then);
    if (then.tm_yday == today.tm_yday) return fmt::format("Today {:%H:%M}", then);
    const int sunday = today.tm_yday - today.tm_wday;
    if (then.tm_yday >= sunday && then.tm_yday <= sunday + 6) return fmt::format("{:%a %H:%M}", then);
    return fmt::format("{:%a %b %d %H:%M}", then);
}

std::string reservation_state_text(std::string_view number, bool in_full) {
    const auto state = parse_integer(number);
    if (!state || *state < 0 || *state >= static_cast<long long>(kStates.size())) return std::string(number);
    const auto& [brief, full] = kStates.at(static_cast<std::size_t>(*state));
    return std::string(in_full ? full : brief);
}

std::string reservation_heading(bool wide) {
    return fmt::format("{} {} {} {} {:>17} / Duration / {:<17}\n{:-<{}}\n", column("Resv ID", wide ? 15 : 10),
                       column("Queue", wide ? 13 : 8), column("User", 8), column("State", 5), "Start", "End",
                       "", wide ? 79 : 69);
}

std::string reservation_line(const batch_status& reservation, std::time_t now, bool wide) {
    const auto value = [&](const char* name) { return value_of(reservation.attribs, name).value_or(""); };
    return fmt::format(
        "{} {} {} {} {:>17} / {} / {:<17}\n", column(printable(view(reservation.name)), wide ? 15 : 10),
        column(printable(value(ATTR_queue)), wide ? 13 : 8), column(printable(value(ATTR_auth_u)), 8),
        column(reservation_state_text(value(ATTR_resv_state), false), 5),
        reservation_time_text(instant_of(value(ATTR_resv_start)), now),
        parse_integer(value(ATTR_resv_duration)).value_or(0),
        reservation_time_text(instant_of(value(ATTR_resv_end)), now));
}

std::string reservation_in_full(const batch_status& reservation) {
    std::string text = fmt::format("Resv ID: {}\n", printable(view(reservation.name)));
    for (const attrl* one = reservation.attribs; one != nullptr; one = one->next) {
        const std::string_view name = view(one->name);
        if (one->resource != nullptr && *one->resource != '\0') {
            text += fmt::format("{}.{} = {}\n", name, view(one->resource), printable(view(one->value)));
            continue;
        }
        std::string value = printable(view(one->value));
        if (name == ATTR_resv_state)
            value = reservation_state_text(value, true);
        else if (name == ATTR_resv_start || name == ATTR_resv_end || name == ATTR_ctime ||
                 name == ATTR_mtime || name == ATTR_resv_retry)
            value = date_text(instant_of(value));
        else if (name == ATTR_resv_execvnodes || name == ATTR_resv_standing || name == ATTR_resv_timezone)
            continue;
        text += fmt::format("{} = {}\n", name, value);
    }
    return text + "\n";
}

}  // namespace pbs::cmds
