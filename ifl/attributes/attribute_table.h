// The attributes of PBS's own objects, one table for each type of object. The bundled server checks, stores
// and shows values by them; qmgr's help, completion and `print`, and the manual page pbs_attributes(7B), are
// made from them. A new attribute is a new row. The policy plugin's attributes are in objects/.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace pbs::ifl {

// The types of attributes. The first seven have the numbers of enum pbs_resource_kind.
enum class AttributeType : std::uint8_t {
    integer = 1,
    real = 2,      // amounts are in millionths
    size = 3,      // "4gb"; amounts are in bytes
    duration = 4,  // "HH:MM:SS" or seconds; amounts are in seconds
    boolean = 5,   // "True" or "False"; amounts are 1 and 0
    text = 6,
    list = 7,             // comma-separated, in the order given
    acl = 8,              // comma-separated "+user@host", "-host", ...: the order given, no duplicates
    resources = 9,        // one value per resource name, each of that resource's own type
    hold = 10,            // "n" or some of "u", "o", "s", "p"
    environment = 11,     // comma-separated NAME=value, see text/variable_list.h
    limits = 12,          // limits on entities (entity_limits.h): numbers of jobs
    resource_limits = 13  // limits on entities: amounts of each resource
};

// Flags of an attribute: who may read and write it, when, and which server has it.
enum AttributeFlag : std::uint32_t {
    read_user = 1,
    read_operator = 2,
    read_manager = 4,
    write_user = 8,
    write_operator = 16,
    write_manager = 32,
    alter_running = 64,   // users may change it while the job runs
    at_creation = 128,    // may be given when the job is queued, but not changed later
    computed = 256,       // computed by the server when asked for; mostly nothing is stored
    preset = 512,         // a new object has the default as a value, which can be unset
    of_plugin = 1024,     // shown by the policy plugin; the bundled server itself doesn't have it
    openpbs_only = 2048,  // OpenPBS's server has it, the bundled one doesn't
    of_policies = 4096,   // OpenPBS's schedulers have it; here it is set in the policies of the scheduler
};

constexpr std::uint32_t kReadAll = read_user | read_operator | read_manager;
constexpr std::uint32_t kReadOnly = kReadAll;
constexpr std::uint32_t kReadWrite = kReadAll | write_user | write_operator | write_manager;
constexpr std::uint32_t kNoUserSet = kReadAll | write_operator | write_manager;
constexpr std::uint32_t kManagerOnlySet = kReadAll | write_manager;
constexpr std::uint32_t kManagersRead = read_manager;
constexpr std::uint32_t kAllWrites = write_user | write_operator | write_manager;

struct AttributeDef {
    std::string_view name;
    AttributeType type = AttributeType::text;
    std::uint32_t flags = kReadOnly;
    std::string_view default_value{};  // text, for resources RESOURCE=VALUE; empty: no default
    std::string_view help{};           // one sentence, without a full stop at its end; empty for jobs
    std::span<const std::string_view> words{};  // the allowed values, if they are enumerated

    constexpr bool has(AttributeFlag flag) const { return (flags & flag) != 0; }
    constexpr bool writable() const { return (flags & kAllWrites) != 0; }
};

class AttributeTable {
  public:
    // The bundled server's rows come first, in the order in which a status shows them, then the others. A
    // table in another order doesn't compile: the bundled server would lack one of its rows.
    explicit constexpr AttributeTable(std::span<const AttributeDef> all)
        : all_(all),
          rows_(all.first(
              static_cast<std::size_t>(std::find_if(all.begin(), all.end(), is_elsewhere) - all.begin()))) {
        if (!std::all_of(all.begin() + static_cast<std::ptrdiff_t>(rows_.size()), all.end(), is_elsewhere))
            throw "a row of the bundled server's is behind those of others";
        if (all.size() > kSlots / 2) throw "there are too few slots for the names";
        for (std::size_t row = 0; row < all.size(); ++row) {
            std::size_t slot = hash(all[row].name);
            while (slots_[slot % kSlots] != 0) ++slot;
            slots_[slot % kSlots] = static_cast<std::uint16_t>(row + 1);
        }
    }

    // The attributes of the bundled server.
    constexpr std::span<const AttributeDef> rows() const { return rows_; }
    // The bundled server's attribute of a name, in any case of letters; nullptr: there is none.
    const AttributeDef* find(std::string_view name) const;

    // All attributes, also those that the bundled server doesn't have; find_any() is find() among all.
    constexpr std::span<const AttributeDef> all() const { return all_; }
    const AttributeDef* find_any(std::string_view name) const;

    // Returns whether only OpenPBS has the attribute, and the bundled server doesn't. Setting such an
    // attribute is refused as not supported (PBSE_NOSUP), instead of being accepted and ignored. Asking for
    // it is allowed: it is never set.
    bool is_openpbs_only(std::string_view name) const;

  private:
    static constexpr bool is_elsewhere(const AttributeDef& row) {
        return row.has(of_plugin) || row.has(openpbs_only);
    }
    // FNV-1a hash of the name in lower case.
    static constexpr std::size_t hash(std::string_view name) {
        std::uint32_t hash = 0x811c9dc5;
        for (const char c : name)
            hash = (hash ^ static_cast<unsigned char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c)) * 0x01000193;
        return hash;
    }

    static constexpr std::size_t kSlots = 512;
    std::span<const AttributeDef> all_;
    std::span<const AttributeDef> rows_;
    std::array<std::uint16_t, kSlots> slots_{};  // row numbers, counted from 1, by the hashes of their names
};

// The tables, one file each.
const AttributeTable& server_table();
const AttributeTable& queue_table();
const AttributeTable& job_table();
const AttributeTable& node_table();
const AttributeTable& reservation_table();
const AttributeTable& resource_table();
const AttributeTable& sched_table();

// The table of a type of object, by its number in the batch protocol; nullptr: PBS has no such type.
const AttributeTable* attribute_table(int object_type);

// Compares names as PBS does, ignoring ASCII case.
bool same_name(std::string_view a, std::string_view b);

}  // namespace pbs::ifl
