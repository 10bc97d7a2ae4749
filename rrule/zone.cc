#include "rrule/zone.h"

#include <absl/time/time.h>
#include <fmt/format.h>

#include <algorithm>

namespace pbs::rrule {

struct Zone::Impl {
    std::string name;
    absl::TimeZone zone;
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

// Names as in the tz database; nothing that could walk out of its directory.
bool plausible(std::string_view name) {
    return !name.empty() && name.size() <= 64 && name.front() != '/' &&
           name.find("..") == std::string_view::npos && std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '+' || c == '/';
           });
}

}  // namespace

Result<Zone> Zone::find(std::string_view name) {
    absl::TimeZone zone;
    if (!plausible(name) || !absl::LoadTimeZone(absl::string_view(name.data(), name.size()), &zone))
        return tl::unexpected(
            Error{fmt::format(
                      "'{}' is not a time zone of this system, expected a name such as Europe/Berlin or UTC",
                      name.substr(0, 64)),
                  std::nullopt});
    return Zone(std::make_shared<const Impl>(Impl{std::string(name), zone}));
}

Zone Zone::system() {
    const absl::TimeZone zone = absl::LocalTimeZone();
    return Zone(std::make_shared<const Impl>(Impl{zone.name(), zone}));
}

Zone Zone::utc() {
    return Zone(std::make_shared<const Impl>(Impl{"UTC", absl::UTCTimeZone()}));
}

const std::string& Zone::name() const {
    return impl_->name;
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
    // Changes that tzdata gives as a rule are listed by absl for 400 years.
    constexpr Instant kListed{std::chrono::days{157054}};  // 2400-01-01
    const absl::Time at = absl::FromUnixSeconds(t.time_since_epoch().count());
    Stretch out{Local{}, Local{}, Seconds{impl_->zone.At(at).offset}};
    if (t >= kListed) return out;
    absl::TimeZone::CivilTransition change;
    // The change at t itself, if there is one, is before.
    out.from = impl_->zone.PrevTransition(at + absl::Seconds(1), &change)
                   ? local_of(std::max(change.from, change.to))
                   : Local::min();
    out.to = impl_->zone.NextTransition(at, &change) ? local_of(change.from)
                                                     : local_of(absl::CivilSecond(2400, 1, 1));
    return out;
}

}  // namespace pbs::rrule
