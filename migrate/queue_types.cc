#include "migrate/queue_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "migrate/qmgr_print.h"
#include "migrate/sched_config.h"
#include "migrate/sched_policies.h"
#include "migrate/words.h"

namespace pbs::migrate {
namespace {

struct Prefix {
    std::string_view option;
    std::string_view usual;  // the prefix in the file that PBS delivers
    std::string_view type;
};

// dedicated_prefix stands first: pbs_sched ran a queue with this prefix in dedicated time, whatever other
// prefix the queue had.
constexpr std::array kPrefixes{
    Prefix{"dedicated_prefix", "ded", "execution_dedicated"},
    Prefix{"primetime_prefix", "p_", "execution_prime"},
    Prefix{"nonprimetime_prefix", "np_", "execution_non_prime"},
};

const SchedSetting* find(const SchedConfig& config, std::string_view option) {
    const auto found = std::ranges::find(config.settings, option,
                                         [](const SchedSetting& setting) { return setting.option->name; });
    return found == config.settings.end() ? nullptr : &*found;
}

// Returns the type that the prefix of the queue's name means; nullopt: none.
std::optional<FoundQueueType> by_name(const std::string& queue, const SchedConfig* config,
                                      const QmgrPrint* print) {
    for (const Prefix& prefix : kPrefixes) {
        const SchedSetting* setting = config == nullptr ? nullptr : find(*config, prefix.option);
        if (config != nullptr && setting == nullptr) continue;
        const std::string_view text = setting == nullptr ? prefix.usual : std::string_view(setting->value);
        if (text.empty() || !queue.starts_with(text)) continue;
        return FoundQueueType{queue, std::string(prefix.type),
                              setting == nullptr
                                  ? fmt::format("{} {}", print->file, queue)
                                  : fmt::format("{}:{} {}", config->file, setting->line, prefix.option)};
    }
    return std::nullopt;
}

}  // namespace

std::vector<FoundQueueType> find_queue_types(const SchedConfig* config, const QmgrPrint* print,
                                             const Surroundings& server) {
    std::map<std::string, const PrintedQueue*> queues;
    if (config == nullptr && print == nullptr) return {};
    if (config != nullptr)
        for (const std::string& queue : server.queues) queues.emplace(queue, nullptr);
    if (print != nullptr)
        for (const PrintedQueue& queue : print->queues) queues[queue.name] = &queue;
    std::vector<FoundQueueType> out;
    for (const auto& [name, printed] : queues) {
        if (printed != nullptr && printed->route) continue;
        if (printed != nullptr && !printed->execution_type.empty()) {
            out.push_back(
                {name, printed->execution_type, fmt::format("{}:{} {}", print->file, printed->line, name)});
        } else if (auto found = by_name(name, config, print)) {
            out.push_back(std::move(*found));
        }
    }
    return out;
}

std::string to_text(const std::vector<QueueType>& types) {
    std::string out;
    for (const QueueType& type : types) out += fmt::format("{}\t{}\t{}\n", type.queue, type.from, type.to);
    return out;
}

std::vector<QueueType> queue_types_from_text(std::string_view text) {
    std::vector<QueueType> out;
    for_each_line(text, [&](std::string_view line, int) {
        const auto first = line.find('\t');
        const auto second = line.find('\t', std::min(first, line.size() - 1) + 1);
        if (first == std::string_view::npos || second == std::string_view::npos) return;
        out.push_back({std::string(line.substr(0, first)),
                       std::string(line.substr(first + 1, second - first - 1)),
                       std::string(line.substr(second + 1))});
    });
    return out;
}

std::vector<QueueType> merged(std::vector<QueueType> pending, const std::vector<QueueType>& more) {
    for (const QueueType& type : more) {
        const auto same = std::ranges::find(pending, type.queue, &QueueType::queue);
        if (same == pending.end()) {
            pending.push_back(type);
        } else {
            same->to = type.to;
        }
    }
    std::erase_if(pending, [](const QueueType& type) { return type.from == type.to; });
    return pending;
}

}  // namespace pbs::migrate
