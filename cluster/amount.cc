#include "cluster/amount.h"

#include <fmt/format.h>

#include "server_plugin/plugin/pbs_plugin.h"
#include "values/amount.h"

namespace pbs::cluster {

std::int64_t number_of(std::string_view text, std::int64_t otherwise) {
    return values::parse_integer(text).value_or(otherwise);
}

bool truth_of(std::string_view text) {
    return values::parse_boolean(text).value_or(false);
}

bool is_text(int kind) {
    return kind == PBS_RES_STRING || kind == PBS_RES_STRING_ARRAY;
}

std::int64_t amount_of(int kind, std::string_view value) {
    switch (kind) {
        case PBS_RES_FLOAT:
            return values::parse_millionths(value).value_or(0);
        case PBS_RES_SIZE:
            return values::parse_bytes(value).value_or(0);
        case PBS_RES_DURATION:
            return values::parse_duration(value).value_or(0);
        case PBS_RES_BOOLEAN:
            return truth_of(value) ? 1 : 0;
        case PBS_RES_LONG:
            return number_of(value, 0);
        default:
            return 0;
    }
}

std::string amount_text(int kind, std::int64_t amount) {
    switch (kind) {
        case PBS_RES_FLOAT:
            return values::real_text(static_cast<double>(amount) / 1e6);
        case PBS_RES_SIZE:
            return values::kilobytes_text(amount);
        case PBS_RES_DURATION:
            return values::duration_text(amount);
        case PBS_RES_BOOLEAN:
            return values::boolean_text(amount != 0);
        default:
            return fmt::format("{}", amount);
    }
}

}  // namespace pbs::cluster
