#include <fmt/format.h>

#include <csignal>
#include <cstring>

#include "ifl/pbs_error.h"
#include "server_plugin/host/run/runner.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::host {

Result<int> parse_signal(std::string_view text) {
    if (const auto number = values::number<int>(text); number && *number >= 0 && *number < NSIG)
        return *number;
    std::string name = values::uppered(text);
    if (name.starts_with("SIG")) name.erase(0, 3);
    if (name == "NULL") return 0;
    for (int signal = 1; signal < NSIG; ++signal) {
        const char* abbreviation = sigabbrev_np(signal);
        if (abbreviation != nullptr && name == abbreviation) return signal;
    }
    return fail(PBSE_UNKSIG, fmt::format("unknown signal \"{}\"", text));
}

}  // namespace pbs::host
