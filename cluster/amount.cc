#include "cluster/amount.h"

#include <fmt/format.h>

#include "server_plugin/plugin/pbs_plugin.h"
#include "values/amount.h"

namespace pbs::cluster {
namespace {

using values::ResourceKind;

static_assert(static_cast<int>(ResourceKind::integer) == PBS_RES_LONG &&
              static_cast<int>(ResourceKind::real) == PBS_RES_FLOAT &&
              static_cast<int>(ResourceKind::size) == PBS_RES_SIZE &&
              static_cast<int>(ResourceKind::duration) == PBS_RES_DURATION &&
              static_cast<int>(ResourceKind::boolean) == PBS_RES_BOOLEAN &&
              static_cast<int>(ResourceKind::string) == PBS_RES_STRING &&
              static_cast<int>(ResourceKind::string_array) == PBS_RES_STRING_ARRAY);

ResourceKind resource_kind(int kind) {
    return static_cast<ResourceKind>(kind);
}

}  // namespace

std::int64_t number_of(std::string_view text, std::int64_t otherwise) {
    return values::parse_integer(text).value_or(otherwise);
}

bool truth_of(std::string_view text) {
    return values::parse_boolean(text).value_or(false);
}

bool is_text(int kind) {
    return values::is_text(resource_kind(kind));
}

std::int64_t amount_of(int kind, std::string_view value) {
    return values::parse_amount(resource_kind(kind), value).value_or(0);
}

std::string amount_text(int kind, std::int64_t amount) {
    switch (resource_kind(kind)) {
        case ResourceKind::real:
            return values::real_text(static_cast<double>(amount) / 1e6);
        case ResourceKind::size:
            return values::kilobytes_text(amount);
        case ResourceKind::duration:
            return values::duration_text(amount);
        case ResourceKind::boolean:
            return values::boolean_text(amount != 0);
        default:
            return fmt::format("{}", amount);
    }
}

}  // namespace pbs::cluster
