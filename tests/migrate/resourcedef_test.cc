#include "migrate/resourcedef.h"

#include "migrate/convert.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> directives(const std::string& text) {
    const QmgrPrint file = parse_resourcedef(text, "resourcedef");
    EXPECT_THAT(texts(file.mistakes), IsEmpty());
    std::vector<std::string> out;
    for (const PrintedCommand& printed : file.commands)
        out.push_back(std::to_string(printed.line) + " " + objects::to_text(printed.command));
    return out;
}

TEST(Resourcedef, BecomesDirectives) {
    EXPECT_THAT(
        directives("# made by qmgr\nlic type=long flag=q\n\ncolor type = string_array flag= h\r\nplain"),
        ElementsAre("2 create resource lic", "2 set resource lic type = long", "2 set resource lic flag = q",
                    "4 create resource color", "4 set resource color type = string_array",
                    "4 set resource color flag = h", "5 create resource plain",
                    "5 set resource plain type = long"));
    const QmgrPrint file =
        parse_resourcedef("lic type=long flag=nh\nbig type=boolean flag=h\ncolor type=string flag=h\n", "f");
    EXPECT_THAT(file.consumables, ElementsAre("lic"));
    EXPECT_THAT(file.others, ElementsAre("big", "color"));
    EXPECT_THAT(file.vnode_booleans, ElementsAre("big"));
}

TEST(Resourcedef, LinesWithMistakesAreLeftOut) {
    const QmgrPrint file = parse_resourcedef(
        "1st type=long\na.b\nlic type=number\nscratch flag=z\nfast speed=1\nslow word\ngood type=size\n",
        "rd");
    EXPECT_THAT(texts(file.mistakes),
                ElementsAre("rd:1:1: '1st' is not a name: expected a letter, then letters, digits, _ or -",
                            HasSubstr("rd:2:1: 'a.b' is not a name"),
                            "rd:3:5: 'number' is not a type: expected long, float, size, string, boolean or "
                            "string_array",
                            "rd:4:9: 'z' are not flags: expected some of h, n, f, q, m, r and i",
                            "rd:5:6: 'speed=1' is unknown here: expected type= or flag=",
                            "rd:6:6: 'word' is unknown here: expected type= or flag="));
    for (const Problem& mistake : file.mistakes) EXPECT_EQ(mistake.then, "the line is left out");
    ASSERT_EQ(file.commands.size(), 2U);
    EXPECT_EQ(file.commands[0].command.object, "good");
}

std::string report(const Conversion& conversion) {
    Report out = conversion.report;
    add_lines(out, conversion.host, {});
    return to_text(out);
}

TEST(Resourcedef, CountsAsThePrintDoes) {
    const Legacy files{.sched_config = parse_sched_config("resources: \"ncpus, mem, lic\"\n", "sc"),
                       .resourcedef = parse_resourcedef("lic flag=q\nscratch type=size flag=nh\n", "rd")};
    const auto conversion = convert(files, {}, nullptr);
    ASSERT_TRUE(conversion);
    EXPECT_THAT(
        to_qmgr(*conversion),
        testing::AllOf(
            HasSubstr("create resource lic\nset resource lic type = long\nset resource lic flag = "
                      "q\ncreate resource scratch\n"),
            HasSubstr("exclude_resources = \"hpm,mpiprocs,naccelerators,nodect,scratch,ssinodes,vmem\"\n")));
    EXPECT_THAT(report(*conversion), testing::AllOf(HasSubstr("rd:2 -> resource scratch type = size\n"),
                                                    Not(HasSubstr("no resource that is known"))));
    EXPECT_TRUE(conversion->ledger.has(objects::ObjectType::resource, "lic", ""));
}

TEST(Resourcedef, ThePrintAndTheServerCountBefore) {
    const auto commands = [](const std::optional<QmgrPrint>& print, const Surroundings& server) {
        const auto conversion = convert(
            {.qmgr_print = print, .resourcedef = parse_resourcedef("lic flag=q\nbig type=boolean\n", "rd")},
            server, nullptr);
        return to_qmgr(*conversion);
    };
    EXPECT_EQ(commands(parse_qmgr_print("create resource LIC\nset resource LIC type = float\n", "p"), {}),
              "create resource big\nset resource big type = boolean\ncreate resource LIC\n"
              "set resource LIC type = float\n");
    EXPECT_EQ(commands(std::nullopt, {.consumables = {"lic"}}),
              "create resource big\nset resource big type = boolean\n");
}

TEST(Resourcedef, ResourcesThatEveryServerHasStayAsTheyAre) {
    const auto conversion = convert({.resourcedef = parse_resourcedef("ncpus flag=q\n", "rd")}, {}, nullptr);
    EXPECT_EQ(to_qmgr(*conversion), "create resource ncpus\n");
    EXPECT_THAT(to_text(conversion->report),
                HasSubstr("rd:1: set resource ncpus flag = q: isn't carried over: resource "
                          "ncpus is built in"));
}

}  // namespace
}  // namespace pbs::migrate::test
