#include "rrule/zone.h"

#include <absl/time/time.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "rrule/year_days.h"
#include "rrule/zone_files.h"

namespace pbs::rrule {

struct Zone::Impl {
    std::string name;
    absl::TimeZone zone;
    std::string path{};         // path of the zone's file; empty: none
    std::uint64_t version = 0;  // version of the file when it was read
};

namespace {

absl::CivilSecond civil(Local l) {
    return absl::CivilSecond(1970, 1, 1, 0, 0, 0) + l.time_since_epoch().count();
}

Local local_of(absl::CivilSecond c) {
    return Local{Seconds{c - absl::CivilSecond(1970, 1, 1, 0, 0, 0)}};
}

Instant instant_of(absl::Time t) {
    return Instant{Seconds{absl::ToUnixSeconds(t)}};
}

// Returns whether the name is like those of the tz database, and can't lead out of the database's folder.
bool plausible(std::string_view name) {
    return !name.empty() && name.size() <= 64 && name.front() != '/' &&
           name.find("..") == std::string_view::npos && std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '+' || c == '/';
           });
}

}  // namespace

// Reads the zone in a file; null if the file has none.
std::shared_ptr<const Zone::Impl> Zone::read(std::string name, const std::string& path) {
    const auto version = version_of(path);
    if (!version) return nullptr;
    const auto zone = load_zone_file(path, *version);
    if (!zone) return nullptr;
    return std::make_shared<const Impl>(Impl{std::move(name), *zone, path, *version});
}

Result<Zone> Zone::find(std::string_view name) {
    if (name == "UTC") return utc();
    if (plausible(name)) {
        if (auto found = read(std::string(name), zoneinfo_folder() + "/" + std::string(name)))
            return Zone(std::move(found));
    }
    return tl::unexpected(Error{
        fmt::format("'{}' is not a time zone of this system, expected a name such as Europe/Berlin or UTC",
                    name.substr(0, 64)),
        std::nullopt});
}

Result<Zone> Zone::system() {
    const auto name = system_zone({std::getenv("TZ"), zoneinfo_folder(), "/etc/localtime", "/etc/timezone"});
    if (!name) return tl::unexpected(name.error());
    if (name->front() != '/') return find(*name);
    if (auto unnamed = read(*name, *name)) return Zone(std::move(unnamed));
    return tl::unexpected(
        Error{fmt::format("{} holds no data of a time zone, expected a file of the tz database", *name),
              std::nullopt});
}

bool Zone::is_current() const {
    if (impl_->path.empty()) return true;
    const auto version = version_of(impl_->path);
    return !version || *version == impl_->version;
}

Zone Zone::renewed() const {
    if (impl_->path.empty()) return *this;
    auto found = read(impl_->name, impl_->path);
    return found ? Zone(std::move(found)) : *this;
}

Zone Zone::utc() {
    return Zone(std::make_shared<const Impl>(Impl{"UTC", absl::UTCTimeZone()}));
}

const std::string& Zone::name() const {
    return impl_->name;
}

std::uint64_t Zone::version() const {
    return impl_->version;
}

Local Zone::local(Instant t) const {
    return local_of(impl_->zone.At(absl::FromUnixSeconds(t.time_since_epoch().count())).cs);
}

Instant Zone::instant(Local l) const {
    const auto info = impl_->zone.At(civil(l));
    return instant_of(info.kind == absl::TimeZone::TimeInfo::SKIPPED ? info.trans : info.pre);
}

Instant Zone::rfc5545_instant(Local l) const {
    return instant_of(impl_->zone.At(civil(l)).pre);
}

bool Zone::exists(Local l) const {
    return impl_->zone.At(civil(l)).kind != absl::TimeZone::TimeInfo::SKIPPED;
}

Zone::Stretch Zone::stretch(Instant t) const {
    // absl lists the changes that tzdata gives as a rule for 400 years. After that, take the changes of a
    // year of the same kind: there is one among any 28 years without a change of century.
    constexpr Instant kListed{std::chrono::days{157054}};  // 2400-01-01
    constexpr int kRuled = 2201;
    if (t >= kListed) {
        const Year year(Year::of(std::chrono::floor<std::chrono::days>(t).time_since_epoch().count()));
        int same = kRuled;
        while (Year(same).kind != year.kind) ++same;
        const Year like(same);
        const std::chrono::days later{year.first - like.first};
        Stretch found = stretch(t - later);
        found.from = std::max(found.from, Local{day_at(like.first)}) + later;
        found.to = std::min(found.to, Local{day_at(like.first + like.length)}) + later;
        if (found.from > found.to) found.from = found.to;
        return found;
    }
    const absl::Time at = absl::FromUnixSeconds(t.time_since_epoch().count());
    Stretch out{Local{}, Local{}, Seconds{impl_->zone.At(at).offset}};
    absl::TimeZone::CivilTransition change;
    // ask for the last change before t + 1 s, so that a change at t itself counts as one before t
    out.from = impl_->zone.PrevTransition(at + absl::Seconds(1), &change)
                   ? local_of(std::max(change.from, change.to))
                   : Local::min();
    out.to = impl_->zone.NextTransition(at, &change) ? local_of(change.from)
                                                     : local_of(absl::CivilSecond(2400, 1, 1));
    return out;
}

}  // namespace pbs::rrule
