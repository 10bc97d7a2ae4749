// Writes and reads the stored form of a job's attributes, which is short, because there may be a million
// jobs.
//
// The stored form is a byte 1, followed by each attribute: the number that stands for its name, the length of
// its resource, the resource, the length of its value, and the value. Numbers and lengths have seven bits in
// each byte, the lowest first; the eighth bit is set if more bytes follow. Objects that are set aside have
// netstrings ("5:queue,") of name, resource and value instead.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server_plugin/host/state/attributes.h"

namespace pbs::host {

// put_netstring() appends a netstring of the text. take_netstring() removes a netstring from the beginning of
// `in` and returns its text; nullopt: `in` is malformed.
void put_netstring(std::string& out, std::string_view text);
std::optional<std::string_view> take_netstring(std::string_view& in);

// The rows of an attribute table by their exact names. This map finds a name faster than the table, which
// ignores case.
using AttributeRows = std::unordered_map<std::string_view, const AttributeDef*>;
AttributeRows rows_of(const AttributeTable& table);

std::string netstrings_of(const Attributes& attributes);
// Adds the attributes in a text that netstrings_of() has made. Ignores attributes that this version doesn't
// know, because a newer server may have written them. Returns false if the text is malformed.
bool read_netstrings(std::string_view in, const AttributeRows& rows, SharedTexts& texts,
                     Attributes& attributes);

// The numbers that stand for the names of a job's attributes in a database.
class AttributeNumbers {
  public:
    static constexpr std::size_t kLargest = 10'000;

    // Sets the number of an attribute, from 1 to kLargest. `row`: the attribute; null if this version doesn't
    // know it.
    void add(const AttributeDef* row, std::size_t number);
    bool has(const AttributeDef& row) const { return numbers_.at(place(row)) != 0; }
    std::size_t largest() const { return rows_.empty() ? 0 : rows_.size() - 1; }

    // Writes the attributes, except that of the row `without`. REQUIRES: all attributes of the table have
    // numbers.
    std::string write(const Attributes& attributes, const AttributeDef* without) const;
    // Reads a text of write(), as read_netstrings() does.
    bool read(std::string_view in, SharedTexts& texts, Attributes& attributes) const;

  private:
    static constexpr char kMark = 1;
    static std::size_t place(const AttributeDef& row);
    static void put_number(std::string& out, std::size_t number);
    static std::optional<std::size_t> take_number(std::string_view& in);
    static std::optional<std::string_view> take_text(std::string_view& in);

    std::vector<const AttributeDef*> rows_;                                                   // by number
    std::vector<std::size_t> numbers_ = std::vector<std::size_t>(job_table().rows().size());  // 0: none yet
};

}  // namespace pbs::host
