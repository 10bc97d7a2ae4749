// Classes that own the C API's lists: attribute lists to send, and status lists that were received.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ifl/pbs_ifl.h"

namespace pbs::cmds {

// An attribute list to send. The C structs point into the list, so it must outlive the call that gets it.
class AttrList {
  public:
    void add(std::string name, std::string resource, std::string value, batch_op op = SET);
    // Sets an attribute's value. If the list has the attribute already, the new value replaces the old one.
    void put(std::string name, std::string resource, std::string value, batch_op op = SET);
    bool has(std::string_view name, std::string_view resource = "") const {
        return find(name, resource) != nullptr;
    }
    // The value of an attribute; null if it isn't in the list.
    const std::string* find(std::string_view name, std::string_view resource = "") const;
    bool empty() const { return entries_.empty(); }
    std::size_t size() const { return entries_.size(); }

    struct Entry {
        std::string name;
        std::string resource;
        std::string value;
        batch_op op;
    };
    const std::deque<Entry>& entries() const { return entries_; }

    // The list for the C API; NULL if it is empty. Valid until the list changes.
    attropl* operations();
    attrl* attributes();

  private:
    std::deque<Entry> entries_;
    std::deque<attropl> operations_;
    std::deque<attrl> attributes_;
};

struct FreeStatus {
    void operator()(batch_status* list) const { pbs_statfree(list); }
};
using StatusList = std::unique_ptr<batch_status, FreeStatus>;

// Frees a text from malloc(3), such as that of pbs_locjob().
struct FreeText {
    void operator()(char* text) const { std::free(text); }
};
using Text = std::unique_ptr<char, FreeText>;

// The text of a C string that may be NULL.
inline std::string_view view(const char* text) {
    return text == nullptr ? std::string_view() : text;
}

// The name of an attribute with its resource, if it has one: "name" or "name.resource".
std::string attribute_name(const attrl& attribute);

// The value of an attribute of one object; nullopt: the object doesn't have it.
std::optional<std::string_view> value_of(const attrl* attributes, std::string_view name,
                                         std::string_view resource = "");

// The value of an attribute of an object; empty: the object doesn't have it.
inline std::string_view text_of(const batch_status& object, std::string_view name) {
    return value_of(object.attribs, name).value_or(std::string_view());
}

// A real attribute of an object; 0: the object doesn't have it.
double real_of(const batch_status& object, std::string_view name);

}  // namespace pbs::cmds
