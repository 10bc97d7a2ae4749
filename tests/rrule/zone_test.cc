#include "rrule/zone.h"

#include "tests/rrule/support.h"

namespace pbs::rrule::test {
namespace {

TEST(Zone, UnknownNamesAreRefused) {
    for (const char* name :
         {"Mars/Olympus", "", "../../etc/passwd", "/etc/localtime", "Europe/Berlin\n", "A B"}) {
        const auto found = Zone::find(name);
        ASSERT_FALSE(found) << name;
        EXPECT_THAT(found.error().message, testing::HasSubstr("is not a time zone of this system"));
    }
}

TEST(Zone, LocalAndBack) {
    const Zone berlin = zone("Europe/Berlin");
    EXPECT_EQ(text(berlin.local(utc("2026-01-15 11:00"))), "2026-01-15 12:00");
    EXPECT_EQ(text(berlin.local(utc("2026-07-15 10:00"))), "2026-07-15 12:00");
    EXPECT_EQ(text(berlin.instant(local("2026-07-15 12:00"))), "2026-07-15 10:00");
    EXPECT_EQ(text(Zone::utc().instant(local("2026-07-15 12:00"))), "2026-07-15 12:00");
}

struct Change {
    const char* zone;
    const char* reading;
    const char* instant;  // by Zone::instant(), in UTC
    const char* rfc;      // by Zone::rfc5545_instant(), in UTC
    bool exists;
};

TEST(Zone, GapsAndFolds) {
    const Change changes[] = {
        // Los Angeles, 2026-03-08: 02:00 PST (10:00Z) becomes 03:00 PDT
        {"America/Los_Angeles", "2026-03-08 01:59", "2026-03-08 09:59", "2026-03-08 09:59", true},
        {"America/Los_Angeles", "2026-03-08 02:00", "2026-03-08 10:00", "2026-03-08 10:00", false},
        {"America/Los_Angeles", "2026-03-08 02:30", "2026-03-08 10:00", "2026-03-08 10:30", false},
        {"America/Los_Angeles", "2026-03-08 03:00", "2026-03-08 10:00", "2026-03-08 10:00", true},
        // Los Angeles, 2026-11-01: 02:00 PDT (09:00Z) becomes 01:00 PST
        {"America/Los_Angeles", "2026-11-01 01:30", "2026-11-01 08:30", "2026-11-01 08:30", true},
        {"America/Los_Angeles", "2026-11-01 02:00", "2026-11-01 10:00", "2026-11-01 10:00", true},
        // Berlin, 2026-03-29: 02:00 CET (01:00Z) becomes 03:00; 2026-10-25: 03:00 CEST (01:00Z) becomes 02:00
        {"Europe/Berlin", "2026-03-29 02:15", "2026-03-29 01:00", "2026-03-29 01:15", false},
        {"Europe/Berlin", "2026-10-25 02:15", "2026-10-25 00:15", "2026-10-25 00:15", true},
        // Lord Howe changes by half an hour: 2026-10-04, 02:00 +10:30 (15:30Z the day before) becomes 02:30
        // +11
        {"Australia/Lord_Howe", "2026-10-04 02:15", "2026-10-03 15:30", "2026-10-03 15:45", false},
        {"Australia/Lord_Howe", "2026-04-05 01:45", "2026-04-04 14:45", "2026-04-04 14:45", true},
        // Samoa skipped 30 December 2011
        {"Pacific/Apia", "2011-12-30 12:00", "2011-12-30 10:00", "2011-12-30 22:00", false},
    };
    for (const Change& c : changes) {
        const Zone z = zone(c.zone);
        EXPECT_EQ(text(z.instant(local(c.reading))), c.instant) << c.zone << ' ' << c.reading;
        EXPECT_EQ(text(z.rfc5545_instant(local(c.reading))), c.rfc) << c.zone << ' ' << c.reading;
        EXPECT_EQ(z.exists(local(c.reading)), c.exists) << c.zone << ' ' << c.reading;
    }
}

TEST(Zone, AReaderAnswersAsTheZoneDoes) {
    for (const char* name :
         {"UTC", "America/Los_Angeles", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia",
          "America/Sao_Paulo", "Africa/Casablanca", "America/St_Johns", "Asia/Kathmandu"}) {
        const Zone z = zone(name);
        ZoneReader reader(z);
        for (Local l = local("1980-01-01"); l < local("2040-01-01"); l += Seconds{91 * 3600})
            ASSERT_TRUE(same(reader.instant(l), z.instant(l))) << name << ' ' << text(l);
        for (Local l = local("2011-01-01"); l < local("2012-04-01"); l += Seconds{900})
            ASSERT_TRUE(same(reader.instant(l), z.instant(l))) << name << ' ' << text(l);
        // go backwards, and to times beyond the changes that tzdata lists
        for (Local l = local("2450-01-01"); l > local("2380-01-01"); l -= Seconds{86399 * 31})
            ASSERT_TRUE(same(reader.instant(l), z.instant(l))) << name << ' ' << text(l);
        for (Local l = local("1601-01-01"); l < local("1930-01-01"); l += Seconds{86401 * 31})
            ASSERT_TRUE(same(reader.instant(l), z.instant(l))) << name << ' ' << text(l);
    }
}

TEST(Zone, TheMapNeverGoesBackwards) {
    for (const char* name : {"America/Los_Angeles", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"}) {
        const Zone z = zone(name);
        Instant last = z.instant(local("2011-01-01"));
        for (Local l = local("2011-01-01"); l < local("2012-02-01"); l += Seconds{900}) {
            ASSERT_GE(z.instant(l), last) << name << ' ' << text(l);
            last = z.instant(l);
        }
    }
}

}  // namespace
}  // namespace pbs::rrule::test
