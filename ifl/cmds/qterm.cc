// qterm: ends servers.

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ifl/cmds/client.h"
#include "ifl/cmds/options.h"

namespace {

using namespace pbs::cmds;

const Program kProgram{"qterm",
                       "Usage: qterm [-t immediate|delay|[quick]] [-m] [-s] [-f|-F|-i] [server ...]\n"
                       "       qterm --help | --version\n"};

std::optional<int> manner_of(std::string_view type) {
    if (type == "quick") return SHUT_QUICK;
    if (type == "delay") return SHUT_DELAY;
    if (type == "immediate") return SHUT_IMMEDIATE;
    return std::nullopt;
}

// The manner of the shutdown request for the options: SHUT_* bits of pbs_ifl.h.
Result<int> manner(const std::vector<Option>& options) {
    int manner = SHUT_QUICK;
    int who = 0;
    for (const Option& option : options) {
        switch (option.letter) {
            case 't': {
                const auto type = manner_of(option.value);
                if (!type) {
                    return fail(fmt::format("illegal -t value '{}': expected immediate, delay or quick",
                                            option.value),
                                1);
                }
                manner = *type;
                break;
            }
            case 's':
                who |= SHUT_WHO_SCHED;
                break;
            case 'm':
                who |= SHUT_WHO_MOM;
                break;
            case 'f':
                who |= SHUT_WHO_SECDRY;
                break;
            case 'F':
                who |= SHUT_WHO_SECDONLY;
                break;
            default:
                who |= SHUT_WHO_IDLESECDRY;
        }
    }
    const auto both = [&](int a, int b) { return (who & a) != 0 && (who & b) != 0; };
    if (both(SHUT_WHO_SECDRY, SHUT_WHO_SECDONLY | SHUT_WHO_IDLESECDRY) ||
        both(SHUT_WHO_SECDONLY, SHUT_WHO_IDLESECDRY | SHUT_WHO_MOM))
        return fail("-f, -F and -i exclude each other, and -F goes without -m", 1);
    return manner | who;
}

}  // namespace

int main(int argc, char** argv) {
    const auto arguments = arguments_of(argc, argv);
    if (information_asked(kProgram, arguments)) return 0;
    const auto line = parse_options("t:smfFi", arguments);
    const auto asked = line ? manner(line->options) : tl::unexpected(line.error());
    if (!asked) return usage_error(kProgram, {asked.error().message, 1});
    std::vector<std::string> servers = line->all_operands();
    if (servers.empty()) servers.emplace_back();
    int status = 0;
    for (const std::string& server : servers) {
        const auto connection = Connection::open(server);
        if (connection && pbs_terminate(connection->handle(), *asked, nullptr) == 0) continue;
        complain(kProgram, connection ? fmt::format("{} {}", connection->error_text(), server)
                                      : connection.error().message);
        status = 2;
    }
    return status;
}
