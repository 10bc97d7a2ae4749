// Time zones: the map between what clocks on a wall show and instants. Zone data is the system's tzdata.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rrule/error.h"

namespace pbs::rrule {

using Instant = std::chrono::sys_seconds;  // seconds since 1970-01-01T00:00:00Z, leap seconds not counted
using Local = std::chrono::local_seconds;  // a reading of a wall clock, in no particular zone
using LocalDay = std::chrono::local_days;  // a date, in no particular zone
using Seconds = std::chrono::seconds;

// A time zone, as the file of the tz database was when the zone was looked up. A cheap value to copy; two
// zones are equal when they have the same name, of the same version of the file.
class Zone {
  public:
    // The zone of an IANA name such as "America/Los_Angeles", or "UTC". An unknown name is an error.
    static Result<Zone> find(std::string_view name);
    // The zone of this machine (TZ, else /etc/localtime), looked up once by the caller and then passed on. It
    // has its IANA name wherever that can be told: from TZ, from where /etc/localtime points to, or from
    // /etc/timezone if that agrees with it. Else the path of the file stands for the name. A TZ that is
    // neither the name of a zone nor the path of a file with one is an error; without TZ and /etc/localtime
    // it is UTC.
    static Result<Zone> system();
    static Zone utc();

    const std::string& name() const;

    // Whether the file is the one that was read; also when it isn't there at present. The work of a stat().
    bool is_current() const;
    // The zone of the same name as the file is now; as it was if the file can't be read.
    Zone renewed() const;
    // A number that another version of the file doesn't have.
    std::uint64_t version() const;

    // What a clock on the wall shows at an instant.
    Local local(Instant t) const;

    // When a wall clock shows `l`. The map never goes backwards, so windows that are disjoint on the wall
    // clock are disjoint in time:
    // - a reading that comes twice (the clock was set back) is its first occurrence, as in RFC 5545 3.3.5;
    // - a reading that never comes (the clock was set forward over it) is the instant of the setting, the
    //   first moment at which the clock is past the reading.
    Instant instant(Local l) const;

    // The same for a DATE-TIME value of iCalendar: in a gap, RFC 5545 3.3.5 counts with the offset before the
    // gap, so 02:30 on a day that goes from 02:00 to 03:00 is 03:30. In a fold the first occurrence.
    Instant rfc5545_instant(Local l) const;

    // Whether the clock ever shows `l` (false in a gap).
    bool exists(Local l) const;

    // The readings around an instant that are all one offset away from UTC: neither in a gap nor repeated
    // later. Not always as far as that is so; empty (from == to) near a change or the turn of a year after
    // 2400.
    struct Stretch {
        Local from;
        Local to;
        Seconds offset;  // reading = UTC + offset
    };
    Stretch stretch(Instant t) const;

    friend bool operator==(const Zone& a, const Zone& b) {
        return a.impl_ == b.impl_ || (a.version() == b.version() && a.name() == b.name());
    }

  private:
    struct Impl;
    static std::shared_ptr<const Impl> read(std::string name, const std::string& path);
    explicit Zone(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
    std::shared_ptr<const Impl> impl_;
};

// Zone::instant for many readings that are near each other: tzdata is only asked when the offset may change.
class ZoneReader {
  public:
    explicit ZoneReader(const Zone& zone) : zone_(zone) {}

    Instant instant(Local l) {
        if (l >= stretch_.from && l < stretch_.to) return Instant{l.time_since_epoch() - stretch_.offset};
        const Instant t = zone_.instant(l);
        stretch_ = zone_.stretch(t);
        return t;
    }

  private:
    const Zone& zone_;
    Zone::Stretch stretch_{};
};

}  // namespace pbs::rrule
