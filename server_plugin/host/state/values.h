// Values of attributes and resources: their texts for clients, and their amounts in base units.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/amount.h"
#include "ifl/attributes/attribute_table.h"
#include "server_plugin/host/base/error.h"
#include "values/amount.h"

namespace pbs::host {

using Type = ifl::AttributeType;

// Returns the form of the text that the server stores and shows. PBSE_BADATVAL: the text isn't of the type.
Result<std::string> canonical(Type type, std::string_view value);

// Returns the amount of a canonical value: bytes for a size, seconds for a duration, millionths for a real, 0
// or 1 for a boolean; 0 for a text.
inline int64_t amount_of(Type type, std::string_view canonical_value) {
    return cluster::amount_of(static_cast<int>(type), canonical_value);
}

// Returns the canonical text of an amount. A size is in kb, as PBS reports measured sizes, unless it isn't a
// whole number of kb.
std::string amount_text(Type type, int64_t amount);

// Returns whether values of this type are amounts, which can be added, subtracted and compared.
bool is_amount(Type type);

using values::amount_product;
using values::amount_sum;

// Splits a list at commas, except those after a backslash. Removes spaces around the entries, and empty
// entries.
std::vector<std::string> split_list(std::string_view text);
std::string join_list(const std::vector<std::string>& parts);

using ifl::same_name;

}  // namespace pbs::host
