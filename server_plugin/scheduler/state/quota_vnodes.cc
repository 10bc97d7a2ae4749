#include "server_plugin/scheduler/state/quota_vnodes.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "server_plugin/scheduler/state/tables.h"
#include "values/text.h"

namespace pbs::sched {
namespace {

// All answers are forgotten when there are more numbers than these, some 80 MB.
constexpr std::size_t kMostNumbers = 20'000'000;

// A pattern of a filter, read once for all vnodes.
struct Pattern {
    enum class Of : std::uint8_t { vnode, host, resource };
    Of of = Of::vnode;
    std::uint32_t resource = kNoResource;
    std::string text;
    bool is_name = false;  // the text has no special characters

    bool matches(const std::string& value) const {
        return is_name ? text == value : objects::matches_pattern(text, value);
    }
};

Pattern read(const CycleState& state, const std::string& text) {
    const objects::VnodePattern pattern = objects::vnode_pattern(text);
    Pattern read{.text = std::string(pattern.pattern), .is_name = !objects::is_pattern(pattern.pattern)};
    if (pattern.resource == "host") read.of = Pattern::Of::host;
    if (pattern.resource.empty() || pattern.resource == "vnode" || pattern.resource == "host") return read;
    read.of = Pattern::Of::resource;
    read.resource = state.resources->id(pattern.resource);
    return read;
}

// The values of one vnode that patterns match, each made when it is first asked for.
class VnodeValues {
  public:
    VnodeValues(const CycleState& state, const Vnode& vnode) : state_(state), vnode_(vnode) {}

    const std::vector<std::string>& of(const Pattern& pattern) {
        const auto known =
            std::ranges::find_if(known_, [&](const auto& one) { return one.first == key_of(pattern); });
        if (known != known_.end()) return known->second;
        return known_.emplace_back(key_of(pattern), made(pattern)).second;
    }

  private:
    using Key = std::pair<Pattern::Of, std::uint32_t>;
    static Key key_of(const Pattern& pattern) { return {pattern.of, pattern.resource}; }

    std::vector<std::string> made(const Pattern& pattern) const {
        if (pattern.of == Pattern::Of::vnode) return {vnode_.name};
        if (pattern.of == Pattern::Of::host) return {std::string(state_.vnodes->host_name(vnode_))};
        const auto has = std::ranges::find(vnode_.available, pattern.resource, &KeptAmount::resource);
        if (pattern.resource == kNoResource || has == vnode_.available.end()) return {};
        const std::string all = state_.resources->is_text(pattern.resource)
                                    ? has->text
                                    : state_.resources->format(pattern.resource, has->number);
        std::vector<std::string> values;
        for (const std::string_view value : values::split_trimmed(all, ',')) values.emplace_back(value);
        return values;
    }

    const CycleState& state_;
    const Vnode& vnode_;
    std::vector<std::pair<Key, std::vector<std::string>>> known_;
};

QuotaVnodes::Answers make(const CycleState& state, const objects::QuotaFilter& filter) {
    std::vector<Pattern> except;
    std::vector<Pattern> among;
    for (const std::string& text : filter.except) except.push_back(read(state, text));
    for (const std::string& text : filter.among) among.push_back(read(state, text));
    QuotaVnodes::Answers made;
    made.values.assign(state.vnodes->size(), 0);
    for (VnodeSlot slot = 0; slot < state.vnodes->size(); ++slot) {
        const Vnode& vnode = (*state.vnodes)[slot];
        if (!vnode.known) continue;
        VnodeValues values(state, vnode);
        const auto matched = [&](const std::vector<Pattern>& patterns) -> const std::string* {
            for (const Pattern& pattern : patterns)
                for (const std::string& value : values.of(pattern))
                    if (pattern.matches(value)) return &value;
            return nullptr;
        };
        if (matched(except) != nullptr) continue;
        const std::string* counted = among.empty() ? &vnode.name : matched(among);
        if (counted == nullptr) continue;
        made.values[slot] = (filter.each ? state.strings->id(*counted) : 0) + 1;
        made.vnodes[made.values[slot]].push_back(slot);
    }
    return made;
}

std::string key_of(const objects::QuotaFilter& filter) {
    std::string key = filter.each ? "{" : "";
    for (const std::string& pattern : filter.among) key += pattern + ',';
    for (const std::string& pattern : filter.except) key += '!' + pattern + ',';
    return key;
}

}  // namespace

QuotaVnodes::Values QuotaVnodes::values(const CycleState& state, const objects::QuotaFilter& filter) {
    const auto fresh = [&] { return std::make_shared<const Answers>(make(state, filter)); };
    if (state.vnodes != &state.tables->vnodes) return fresh();
    if (version_ != state.vnodes->version() || numbers_ > kMostNumbers) {
        version_ = state.vnodes->version();
        by_filter_.clear();
        numbers_ = 0;
    }
    Values& known = by_filter_[key_of(filter)];
    if (!known) {
        known = fresh();
        numbers_ += known->values.size();
    }
    return known;
}

}  // namespace pbs::sched
