#include "ifl/cmds/qstat_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cmds/status_list.h"

namespace pbs::cmds {
namespace {

using testing::HasSubstr;

Objects sample_jobs() {
    Objects jobs;
    jobs.add("12.srv.site.org", {{"Job_Name", "", "a_name_of_sixteen"},
                                 {"Job_Owner", "", "bob@host.site.org"},
                                 {"job_state", "", "R"},
                                 {"queue", "", "workq"},
                                 {"session_id", "", "4321"},
                                 {"Resource_List", "ncpus", "2"},
                                 {"Resource_List", "nodect", "1"},
                                 {"Resource_List", "mem", "1048576kb"},
                                 {"Resource_List", "walltime", "01:00:00"},
                                 {"resources_used", "cput", "00:00:07"},
                                 {"resources_used", "walltime", "00:10:30"},
                                 {"exec_host", "", "n1.site.org/0*2"},
                                 {"comment", "", "Job run at Sat"}});
    jobs.add("13.srv", {{"Job_Name", "", "STDIN"},
                        {"Job_Owner", "", "eve@host"},
                        {"job_state", "", "Q"},
                        {"queue", "", "a_long_queue_nm"}});
    return jobs;
}

TEST(JobsText, IsTheDefaultLayout) {
    Objects jobs = sample_jobs();
    EXPECT_EQ(jobs_text(jobs.get(), {}, {}),
              "Job id            Name             User              Time Use S Queue\n"
              "----------------  ---------------- ----------------  -------- - -----\n"
              "12.srv            a_name_of_sixte* bob               00:00:07 R workq           \n"
              "13.srv            STDIN            eve                      0 Q a_long_queue_nm \n");
}

TEST(JobsText, HasTheWidthsOfW) {
    Objects jobs = sample_jobs();
    QstatOptions options;
    options.wide = true;
    EXPECT_THAT(
        jobs_text(jobs.get(), {}, options),
        HasSubstr(
            "Job id                         Name            User             Time Use S Queue\n"
            "-----------------------------  --------------- ---------------  -------- - "
            "---------------\n"
            "12.srv                         a_name_of_sixt* bob              00:00:07 R workq          \n"));
}

TEST(JobsText, ShowsPercentages) {
    Objects jobs = sample_jobs();
    QstatOptions options;
    options.percent = true;
    const std::string text = jobs_text(jobs.get(), {}, options);
    EXPECT_THAT(text, HasSubstr(" % done  S Queue\n"));
    EXPECT_THAT(text, HasSubstr("bob                    17  R workq"));
    EXPECT_THAT(text, HasSubstr("eve                    --  Q"));
}

TEST(AlternateJobsText, MarksNumbersThatAreTooLong) {
    Objects jobs;
    jobs.add(
        "14.srv",
        {{"Resource_List", "ncpus", "9999"}, {"Resource_List", "nodect", "1000"}, {"job_state", "", "Q"}});
    QstatOptions options;
    options.alternate = true;
    const std::string cut = alternate_jobs_text(jobs.get(), {}, options, 0);
    EXPECT_THAT(cut, HasSubstr(" 10* 99* "));
    options.wide = true;
    EXPECT_THAT(alternate_jobs_text(jobs.get(), {}, options, 0), HasSubstr(" 1000  9999 "));
}

// Checks that qstat requests every attribute that its layouts show: with only the requested attributes, the
// output is the same.
TEST(ShownJobAttributes, AreAllThatTheLayoutsRead) {
    for (const bool alternate : {false, true})
        for (const bool special : {false, true}) {
            QstatOptions options;
            options.alternate = alternate;
            options.percent = special && !alternate;
            options.nodes = options.comments = options.estimated_start = special && alternate;
            const AttrList asked = shown_job_attributes(options);
            Objects all = sample_jobs();
            all.add("14[].srv", {{"Job_Name", "", "many"},
                                 {"job_state", "", "B"},
                                 {"array_state_count", "", "Queued:1 Running:1 Exiting:0 Expired:2"},
                                 {"estimated", "start_time", "1795431600"},
                                 {"estimated", "exec_vnode", "(n1)"}});
            Objects sent;
            for (const batch_status* job = all.get(); job != nullptr; job = job->next) {
                std::vector<Objects::Attribute> values;
                for (const attrl* a = job->attribs; a != nullptr; a = a->next)
                    if (asked.has(a->name))
                        values.push_back({a->name, a->resource != nullptr ? a->resource : "", a->value});
                sent.add(job->name, values);
            }
            const auto text = [&](Objects& jobs) {
                return alternate ? alternate_jobs_text(jobs.get(), {}, options, 1795428000)
                                 : jobs_text(jobs.get(), {}, options);
            };
            EXPECT_EQ(text(sent), text(all)) << alternate << special;
        }
    QstatOptions full;
    full.full = true;
    EXPECT_TRUE(shown_job_attributes(full).empty());
    QstatOptions json;
    json.format = ListFormat::json;
    EXPECT_TRUE(shown_job_attributes(json).empty());
}

TEST(AlternateJobsText, IsTheLayoutOfA) {
    Objects jobs = sample_jobs();
    QstatOptions options;
    options.alternate = true;
    EXPECT_EQ(alternate_jobs_text(jobs.get(), {"srv.site.org", "hello", false, true}, options, 0),
              "\nsrv.site.org: hello\n"
              "                                                            Req'd  Req'd   Elap\n"
              "Job ID          Username Queue    Jobname    SessID NDS TSK Memory Time  S Time\n"
              "--------------- -------- -------- ---------- ------ --- --- ------ ----- - -----\n"
              "12.srv.site.org bob      workq    a_name_of*   4321   1   2 1024mb 01:00 R 00:10\n"
              "13.srv          eve      a_long_* STDIN         --   --  --    --    --  Q   -- \n");
}

TEST(AlternateJobsText, AddsHostsAndComments) {
    Objects jobs = sample_jobs();
    QstatOptions options;
    options.nodes = true;
    options.comments = true;
    QstatHeading heading;
    heading.shown = false;
    EXPECT_EQ(alternate_jobs_text(jobs.get(), heading, options, 0),
              "12.srv.site.org bob      workq    a_name_of*   4321   1   2 1024mb 01:00 R 00:10\n"
              "   n1/0*2\n"
              "   Job run at Sat\n"
              "13.srv          eve      a_long_* STDIN         --   --  --    --    --  Q   -- \n"
              "    -- \n"
              "    -- \n");
    options.comments = false;
    options.one_line = true;
    EXPECT_THAT(alternate_jobs_text(jobs.get(), heading, options, 0), HasSubstr("R 00:10 n1/0*2\n"));
    // if comments are requested, each comment has its own line, even with one_line
    options.comments = true;
    EXPECT_THAT(alternate_jobs_text(jobs.get(), heading, options, 0),
                HasSubstr("R 00:10 n1/0*2\n   Job run at Sat\n"));
}

TEST(QueuesText, CountsJobs) {
    Objects queues;
    queues.add("workq",
               {{"queue_type", "", "Execution"},
                {"total_jobs", "", "123456"},
                {"state_count", "", "Transit:0 Queued:3 Held:1 Waiting:0 Running:2 Exiting:0 Begun:0 "},
                {"enabled", "", "True"},
                {"started", "", "False"},
                {"max_running", "", "7"}});
    EXPECT_EQ(queues_text(queues.get(), true),
              "Queue              Max   Tot Ena Str   Que   Run   Hld   Wat   Trn   Ext Type\n"
              "---------------- ----- ----- --- --- ----- ----- ----- ----- ----- ----- ----\n"
              "workq                7 1234* yes  no     3     2     1     0     0     0 Exe*\n");
    EXPECT_EQ(queue_limits_text(queues.get(), "srv", {}),
              "\nserver: srv\n\n"
              "Queue            Memory CPU Time Walltime Node   Run   Que   Lm  State\n"
              "---------------- ------ -------- -------- ---- ----- ----- ----  -----\n"
              "workq              --      --       --     --      2     4    7   E S\n"
              "                                               ----- -----\n"
              "                                                   2     4\n");
}

TEST(ServersText, CountsJobs) {
    Objects servers;
    servers.add("srv",
                {{"server_state", "", "Active"}, {"total_jobs", "", "3"}, {"state_count", "", "Queued:3 "}});
    EXPECT_EQ(servers_text(servers.get(), true),
              "Server             Max   Tot   Que   Run   Hld   Wat   Trn   Ext Status\n"
              "---------------- ----- ----- ----- ----- ----- ----- ----- ----- -----------\n"
              "srv                  0     3     3     0     0     0     0     0 Active    \n");
}

TEST(FullText, BreaksLongValues) {
    Objects jobs;
    jobs.add("12.srv", {{"Job_Name", "", "x"},
                        {"Resource_List", "ncpus", "2"},
                        {"Variable_List", "",
                         "PBS_O_HOME=/home/bob,PBS_O_LANG=en_US.UTF-8,PBS_O_LOGNAME=bob,"
                         "PBS_O_PATH=/usr/bin"}});
    EXPECT_EQ(full_text(jobs.get(), "Job Id", {}),
              "Job Id: 12.srv\n"
              "    Job_Name = x\n"
              "    Resource_List.ncpus = 2\n"
              "    Variable_List = PBS_O_HOME=/home/bob,PBS_O_LANG=en_US.UTF-8,\n"
              "\tPBS_O_LOGNAME=bob,PBS_O_PATH=/usr/bin\n\n");
}

TEST(FullText, BreaksValuesWithoutCommasAtTheLineEnd) {
    Objects jobs;
    jobs.add("12.srv", {{"comment", "", std::string(100, 'x')}});
    EXPECT_EQ(full_text(jobs.get(), "Job Id", {}), "Job Id: 12.srv\n    comment = " + std::string(65, 'x') +
                                                       "\n\t" + std::string(35, 'x') + "\n\n");
    QstatOptions wide;
    wide.wide = true;
    EXPECT_THAT(full_text(jobs.get(), "Job Id", wide), HasSubstr(std::string(100, 'x')));
}

TEST(FullText, ShowsArgumentsAsTheyWereGiven) {
    Objects jobs;
    jobs.add("12.srv", {{ATTR_submit_arguments, "",
                         "<jsdl-hpcpa:Argument>-M</jsdl-hpcpa:Argument>"
                         "<jsdl-hpcpa:Argument>&lt;a&gt; &quot;b&quot; &amp;lt;</jsdl-hpcpa:Argument>"}});
    EXPECT_EQ(full_text(jobs.get(), "Job Id", {}),
              "Job Id: 12.srv\n    Submit_arguments = -M <a> \"b\" &lt;\n\n");
}

TEST(FullText, DelimitsAndEscapes) {
    Objects jobs;
    jobs.add("12.srv", {{"comment", "", "a|b\\c"}, {"Resource_List", "ncpus", "2"}});
    QstatOptions options;
    options.format = ListFormat::dsv;
    EXPECT_EQ(full_text(jobs.get(), "Job Id", options),
              "Job Id: 12.srv|comment=a\\|b\\\\c|Resource_List.ncpus=2\n");
}

TEST(FullText, LeavesABackslashThatEscapesAsItIs) {
    Objects jobs;
    jobs.add("12.srv", {{"Variable_List", "", "A=x\\,y,B=\\z"}});
    QstatOptions options;
    options.format = ListFormat::dsv;
    EXPECT_EQ(full_text(jobs.get(), "Job Id", options), "Job Id: 12.srv|Variable_List=A=x\\,y,B=\\\\z\n");
    options.delimiter = ",";
    EXPECT_EQ(full_text(jobs.get(), "Job Id", options), "Job Id: 12.srv,Variable_List=A=x\\\\,y\\,B=\\\\z\n");
}

TEST(JsonReport, ShowsNumbersThatTellAllOfTheTextAndNamesAsTheyAre) {
    Objects jobs;
    jobs.add("12.srv", {{"Job_Name", "", "7"},
                        {"Account_Name", "", "8"},
                        {"project", "", "9"},
                        {"Resource_List", "rate", "1.5"},
                        {"Resource_List", "version", "1.2.3"},
                        {"Variable_List", "", "A=1,B=007,C=-2.5e3,D=,E=5x,F=1 ,G=-2.5"}});
    JsonReport report("srv", "23.06", 5);
    report.add("Jobs", "srv", jobs.get());
    const auto job = nlohmann::json::parse(report.text())["Jobs"]["12.srv"];
    EXPECT_EQ(job["Job_Name"], "7");
    EXPECT_EQ(job["Account_Name"], "8");
    EXPECT_EQ(job["project"], "9");
    EXPECT_EQ(job["Resource_List"]["rate"], 1.5);
    EXPECT_EQ(job["Resource_List"]["version"], "1.2.3");
    EXPECT_EQ(job["Variable_List"]["A"], 1);
    EXPECT_EQ(job["Variable_List"]["B"], "007");
    EXPECT_EQ(job["Variable_List"]["C"], "-2.5e3");
    EXPECT_EQ(job["Variable_List"]["D"], "");
    EXPECT_EQ(job["Variable_List"]["E"], "5x");
    EXPECT_EQ(job["Variable_List"]["F"], "1 ");
    EXPECT_EQ(job["Variable_List"]["G"], -2.5);
}

TEST(JsonReport, NestsResourcesAndVariables) {
    Objects jobs;
    jobs.add("12.srv", {{"Job_Name", "", "007"},
                        {"Priority", "", "-5"},
                        {"Resource_List", "ncpus", "2"},
                        {"Resource_List", "select", "1:ncpus=2"},
                        {"Variable_List", "", "A=1,B=x\\,y,C=a=b,D=it\\'s \\\"\\\\,E=\\n"}});
    JsonReport report("srv", "23.06", 5);
    report.add("Jobs", "srv", jobs.get());
    const auto json = nlohmann::json::parse(report.text());
    EXPECT_EQ(json["timestamp"], 5);
    EXPECT_EQ(json["pbs_server"], "srv");
    const auto& job = json["Jobs"]["12.srv"];
    EXPECT_EQ(job["Job_Name"], "007");
    EXPECT_EQ(job["Priority"], -5);
    EXPECT_EQ(job["Resource_List"]["ncpus"], 2);
    EXPECT_EQ(job["Variable_List"]["B"], "x,y");
    EXPECT_EQ(job["Variable_List"]["C"], "a=b");
    EXPECT_EQ(job["Variable_List"]["D"], "it's \"\\");
    EXPECT_EQ(job["Variable_List"]["E"], "\\n");
}

nlohmann::json object_of(const std::vector<Objects::Attribute>& attributes) {
    Objects objects;
    objects.add("x", attributes);
    JsonReport report("srv", "23.06", 5);
    report.add("Queue", "srv", objects.get());
    return nlohmann::json::parse(report.text())["Queue"]["x"];
}

TEST(JsonReport, HasAllLimitsOfAnAttributeInOneText) {
    const auto queue = object_of({{"max_queued", "", "[u:ann=5]"},
                                  {"max_queued", "", "[u:PBS_GENERIC=2]"},
                                  {"max_queued", "", "[g:phys, x=9]"},
                                  {"max_queued_res", "ncpus", "[u:ann=5]"},
                                  {"max_queued_res", "mem", "[o:PBS_ALL=1gb]"},
                                  {"max_queued_res", "ncpus", "[g:phys=9]"},
                                  {"max_run", "", "[o:PBS_ALL=3]"}});
    EXPECT_EQ(queue["max_queued"], "[u:ann=5],[u:PBS_GENERIC=2],[g:phys, x=9]");
    EXPECT_EQ(queue["max_queued_res"],
              (nlohmann::json{{"ncpus", "[u:ann=5],[g:phys=9]"}, {"mem", "[o:PBS_ALL=1gb]"}}));
    EXPECT_EQ(queue["max_run"], "[o:PBS_ALL=3]");
}

TEST(JsonReport, HasSeveralValuesOfOneNameAsAnArray) {
    const auto object = object_of({{"Variable_List", "", "A=1,B=x,A=two,A="},
                                   {"depend", "", "afterok:1.srv"},
                                   {"depend", "", "afterany:2.srv"},
                                   {"depend", "", "afterany:3.srv"},
                                   {"Job_Name", "", "7"},
                                   {"Job_Name", "", "8"},
                                   {"acl_users", "", "ann"},
                                   {"acl_users", "", "[u:ann=5]"},
                                   {"resources_default", "ncpus", "1"},
                                   {"resources_default", "ncpus", "2"}});
    EXPECT_EQ(object["Variable_List"], (nlohmann::json{{"A", {1, "two", ""}}, {"B", "x"}}));
    EXPECT_EQ(object["depend"], (nlohmann::json{"afterok:1.srv", "afterany:2.srv", "afterany:3.srv"}));
    EXPECT_EQ(object["Job_Name"], (nlohmann::json{"7", "8"}));
    EXPECT_EQ(object["acl_users"], (nlohmann::json{"ann", "[u:ann=5]"}));
    EXPECT_EQ(object["resources_default"]["ncpus"], (nlohmann::json{1, 2}));
}

TEST(JsonReport, KeepsAnAttributeWithAndWithoutResources) {
    EXPECT_EQ(object_of({{"a", "", "1"}, {"a", "r", "2"}}), (nlohmann::json{{"a", 1}, {"a.r", 2}}));
    EXPECT_EQ(object_of({{"a", "r", "2"}, {"a", "", "1"}})["a"],
              (nlohmann::json::array({nlohmann::json{{"r", 2}}, 1})));
}

TEST(JsonReport, KeepsObjectsOfOneNameOnTwoServers) {
    Objects here;
    here.add("workq", {{"Priority", "", "1"}});
    Objects there;
    there.add("workq", {{"Priority", "", "2"}});
    JsonReport report("srv", "", 5);
    report.add("Queue", "srv", here.get());
    report.add("Queue", "other", there.get());
    report.add("Queue", "srv", here.get());
    EXPECT_EQ(nlohmann::json::parse(report.text())["Queue"],
              (nlohmann::json{{"workq", {{"Priority", 1}}}, {"workq@other", {{"Priority", 2}}}}));
}

TEST(JsonReport, SurvivesOddInput) {
    EXPECT_EQ(object_of({{"b", "", "\xff\xfe"}, {"c", "", "1"}})["c"], 1);
}

TEST(SizeText, FitsSixColumns) {
    EXPECT_EQ(size_text("512mb", {}), "512mb");
    EXPECT_EQ(size_text("1048576kb", {}), "1024mb");
    EXPECT_EQ(size_text("10000b", {}), "10kb");
    EXPECT_EQ(size_text("1024", {}), "1024b");
    QstatOptions giga;
    giga.gigabytes = true;
    EXPECT_EQ(size_text("1536mb", giga), "2gb");
    EXPECT_EQ(size_text("2tb", giga), "2048gb");
    QstatOptions words;
    words.megawords = true;
    EXPECT_EQ(size_text("64mb", words), "8mw");
    EXPECT_EQ(size_text("junk", {}), "junk");
}

}  // namespace
}  // namespace pbs::cmds
