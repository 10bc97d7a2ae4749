// Builds status lists, like those that the C API returns, from names and values.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "ifl/pbs_ifl.h"

namespace pbs::web {

struct Value {
    std::string name;
    std::string value;
    std::string resource{};
};

class StatusOf {
  public:
    StatusOf() = default;
    StatusOf(std::string name, std::vector<Value> values) { add(std::move(name), std::move(values)); }
    StatusOf(const StatusOf&) = delete;
    StatusOf& operator=(const StatusOf&) = delete;

    StatusOf& add(std::string name, std::vector<Value> values) {
        Object& object = objects_.emplace_back();
        object.name = std::move(name);
        object.values = std::move(values);
        attrl** at = &object.status.attribs;
        for (Value& value : object.values) {
            attrl& attribute = object.attributes.emplace_back();
            attribute.name = value.name.data();
            attribute.value = value.value.data();
            attribute.resource = value.resource.data();
            *at = &attribute;
            at = &attribute.next;
        }
        object.status.name = object.name.data();
        if (objects_.size() > 1) objects_[objects_.size() - 2].status.next = &object.status;
        return *this;
    }
    const batch_status* get() const { return objects_.empty() ? nullptr : &objects_.front().status; }

  private:
    struct Object {
        std::string name;
        std::vector<Value> values;
        std::deque<attrl> attributes;
        batch_status status{};
    };
    std::deque<Object> objects_;
};

}  // namespace pbs::web
