// The definitions of resources, and amounts that own their text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::sched {

constexpr std::uint32_t kNoResource = UINT32_MAX;

// An Amount that owns its text.
struct KeptAmount {
    std::uint32_t resource = 0;
    std::int64_t number = 0;
    std::string text;
    friend bool operator==(const KeptAmount&, const KeptAmount&) = default;
};

std::vector<KeptAmount> keep(std::span<const Amount> amounts);
// Returns the number of a resource in a list; nullopt: the list doesn't have the resource.
inline std::optional<std::int64_t> number_of(std::span<const KeptAmount> amounts, std::uint32_t resource) {
    for (const KeptAmount& a : amounts)
        if (a.resource == resource) return a.number;
    return std::nullopt;
}

class Resources {
  public:
    struct Info {
        std::string name;
        ResourceKind kind = ResourceKind::integer;
        bool consumable = false;
        bool defined = false;
        bool host_level = false;  // only vnodes can have it, not queues or the server
    };
    // The ids of built-in resources; kNoResource until the resource is defined.
    struct BuiltIn {
        std::uint32_t ncpus = kNoResource;
        std::uint32_t mem = kNoResource;
        std::uint32_t walltime = kNoResource;
        std::uint32_t min_walltime = kNoResource;
        std::uint32_t ssinodes = kNoResource;
        std::uint32_t select = kNoResource;
        std::uint32_t place = kNoResource;
        std::uint32_t host = kNoResource;
        std::uint32_t vnode = kNoResource;
        std::uint32_t start_within = kNoResource;
        std::uint32_t select_range = kNoResource;
        std::uint32_t chunk_order = kNoResource;
        std::uint32_t per_host = kNoResource;
        std::uint32_t prefer = kNoResource;
    };

    void define(const ResourceRecord& record);
    // Forgets the resource with this name. If one of this name is defined later, it has another id, or
    // another type under the same id.
    void remove(std::string_view name);
    // A number that grows with each define() and remove(): what was read from the definitions before is out
    // of date when it has grown.
    std::size_t version() const { return version_; }
    const Info* find(std::uint32_t id) const;
    std::uint32_t id(std::string_view name) const;  // kNoResource: there is none
    const BuiltIn& known() const { return known_; }
    std::size_t size() const { return infos_.size(); }
    bool is_text(std::uint32_t id) const;
    bool is_boolean(std::uint32_t id) const;
    bool consumable(std::uint32_t id) const;
    bool host_level(std::uint32_t id) const;
    std::string_view name(std::uint32_t id) const;

    // Reads a value of a resource in the syntax of select ("4", "2gb", "01:00:00", "true"). nullopt: it isn't
    // a value.
    std::optional<KeptAmount> parse(std::uint32_t id, std::string_view text) const;
    // Reads the output of a program of server_dyn_res, as OpenPBS does: the first line has to be one value,
    // beginning at the first character. A size without a unit is in kilobytes. A number may be negative and
    // may have decimals, which are cut off unless the resource has decimals. nullopt: it isn't a value.
    std::optional<KeptAmount> parse_told(std::uint32_t id, std::string_view output) const;
    // Writes a value: "2gb", "01:00:00".
    std::string format(std::uint32_t id, std::int64_t number) const;

  private:
    std::vector<Info> infos_;
    BuiltIn known_;
    std::size_t version_ = 0;
};

// An amount of a resource as a number in formulas: sizes in kilobytes, durations in seconds, as in pbs_sched.
double formula_amount(std::int64_t amount, ResourceKind kind);
// The amount that the result of a formula stands for, rounded down; at least 0.
std::int64_t amount_of_formula(double result, ResourceKind kind);

}  // namespace pbs::sched
