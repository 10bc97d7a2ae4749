// pbs_rsub: asks for a reservation.

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ifl/cmds/client.h"
#include "ifl/cmds/reservation.h"
#include "ifl/cmds/surroundings.h"
#include "ifl/cmds/text.h"
#include "text/variable_list.h"

namespace {

using namespace pbs::cmds;

// The Variable_List: the user and place of the request, as PBS's own variables.
std::string variables(const SubmitEnvironment& environment) {
    std::string list;
    const auto add = [&](const std::string& name, const std::string& value) {
        pbs::text::append_variable(list, name, value);
    };
    const auto add_if_set = [&](const std::string& name, const char* variable) {
        if (const auto found = environment.variables.find(variable); found != environment.variables.end()) {
            add(name, found->second);
        }
    };
    add_if_set("PBS_O_LOGNAME", "LOGNAME");
    add("PBS_O_HOST", environment.host);
    add_if_set("PBS_O_MAIL", "MAIL");
    add_if_set("PBS_TZID", "PBS_TZID");
    return list;
}

// Hosts with all their CPUs, in two forms: as the select that a reservation requests, and as its vnodes.
struct WholeHosts {
    std::string select;
    std::string vnodes;
};

Result<WholeHosts> whole_hosts(const Connection& connection, const std::vector<std::string>& hosts) {
    const StatusList vnodes(pbs_statvnode(connection.handle(), "", nullptr, nullptr));
    if (vnodes == nullptr) {
        const int code = pbs_errno;
        return fail(code == 0 ? "No nodes found" : connection.error_text(),
                    code == 0 ? 2 : exit_status(code));
    }
    WholeHosts all;
    for (const std::string& host : hosts) {
        long long ncpus = 0;
        for (const batch_status* one = vnodes.get(); one != nullptr; one = one->next) {
            const auto of = value_of(one->attribs, ATTR_rescavail, "host");
            const auto cpus = parse_integer(value_of(one->attribs, ATTR_rescavail, "ncpus").value_or("0"));
            if (of != host || cpus.value_or(0) <= 0) continue;
            ncpus += *cpus;
            all.vnodes += fmt::format("{}({}:ncpus={})", all.vnodes.empty() ? "" : "+", one->name, *cpus);
        }
        if (ncpus == 0) return fail(fmt::format("Host with resources not found: {}", printable(host)));
        all.select += fmt::format("{}host={}:ncpus={}", all.select.empty() ? "" : "+", host, ncpus);
    }
    return all;
}

// Reserves hosts: the server makes the reservation, and this command confirms it.
int reserve_hosts(const Program& program, const Connection& connection, ReservationOptions& options) {
    const auto hosts = whole_hosts(connection, options.operands);
    if (!hosts) return failed(program, hosts.error());
    options.attributes.put(ATTR_l, "select", hosts->select);
    options.attributes.put(ATTR_l, "place", "exclhost");
    const auto failed = [&] {
        const int code = pbs_errno;
        complain(program, connection.error_text());
        return exit_status(code);
    };
    const std::unique_ptr<char, decltype(&std::free)> answer(
        pbs_submit_resv(connection.handle(), options.attributes.operations(), "m"), &std::free);
    if (answer == nullptr) return failed();
    const std::string text(answer.get());
    const std::string id = text.substr(0, text.find(' '));
    if (pbs_confirmresv(connection.handle(), id.c_str(), hosts->vnodes.c_str(), 0,
                        "PBS_RESV_CONFIRM_SUCCESS") != 0)
        return failed();
    fmt::print("{} CONFIRMED\n", id);
    return 0;
}

// Takes the job's resources for the reservation that the job is moved into, except those given on the command
// line.
Result<void> take_resources_of_job(const Connection& connection, ReservationOptions& options) {
    const StatusList jobs(pbs_statjob(connection.handle(), options.moved_job.c_str(), nullptr, nullptr));
    if (jobs == nullptr) return fail(connection.error_text(), exit_status(pbs_errno));
    const std::string state(value_of(jobs->attribs, ATTR_state).value_or(""));
    if (state == "R" || state == "T" || state == "E") return fail("Job not in qmove state");
    const bool has_select = options.attributes.find(ATTR_l, "select") != nullptr;
    const bool has_own = std::ranges::any_of(options.attributes.entries(), [](const AttrList::Entry& entry) {
        return entry.name == ATTR_l && entry.resource != "walltime" && entry.resource != "place";
    });
    for (const attrl* one = jobs->attribs; one != nullptr; one = one->next) {
        const std::string resource = one->resource == nullptr ? "" : one->resource;
        if (std::string_view(ATTR_l) != one->name || resource == "nodect" || resource == "neednodes" ||
            options.attributes.find(ATTR_l, resource) != nullptr)
            continue;
        if (has_own && resource != "walltime" && (resource != "place" || !has_select)) continue;
        options.attributes.put(ATTR_l, resource, one->value);
    }
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    constexpr Program kProgram{
        "pbs_rsub",
        "usage: pbs_rsub [-I seconds] [-m mail_points] [-M mail_list]\n"
        "                [-N reservation_name] [-u user_list] [-g group_list]\n"
        "                [-U auth_user_list] [-G auth_group_list] [-H auth_host_list]\n"
        "                [-R start_time] [-E end_time] [-D duration] [-q @server]\n"
        "                [-r rrule_expression] [-W otherattributes=value...]\n"
        "                -l resource_list | --job job_identifier | --hosts host ...\n"
        "       pbs_rsub --help | --version\n"};
    auto options = parse_arguments(kProgram, arguments_of(argc, argv), [](const auto& arguments) {
        return parse_reservation_options(arguments, std::time(nullptr));
    });
    if (!options) return options.error();
    if (argc < 2 || (!options->operands.empty() && !options->of_hosts)) {
        return usage_error(kProgram,
                           {options->operands.empty()
                                ? std::string("neither a time nor resources are asked for")
                                : fmt::format("unexpected argument {}", printable(options->operands.front())),
                            2});
    }
    const auto environment = submit_environment();
    if (!environment) return failed(kProgram, environment.error());
    options->attributes.put(ATTR_v, "", variables(*environment));
    const auto zone = environment->variables.find("PBS_TZID");
    if (zone != environment->variables.end()) {
        options->attributes.put(ATTR_resv_timezone, "", zone->second);
    } else if (options->attributes.has(ATTR_resv_rrule)) {
        return usage_error(kProgram, {"-r needs the time zone in which the rule counts: set PBS_TZID, as to "
                                      "Europe/Berlin",
                                      2});
    }
    const auto connection = Connection::open(options->server);
    if (!connection) return failed(kProgram, connection.error());
    if (options->of_hosts) return reserve_hosts(kProgram, *connection, *options);
    if (!options->moved_job.empty()) {
        if (const auto taken = take_resources_of_job(*connection, *options); !taken)
            return failed(kProgram, taken.error());
    }
    const std::unique_ptr<char, decltype(&std::free)> answer(
        pbs_submit_resv(connection->handle(), options->attributes.operations(), nullptr), &std::free);
    if (answer == nullptr) {
        const int code = pbs_errno;
        complain(kProgram, connection->error_text());
        return exit_status(code);
    }
    fmt::print("{}\n", answer.get());
    return 0;
}
