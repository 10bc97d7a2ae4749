#include "server_plugin/host/store/stored_attributes.h"

#include <optional>

#include "values/number.h"

namespace pbs::host {

void put_netstring(std::string& out, std::string_view text) {
    out += std::to_string(text.size());
    out += ':';
    out += text;
    out += ',';
}

std::optional<std::string_view> take_netstring(std::string_view& in) {
    const auto length = values::take_number<std::size_t>(in);
    if (!length || in.size() < 2 || in.front() != ':' || *length > in.size() - 2 || in[*length + 1] != ',')
        return std::nullopt;
    const std::string_view text = in.substr(1, *length);
    in.remove_prefix(*length + 2);
    return text;
}

AttributeRows rows_of(const AttributeTable& table) {
    AttributeRows rows;
    for (const AttributeDef& row : table.rows()) rows.emplace(row.name, &row);
    return rows;
}

std::string netstrings_of(const Attributes& attributes) {
    std::string out;
    for (const AttributeValue& value : attributes.values()) {
        put_netstring(out, value.def()->name);
        put_netstring(out, value.resource());
        put_netstring(out, value.value());
    }
    return out;
}

bool read_netstrings(std::string_view in, const AttributeRows& rows, SharedTexts& texts,
                     Attributes& attributes) {
    while (!in.empty()) {
        const auto name = take_netstring(in);
        const auto resource = name ? take_netstring(in) : std::nullopt;
        const auto value = resource ? take_netstring(in) : std::nullopt;
        if (!value) return false;
        if (const auto row = rows.find(*name); row != rows.end())
            attributes.put(AttributeValue(*row->second, *resource, *value, texts));
    }
    return true;
}

std::size_t AttributeNumbers::place(const AttributeDef& row) {
    return static_cast<std::size_t>(&row - job_table().rows().data());
}

void AttributeNumbers::put_number(std::string& out, std::size_t number) {
    for (; number >= 0x80; number >>= 7U) out += static_cast<char>(0x80U | (number & 0x7fU));
    out += static_cast<char>(number);
}

std::optional<std::size_t> AttributeNumbers::take_number(std::string_view& in) {
    constexpr unsigned kMostBits = 35;
    std::size_t number = 0;
    for (unsigned shift = 0; shift < kMostBits && !in.empty(); shift += 7) {
        const auto byte = static_cast<unsigned char>(in.front());
        in.remove_prefix(1);
        number |= static_cast<std::size_t>(byte & 0x7fU) << shift;
        if (byte < 0x80) return number;
    }
    return std::nullopt;
}

std::optional<std::string_view> AttributeNumbers::take_text(std::string_view& in) {
    const auto length = take_number(in);
    if (!length || *length > in.size()) return std::nullopt;
    const std::string_view text = in.substr(0, *length);
    in.remove_prefix(*length);
    return text;
}

void AttributeNumbers::add(const AttributeDef* row, std::size_t number) {
    if (rows_.size() <= number) rows_.resize(number + 1);
    rows_.at(number) = row;
    if (row != nullptr) numbers_.at(place(*row)) = number;
}

std::string AttributeNumbers::write(const Attributes& attributes, const AttributeDef* without) const {
    constexpr std::size_t kUsual = 1024;
    std::string out;
    out.reserve(kUsual);
    out += kMark;
    for (const AttributeValue& value : attributes.values()) {
        if (value.def() == without) continue;
        put_number(out, numbers_.at(place(*value.def())));
        put_number(out, value.resource().size());
        out += value.resource();
        put_number(out, value.value().size());
        out += value.value();
    }
    return out;
}

bool AttributeNumbers::read(std::string_view in, SharedTexts& texts, Attributes& attributes) const {
    if (!in.starts_with(kMark)) return false;
    in.remove_prefix(1);
    while (!in.empty()) {
        const auto number = take_number(in);
        const auto resource = number ? take_text(in) : std::nullopt;
        const auto value = resource ? take_text(in) : std::nullopt;
        if (!value || *number == 0 || *number >= rows_.size()) return false;
        if (const AttributeDef* row = rows_[*number])
            attributes.put(AttributeValue(*row, *resource, *value, texts));
    }
    return true;
}

}  // namespace pbs::host
