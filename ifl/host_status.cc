#include "ifl/host_status.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "ifl/pbs_ifl.h"
#include "values/amount.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::ifl {

namespace {

constexpr const char* kVarious = "<various>";

// A resource's amount: a count, or a size in kb.
struct Amount {
    long long number = 0;
    bool is_size = false;
};

// Reads a size if the text has a unit, else a count without its fraction.
Amount parse_amount(std::string_view text) {
    const auto bytes = values::parse_bytes(text);
    if (bytes && !values::is_digit(text.back())) return {*bytes / 1024, true};
    return {values::take_number<long long>(text).value_or(0), false};
}

class Sum {
  public:
    void add(std::string_view text) {
        const Amount amount = parse_amount(text);
        number_ += amount.number;
        is_size_ = is_size_ || amount.is_size;
    }
    std::string text() const { return std::to_string(number_) + (is_size_ ? "kb" : ""); }

  private:
    long long number_ = 0;
    bool is_size_ = false;
};

// Combines the attributes of a host's vnodes.
class Collective {
  public:
    explicit Collective(const std::set<std::string, values::LessWord>& consumable)
        : consumable_(consumable) {}

    void add(const ObjectStatus& vnode) {
        for (const Attribute& attribute : vnode.attributes) {
            const bool resource = attribute.name == ATTR_rescavail || attribute.name == ATTR_rescassn;
            if (resource && attribute.value.find('@') != std::string::npos) continue;
            if (resource && consumable_.contains(attribute.resource)) {
                add_amount(attribute);
            } else {
                add_value(attribute);
            }
        }
    }

    Attributes take() {
        for (const auto& [index, sum] : sums_) attributes_[index].value = sum.text();
        return std::move(attributes_);
    }

  private:
    // Returns the index of the host's attribute. If there is none yet, adds it; `begun` tells whether it was
    // added.
    std::size_t find(const Attribute& attribute, bool& begun) {
        const auto [place, inserted] =
            index_.try_emplace({attribute.name, attribute.resource}, attributes_.size());
        if (inserted) attributes_.push_back(attribute);
        begun = inserted;
        return place->second;
    }

    void add_amount(const Attribute& attribute) {
        bool begun = false;
        sums_[find(attribute, begun)].add(attribute.value);
    }

    void add_value(const Attribute& attribute) {
        bool begun = false;
        std::string& value = attributes_[find(attribute, begun)].value;
        if (begun || value == attribute.value) return;
        value = attribute.name == ATTR_NODE_jobs ? value + ", " + attribute.value : kVarious;
    }

    const std::set<std::string, values::LessWord>& consumable_;
    Attributes attributes_;
    std::map<std::pair<std::string, std::string>, std::size_t> index_;
    std::map<std::size_t, Sum> sums_;
};

}  // namespace

std::string_view host_of(const ObjectStatus& vnode) {
    for (const Attribute& attribute : vnode.attributes) {
        if (values::same_word(attribute.name, ATTR_rescavail) &&
            values::same_word(attribute.resource, "host"))
            return attribute.value;
    }
    return {};
}

std::vector<ObjectStatus> hosts_of_vnodes(const std::vector<ObjectStatus>& vnodes, std::string_view host) {
    std::set<std::string, values::LessWord> consumable;
    std::map<std::string_view, std::vector<const ObjectStatus*>, values::LessWord> by_host;
    std::vector<std::string_view> order;
    for (const ObjectStatus& vnode : vnodes) {
        for (const Attribute& attribute : vnode.attributes) {
            if (attribute.name == ATTR_rescassn) consumable.insert(attribute.resource);
        }
        const std::string_view name = host_of(vnode);
        if (name.empty() || (!host.empty() && !values::same_word(name, host))) continue;
        auto& members = by_host[name];
        if (members.empty()) order.push_back(name);
        members.push_back(&vnode);
    }

    std::vector<ObjectStatus> hosts;
    for (const std::string_view name : order) {
        const auto& members = by_host.find(name)->second;
        if (members.size() == 1) {
            hosts.push_back(*members.front());
            continue;
        }
        Collective collective(consumable);
        for (const ObjectStatus* vnode : members) collective.add(*vnode);
        hosts.push_back({MGR_OBJ_HOST, std::string(name), collective.take()});
    }
    return hosts;
}

}  // namespace pbs::ifl
