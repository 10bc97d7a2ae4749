#include "server_plugin/host/state/depend_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "ifl/pbs_error.h"
#include "server_plugin/host/state/values.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::host {
namespace {

constexpr std::array<std::string_view, 10> kNames = {"after",  "afterok",  "afternotok",  "afterany",
                                                     "before", "beforeok", "beforenotok", "beforeany",
                                                     "on",     "runone"};

tl::unexpected<Error> bad(std::string_view text, std::string_view expected) {
    return fail(PBSE_BADATVAL, fmt::format("Illegal depend \"{}\": expected {}", text, expected));
}

// Splits the text at colons, except at those after a backslash, which separate a server's name from its port.
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words(1);
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ':') {
            words.back() += text[++i];
        } else if (text[i] == ':') {
            words.emplace_back();
        } else {
            words.back() += text[i];
        }
    }
    return words;
}

Result<DependItem> parse_item(std::string_view text) {
    std::vector<std::string> words = words_of(text);
    const auto name = std::find(kNames.begin(), kNames.end(), words[0]);
    if (name == kNames.end()) return bad(text, fmt::format("one of {}", fmt::join(kNames, ", ")));
    DependItem item;
    item.type = static_cast<DependType>(name - kNames.begin());
    words.erase(words.begin());
    if (words.empty() || std::find(words.begin(), words.end(), "") != words.end())
        return bad(text, item.type == DependType::on ? "on:COUNT" : fmt::format("{}:JOB[:JOB...]", *name));
    if (item.type != DependType::on) {
        item.jobs = std::move(words);
        return item;
    }
    const auto count = values::number<int32_t>(words[0]);
    if (words.size() > 1 || !count || *count < 1) return bad(text, "on:COUNT with one whole number from 1");
    item.count = *count;
    return item;
}

}  // namespace

std::string_view depend_name(DependType type) {
    return kNames[static_cast<size_t>(type)];
}

Result<std::vector<DependItem>> parse_depend(std::string_view text) {
    std::vector<DependItem> items;
    for (const std::string_view part : values::split(text, ',')) {
        auto item = parse_item(values::trim(part));
        if (!item) return tl::unexpected(item.error());
        const auto same = std::find_if(items.begin(), items.end(),
                                       [&](const DependItem& other) { return other.type == item->type; });
        if (same == items.end()) {
            items.push_back(std::move(*item));
        } else if (item->type == DependType::on) {
            return bad(text, "one count of \"on\"");
        } else {
            std::move(item->jobs.begin(), item->jobs.end(), std::back_inserter(same->jobs));
        }
    }
    return items;
}

std::string depend_text(const std::vector<DependItem>& items) {
    std::string out;
    for (const DependItem& item : items) {
        out += fmt::format("{}{}", out.empty() ? "" : ",", depend_name(item.type));
        if (item.type == DependType::on) out += fmt::format(":{}", item.count);
        for (const std::string& job : item.jobs) {
            out += ':';
            for (const char c : job) out += c == ':' ? std::string("\\:") : std::string(1, c);
        }
    }
    return out;
}

}  // namespace pbs::host
