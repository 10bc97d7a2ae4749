// Makes the attributes of objects for status replies.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// A view: the attributes that a status request names and that its requester may see.
class View {
  public:
    // `wanted`: the requested attributes; empty: all. `rights`: the requester's read flags of AttributeFlag.
    View(const ifl::Attributes& wanted, uint32_t rights);
    bool wants(std::string_view name) const;
    bool wants_all() const { return names_.empty(); }
    uint32_t rights() const { return rights_; }
    // Returns the rows of the table that are to be shown, in the table's order.
    const std::vector<const AttributeDef*>& rows(const AttributeTable& table) const;

  private:
    std::vector<std::string> names_;
    uint32_t rights_;
    // The argument and the result of the last call of rows(). They are kept because a long list of objects
    // needs the same table for each object.
    mutable const AttributeTable* table_ = nullptr;
    mutable std::vector<const AttributeDef*> rows_{};
};

// Makes the View for the reply to a Status request: the attributes that the requester may see and wants.
View view_of(const Context& context);

// Returns the reply PBSE_NOATTR for the first of the wanted attributes that the object type doesn't have;
// nullopt: it has all of them.
std::optional<ifl::Reply> unknown_attribute(const Context& context, int object_type,
                                            const ifl::Attributes& wanted);

ifl::Attributes describe(const Job& job, const State& state, int64_t now, const View& view);
// Describes a subjob for which there is no job, by its array's attributes. Omits attributes that only arrays
// have, unless they are requested.
ifl::Attributes describe_subjob(const Job& array, int64_t index, const State& state, int64_t now,
                                const View& view);
ifl::Attributes describe(const Queue& queue, Context& context, const View& view);
ifl::Attributes describe(const Reservation& reservation, const State& state, const View& view);
ifl::Attributes describe(const Node& node, Context& context, const View& view);
ifl::Attributes describe(const Sched& sched, Context& context, const View& view);
ifl::Attributes describe_server(Context& context, const View& view);

// Makes a status reply with one object.
ifl::Reply one_object(uint32_t type, std::string_view name, ifl::Attributes attributes);

// Makes the steps that answer a Status request for all objects of a map, in the order of their names. Objects
// may be added and removed between the steps. Each object that exists all the time is shown exactly once.
template <typename Object>
std::unique_ptr<Steps> steps_through(const Context& context, uint32_t type,
                                     const std::map<std::string, Object, std::less<>>& (State::*all)()
                                         const) {
    class Each : public Steps {
      public:
        Each(View view, uint32_t type, decltype(all) objects)
            : view_(std::move(view)), type_(type), objects_(objects) {}
        Remaining step(Context& now, ifl::StatusParts& out) override {
            const auto& map = (now.state().*objects_)();
            const auto at = map.upper_bound(reached_);
            if (at == map.end()) return Remaining::nothing;
            reached_ = at->first;
            out.add(type_, at->first, describe(at->second, now, view_));
            return Remaining::more;
        }

      private:
        View view_;
        uint32_t type_;
        decltype(all) objects_;
        std::string reached_;
    };
    return std::make_unique<Each>(view_of(context), type, all);
}

}  // namespace pbs::host
