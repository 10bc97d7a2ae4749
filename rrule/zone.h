// Converts between wall clock readings and instants in a time zone, by the system's tzdata.
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

// A time zone, by the tz database file at the time of the lookup. Cheap to copy; two zones are equal when
// they have the same name and the same version of the file.
class Zone {
  public:
    // The zone of an IANA name such as "America/Los_Angeles", or "UTC". Error: the name is unknown.
    static Result<Zone> find(std::string_view name);
    // The zone of this machine (TZ, else /etc/localtime); call it once and pass the zone on. Its name is the
    // IANA name if that can be found: from TZ, from the target of /etc/localtime, or from /etc/timezone if
    // that agrees with it; else the file's path. Without TZ and /etc/localtime it is UTC. Error: TZ is
    // neither the name of a zone nor the path of a file with one.
    static Result<Zone> system();
    static Zone utc();

    const std::string& name() const;

    // Returns whether the file is unchanged since it was read; true also while it is missing. Costs a stat().
    bool is_current() const;
    // The zone of the same name by the present file; this zone if the file can't be read.
    Zone renewed() const;
    // A number that differs for each version of the file.
    std::uint64_t version() const;

    // The reading of a wall clock at an instant.
    Local local(Instant t) const;

    // The instant at which a wall clock shows `l`. The function never goes backwards, so windows that are
    // disjoint on the wall clock are disjoint in time:
    // - a reading that comes twice (the clock was set back) means its first occurrence, as in RFC 5545 3.3.5;
    // - a reading that never comes (the clock was set forward over it) means the instant of the setting, the
    //   first moment at which the clock is past the reading.
    Instant instant(Local l) const;

    // instant() for a DATE-TIME value of iCalendar. In a gap, RFC 5545 3.3.5 counts with the offset before
    // the gap: on a day on which the clock jumps from 02:00 to 03:00, 02:30 is 03:30. In a fold, the first
    // occurrence counts.
    Instant rfc5545_instant(Local l) const;

    // Returns whether the clock ever shows `l`; false in a gap.
    bool exists(Local l) const;

    // A stretch of readings around an instant that all have one offset from UTC, and that are neither in a
    // gap nor repeated later. It may be shorter than it could be, and empty (from == to) near a change or,
    // after 2400, near the turn of a year.
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

// Zone::instant() for many readings that are near each other: asks tzdata only when the offset may change.
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
