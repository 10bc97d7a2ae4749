#include "rrule/zone_files.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "rrule/window_cache.h"
#include "tests/rrule/support.h"

namespace pbs::rrule::test {
namespace {

namespace fs = std::filesystem;

// Gives each test its own folder of zone files, which replaces the system's tz database.
class ZoneFiles : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "zonesXXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder = name;
        zoneinfo = folder / "zoneinfo";
        fs::create_directories(zoneinfo / "Europe");
        put("Europe/Berlin", "Europe/Berlin");
        setenv("TZDIR", zoneinfo.c_str(), 1);
    }
    void TearDown() override {
        unsetenv("TZDIR");
        fs::remove_all(folder);
    }

    // Replaces a zone's file with the system's file of the zone `data`, as a package update does.
    void put(const std::string& name, const std::string& data) const {
        fs::copy_file(fs::path("/usr/share/zoneinfo") / data, folder / "new");
        fs::rename(folder / "new", zoneinfo / name);
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder / name) << text;
    }
    std::string system(const char* tz) const {
        const auto found = system_zone(
            {tz, zoneinfo.string(), (folder / "localtime").string(), (folder / "timezone").string()});
        return found ? *found : found.error().message;
    }

    fs::path folder;
    fs::path zoneinfo;
};

TEST_F(ZoneFiles, AReplacedFileIsNoticedAndReadAnew) {
    const Zone before = zone("Europe/Berlin");
    EXPECT_TRUE(before.is_current());
    EXPECT_EQ(before, zone("Europe/Berlin"));
    EXPECT_EQ(text(before.instant(local("2026-07-01 12:00"))), "2026-07-01 10:00");

    put("Europe/Berlin", "Africa/Lagos");  // a zone without summer time
    EXPECT_FALSE(before.is_current());
    EXPECT_EQ(text(before.instant(local("2026-07-01 12:00"))), "2026-07-01 10:00") << "values don't change";
    const Zone after = before.renewed();
    EXPECT_TRUE(after.is_current());
    EXPECT_EQ(after.name(), "Europe/Berlin");
    EXPECT_NE(before, after);
    EXPECT_EQ(after, zone("Europe/Berlin"));
    EXPECT_EQ(text(after.instant(local("2026-07-01 12:00"))), "2026-07-01 11:00");

    put("Europe/Berlin", "Europe/Berlin");  // restores the zone's own file
    EXPECT_FALSE(after.is_current());
    EXPECT_EQ(text(after.renewed().instant(local("2026-07-01 12:00"))), "2026-07-01 10:00");
}

TEST_F(ZoneFiles, AFileThatIsWrittenInPlaceIsNoticed) {
    const Zone before = zone("Europe/Berlin");
    fs::copy_file("/usr/share/zoneinfo/Africa/Lagos", zoneinfo / "Europe/Berlin",
                  fs::copy_options::overwrite_existing);
    EXPECT_FALSE(before.is_current());
    EXPECT_EQ(text(before.renewed().instant(local("2026-07-01 12:00"))), "2026-07-01 11:00");
}

TEST_F(ZoneFiles, AFileThatHasGoneOrIsBrokenChangesNothing) {
    const Zone before = zone("Europe/Berlin");
    fs::remove(zoneinfo / "Europe/Berlin");
    EXPECT_TRUE(before.is_current());
    EXPECT_EQ(before.renewed(), before);
    EXPECT_FALSE(Zone::find("Europe/Berlin"));
    std::ofstream(zoneinfo / "Europe/Berlin") << "nothing of a zone";
    EXPECT_EQ(before.renewed(), before);
    EXPECT_FALSE(Zone::find("Europe/Berlin"));
    put("Europe/Berlin", "Europe/Berlin");
    EXPECT_FALSE(before.is_current());
    EXPECT_TRUE(Zone::find("Europe/Berlin"));
}

TEST_F(ZoneFiles, UtcHasNoFile) {
    EXPECT_TRUE(Zone::utc().is_current());
    EXPECT_EQ(Zone::utc().renewed(), Zone::utc());
    EXPECT_TRUE(Zone::find("UTC"));
    EXPECT_FALSE(Zone::find("America/New_York")) << "the folder of TZDIR is the database";
}

TEST_F(ZoneFiles, ACacheKnowsTheZonesOfItsRules) {
    put("UTC+0", "UTC");
    const auto server = Zone::find("UTC+0");
    ASSERT_TRUE(server);
    WindowCache cache;
    EXPECT_TRUE(cache.zones_are_current());
    const WindowSpec noon{"DTSTART;TZID=Europe/Berlin:20260101T000000 FREQ=DAILY", hm(12), hm(13), true};
    EXPECT_EQ(text(cache.set({&noon, 1}, *server)->next_change(utc("2026-07-01"))), "2026-07-01 10:00");
    EXPECT_TRUE(cache.zones_are_current());
    put("Europe/Berlin", "Africa/Lagos");
    EXPECT_FALSE(cache.zones_are_current());
    cache.clear();
    EXPECT_EQ(text(cache.set({&noon, 1}, *server)->next_change(utc("2026-07-01"))), "2026-07-01 11:00");
    EXPECT_TRUE(cache.zones_are_current());
    // only an excluded date names Europe/Berlin
    const WindowSpec excluded{
        "DTSTART:20260101T000000 FREQ=DAILY EXDATE;TZID=Europe/Berlin:20260101T010000", {}, {}, true};
    cache.clear();
    EXPECT_TRUE(cache.set({&excluded, 1}, *server));
    EXPECT_TRUE(cache.zones_are_current());
    put("Europe/Berlin", "Europe/Berlin");
    EXPECT_FALSE(cache.zones_are_current());
    // only a non-work day names Europe/Berlin; afterwards the server's own zone is replaced
    cache.clear();
    const std::vector<std::string> days{"DTSTART;TZID=Europe/Berlin:20260101 FREQ=YEARLY"};
    EXPECT_TRUE(cache.non_work_days(days, *server));
    put("Europe/Berlin", "Africa/Lagos");
    EXPECT_FALSE(cache.zones_are_current());
    cache.clear();
    const WindowSpec plain{"FREQ=DAILY", hm(12), hm(13), true};
    EXPECT_EQ(text(cache.set({&plain, 1}, *server)->next_change(utc("2026-07-01"))), "2026-07-01 12:00");
    put("UTC+0", "Asia/Kolkata");
    EXPECT_FALSE(cache.zones_are_current());
    EXPECT_EQ(text(cache.set({&plain, 1}, server->renewed())->next_change(utc("2026-07-01"))),
              "2026-07-01 06:30")
        << "the same name, of another version";
}

TEST_F(ZoneFiles, TheSystemsZoneHasItsName) {
    EXPECT_EQ(system(nullptr), "UTC") << "there is no localtime";
    fs::create_symlink(zoneinfo / "Europe/Berlin", folder / "localtime");
    EXPECT_EQ(system(nullptr), "Europe/Berlin");
    EXPECT_EQ(system(""), "UTC");
    EXPECT_EQ(system(":"), "UTC");
    EXPECT_EQ(system("Europe/Berlin"), "Europe/Berlin");
    EXPECT_EQ(system(":Europe/Berlin"), "Europe/Berlin");
    EXPECT_EQ(system("UTC"), "UTC") << "without a file, too";
    EXPECT_EQ(system((zoneinfo / "Europe/Berlin").c_str()), "Europe/Berlin");
    EXPECT_EQ(system((folder / "localtime").c_str()), "Europe/Berlin");

    // a relative link that leads over another link: the zone is the name in the database to which they lead,
    // even if that is an alias
    fs::create_symlink("Berlin", zoneinfo / "Europe/Vienna");
    fs::remove(folder / "localtime");
    fs::create_symlink("zoneinfo/Europe/Vienna", folder / "second");
    fs::create_symlink("second", folder / "localtime");
    EXPECT_EQ(system(nullptr), "Europe/Vienna");
    // the folder of the database is itself a link
    fs::remove(folder / "localtime");
    fs::create_symlink(zoneinfo, folder / "linked");
    fs::create_symlink(zoneinfo / "Europe/Berlin", folder / "localtime");
    EXPECT_EQ(*system_zone({nullptr, folder / "linked", folder / "localtime", folder / "timezone"}),
              "Europe/Berlin");
    // if the links form a circle, they name no zone
    fs::remove(folder / "localtime");
    fs::create_symlink("localtime", folder / "localtime");
    EXPECT_EQ(system(nullptr), "UTC");
}

TEST_F(ZoneFiles, AVariableThatNamesNoZoneIsAnError) {
    const std::string_view expected =
        ", which is not a time zone of this system, expected a name such as Europe/Berlin or UTC, or the "
        "path "
        "of a file";
    for (const char* wrong : {"CET-1CEST", "CET-1CEST,M3.5.0,M10.5.0/3", "Mars/Olympus", "/nonexistent"})
        EXPECT_EQ(system(wrong), fmt::format("TZ is '{}'{}", wrong, expected));
    EXPECT_EQ(system(":Mars/Olympus"), fmt::format("TZ is 'Mars/Olympus'{}", expected));
    EXPECT_EQ(system(folder.c_str()), fmt::format("TZ is '{}'{}", folder.string().substr(0, 64), expected));
}

TEST_F(ZoneFiles, APlainFileHasTheNameThatTimezoneSaysIfItAgrees) {
    fs::copy_file(zoneinfo / "Europe/Berlin", folder / "localtime");
    EXPECT_EQ(system(nullptr), (folder / "localtime").string());
    write("timezone", "Europe/Berlin\n");
    EXPECT_EQ(system(nullptr), "Europe/Berlin");
    write("timezone", "Europe/Berlin # the office");
    EXPECT_EQ(system(nullptr), "Europe/Berlin");
    put("Europe/Lagos", "Africa/Lagos");
    write("timezone", "Europe/Lagos\n");
    EXPECT_EQ(system(nullptr), (folder / "localtime").string()) << "the clock goes by the file";
    write("timezone", "../Europe\n");
    EXPECT_EQ(system(nullptr), (folder / "localtime").string());
}

TEST_F(ZoneFiles, TheZoneOfThisMachine) {
    setenv("TZ", "Europe/Berlin", 1);
    EXPECT_EQ(*Zone::system(), zone("Europe/Berlin"));
    setenv("TZ", (":" + (folder / "mine").string()).c_str(), 1);
    EXPECT_FALSE(Zone::system());
    std::ofstream(folder / "mine") << "nothing of a zone";
    EXPECT_EQ(
        Zone::system().error().message,
        (folder / "mine").string() + " holds no data of a time zone, expected a file of the tz database");
    fs::copy_file(zoneinfo / "Europe/Berlin", folder / "mine", fs::copy_options::overwrite_existing);
    const Zone mine = *Zone::system();
    EXPECT_EQ(mine.name(), (folder / "mine").string());
    EXPECT_EQ(text(mine.instant(local("2026-07-01 12:00"))), "2026-07-01 10:00");
    fs::copy_file("/usr/share/zoneinfo/Africa/Lagos", folder / "mine", fs::copy_options::overwrite_existing);
    EXPECT_FALSE(mine.is_current());
    EXPECT_EQ(text(mine.renewed().instant(local("2026-07-01 12:00"))), "2026-07-01 11:00");
    unsetenv("TZ");
}

}  // namespace
}  // namespace pbs::rrule::test
