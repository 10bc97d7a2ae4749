// Builds status lists as a server would send them, for tests of commands' output.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "ifl/cmds/attr_list.h"

namespace pbs::cmds {

// A list of objects, which get() returns as batch_status. The C structs point into this object.
class Objects {
  public:
    struct Attribute {
        std::string name;
        std::string resource;
        std::string value;
    };

    Objects& add(std::string name, const std::vector<Attribute>& attributes) {
        AttrList& list = lists_.emplace_back();
        for (const Attribute& attribute : attributes) {
            list.add(attribute.name, attribute.resource, attribute.value);
        }
        names_.push_back(std::move(name));
        return *this;
    }

    const batch_status* get() {
        status_.clear();
        for (std::size_t i = 0; i < names_.size(); ++i) {
            status_.push_back({nullptr, names_[i].data(), lists_[i].attributes(), nullptr});
        }
        for (std::size_t i = 0; i + 1 < status_.size(); ++i) {
            status_[i].next = &status_[i + 1];
        }
        return status_.empty() ? nullptr : &status_.front();
    }

  private:
    std::deque<std::string> names_;
    std::deque<AttrList> lists_;
    std::deque<batch_status> status_;
};

}  // namespace pbs::cmds
