// pbs_explain: shows why a job starts or waits.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"
#include "ifl/cmds/explain_format.h"

namespace {

using namespace pbs::cmds;  // NOLINT(google-build-using-namespace): this is a program

constexpr Program kProgram{"pbs_explain", ""};

struct Arguments {
    std::vector<std::string> jobs;
    std::optional<std::string> place;
    bool json = false;
};

int explain(const Arguments& arguments) {
    bool first = true;
    return for_each_job(kProgram, arguments.jobs, [&](const Connection& connection, const std::string& job) {
        const StatusList list(
            arguments.place ? pbs_asks(connection.handle(), job.c_str(), arguments.place->c_str(), nullptr)
                            : pbs_statexplanation(connection.handle(), job.c_str(), nullptr));
        if (!list) return pbs_errno;
        const std::string text = arguments.json ? explanation_json(list.get()) : explanation_text(list.get());
        fmt::print("{}{}", first || arguments.json ? "" : "\n", text);
        first = false;
        return 0;
    });
}

int run(int argc, char** argv) {
    Arguments arguments;
    CLI::App app(
        "Shows why jobs start or wait: what a scheduling cycle would do with each at this moment, its "
        "place in the order, and the answer of every gate for every queue that it may start in.",
        std::string(kProgram.name));
    app.footer("See pbs_explain(1).");
    app.add_option("JOB", arguments.jobs, "Job identifiers: 12, 12.server, 12.server@server")->required();
    app.add_option("--at", arguments.place,
                   "For managers: whether each job may start now at this place, as in qrun -H, such as "
                   "\"(n1:ncpus=4)\", whatever other jobs wait")
        ->type_name("PLACE");
    app.add_flag("--json", arguments.json, "A JSON object for each job");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    return explain(arguments);
}

}  // namespace

int main(int argc, char** argv) {
    return run_program(kProgram, argc, argv, run);
}
