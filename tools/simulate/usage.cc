#include "tools/simulate/usage.h"
#include "text/json_document.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace pbs::simulate {
namespace {

// The largest usage that is accepted: sums of such numbers stay finite.
constexpr double kLargestUsage = 1e200;

class Reader {
  public:
    explicit Reader(const std::string& name) : name_(name) {}

    Result<std::vector<ShareUsage>> read(std::string_view text) {
        const nlohmann::json document = text::parse_json(text);
        if (document.is_discarded()) return wrong("no JSON, expected what pbs_fairshare -F json writes");
        const nlohmann::json* const trees = member(document, "trees");
        if (trees == nullptr || !trees->is_array())
            return wrong("expected {\"trees\":[...]}, as pbs_fairshare -F json writes it");
        std::vector<ShareUsage> all;
        std::set<std::pair<std::string, std::string>> seen;
        for (std::size_t i = 0; i < trees->size(); ++i) {
            auto one = read_tree((*trees)[i], fmt::format("trees[{}]", i));
            if (!one) return tl::unexpected(one.error());
            if (!seen.emplace(one->sched, one->group).second)
                return wrong(fmt::format("trees[{}]: fs_group {} of sched {} is there twice, expected once",
                                         i, one->group, one->sched));
            all.push_back(*std::move(one));
        }
        return all;
    }

  private:
    tl::unexpected<std::string> wrong(const std::string& what) const {
        return tl::unexpected(fmt::format("{}: {}", name_, what));
    }
    static const nlohmann::json* member(const nlohmann::json& object, const char* key) {
        if (!object.is_object()) return nullptr;
        const auto found = object.find(key);
        return found == object.end() ? nullptr : &*found;
    }
    Result<std::string> text_of(const nlohmann::json& object, const char* key,
                                const std::string& place) const {
        const nlohmann::json* const value = member(object, key);
        if (value == nullptr || !value->is_string() || value->get_ref<const std::string&>().empty())
            return wrong(fmt::format("{}: {}: expected a name", place, key));
        return value->get<std::string>();
    }

    Result<ShareUsage> read_tree(const nlohmann::json& tree, const std::string& place) const {
        ShareUsage usage;
        for (const auto& [key, into] :
             {std::pair("sched", &usage.sched), std::pair("fs_group", &usage.group)}) {
            auto text = text_of(tree, key, place);
            if (!text) return tl::unexpected(text.error());
            *into = *std::move(text);
        }
        const nlohmann::json* const elements = member(tree, "elements");
        if (elements == nullptr || !elements->is_array())
            return wrong(fmt::format("{}: elements: expected a list", place));
        for (std::size_t i = 0; i < elements->size(); ++i)
            if (auto done = read_element((*elements)[i], fmt::format("{}.elements[{}]", place, i), usage);
                !done)
                return tl::unexpected(done.error());
        return usage;
    }

    Result<void> read_element(const nlohmann::json& element, const std::string& place,
                              ShareUsage& usage) const {
        auto name = text_of(element, "name", place);
        if (!name) return tl::unexpected(name.error());
        const nlohmann::json* const kind = member(element, "kind");
        if (kind == nullptr || (*kind != "group" && *kind != "entity"))
            return wrong(fmt::format("{}: kind: expected group or entity", place));
        const nlohmann::json* const amount = member(element, "usage");
        if (amount == nullptr || !amount->is_number())
            return wrong(fmt::format("{}: usage: expected a number", place));
        const auto used = amount->get<double>();
        if (!(used >= 0 && used <= kLargestUsage))
            return wrong(fmt::format("{}: usage: found {}, expected 0 to {}", place, used, kLargestUsage));
        // Skip a usage of 1: unused entities are written with it.
        if (*kind == "entity" && used > 1) usage.entities.push_back({{}, *std::move(name), used});
        return {};
    }

    const std::string& name_;
};

}  // namespace

Result<std::vector<ShareUsage>> read_share_usage(std::string_view text, const std::string& name) {
    return Reader(name).read(text);
}

}  // namespace pbs::simulate
