#include "rrule/window_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace pbs::rrule {
namespace {

// Appends a text to a cache key. Lengths come before texts, so that different lists have different keys.
void add_text(std::string& key, std::string_view text) {
    key += fmt::format("{}:{};", text.size(), text);
}

void add_zone(std::string& key, const Zone& zone) {
    add_text(key, zone.name());
    key += fmt::format("{},", zone.version());
}

std::string key_of(const WindowSpec& spec, const Zone& zone) {
    std::string key;
    add_text(key, spec.rrule);
    add_zone(key, zone);
    key += fmt::format("{},{},{},{}", spec.start_time ? spec.start_time->count() : -1,
                       spec.end_time ? spec.end_time->count() : -1, spec.applies_on_holidays ? 1 : 0,
                       spec.only_on_holidays ? 1 : 0);
    return key;
}

}  // namespace

Result<NonWorkDays> WindowCache::non_work_days(std::span<const std::string> entries, const Zone& zone) {
    std::string key;
    add_zone(key, zone);
    for (const std::string& entry : entries) add_text(key, entry);
    if (key == days_key_) return days_;
    auto parsed = NonWorkDays::parse(entries, zone);
    if (!parsed) return parsed;
    days_key_ = std::move(key);
    days_ = *parsed;
    remember(days_.zones());
    return parsed;
}

Result<WindowSet> WindowCache::set(std::span<const WindowSpec> specs, const Zone& zone, std::size_t* failed) {
    std::string key;
    bool holidays = false;
    for (const WindowSpec& spec : specs) {
        add_text(key, key_of(spec, zone));
        holidays = holidays || !spec.applies_on_holidays || spec.only_on_holidays;
    }
    // only windows that treat holidays in a special way depend on the non-work days
    if (holidays) add_text(key, days_key_);
    if (const auto found = sets_.find(key); found != sets_.end()) {
        found->second.used = true;
        for (const WindowSpec& spec : specs) windows_.find(key_of(spec, zone))->second.used = true;
        return found->second.value;
    }
    std::vector<Window> windows;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        std::string window_key = key_of(specs[i], zone);
        auto known = windows_.find(window_key);
        if (known == windows_.end()) {
            auto made = Window::make(specs[i], zone);
            if (!made) {
                if (failed != nullptr) *failed = i;
                return tl::unexpected(made.error());
            }
            remember(made->recurrence().zones());
            known = windows_.emplace(std::move(window_key), Kept<Window>{std::move(*made)}).first;
        }
        known->second.used = true;
        windows.push_back(known->second.value);
    }
    WindowSet made(std::move(windows), holidays ? days_ : NonWorkDays{});
    sets_.emplace(std::move(key), Kept<WindowSet>{made});
    return made;
}

// Remembers the first version of each zone that was looked up: if a later lookup found another version, the
// file has changed since.
void WindowCache::remember(std::span<const Zone> zones) {
    for (const Zone& zone : zones) zones_.emplace(zone.name(), zone);
}

bool WindowCache::zones_are_current() const {
    return std::all_of(zones_.begin(), zones_.end(),
                       [](const auto& named) { return named.second.is_current(); });
}

void WindowCache::clear() {
    *this = WindowCache{};
}

void WindowCache::drop_unused() {
    const auto sweep = [](auto& kept) {
        for (auto entry = kept.begin(); entry != kept.end();)
            entry = std::exchange(entry->second.used, false) ? std::next(entry) : kept.erase(entry);
    };
    sweep(sets_);
    sweep(windows_);
}

}  // namespace pbs::rrule
