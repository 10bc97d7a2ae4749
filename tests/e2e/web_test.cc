// Tests pbs_web with a running server: every page and its JSON, who may see what, and the pages in a browser.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <httplib.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "ifl/pbs_ifl.h"
#include "tests/e2e/harness.h"
#include "tests/e2e/web_program.h"
#include "tests/web/schema.h"

namespace pbs::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

// Name of a job. qsub refuses it, but the server accepts it from other programs.
constexpr const char* kScript = "<script>document.title='taken'<b>";

class Web : public ::testing::Test {
  protected:
    void SetUp() override {
        std::ifstream in(PBS_SOURCE_DIR "/tools/web/openapi.json");
        schemas_ = std::make_unique<web::Schemas>(json::parse(in));
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure(
            {"create queue workq queue_type=execution, enabled=True, started=True",
             "set server default_queue=workq", "set server acl_roots += root@*",
             "set server job_history_enable=True", "create node n1 resources_available.ncpus=8",
             "create time_window office rrule=\"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR\"",
             "set time_window office start_time=0800, end_time=1700, type=prime, applies_on_holidays=False",
             "set server non_work_days = \"11/26 SUMMARY:<i>Thanksgiving</i>\"",
             "create policy nights algorithm=standard", "set policy default_policy algorithm=standard",
             "create fs_group g tree_element=physics:root=60",
             "set policy nights fairshare_group=g, fairshare=True",
             "set sched default policy = \"default_policy,np:nights\""}));
    }
    // Submits a job named kScript that can't start at once. Returns its id.
    std::string submit_script() const {
        setenv("PBS_HOME", server.home().c_str(), 1);
        const int connection = pbs_connect(nullptr);
        EXPECT_GE(connection, 0);
        const std::string file = (server.work() / "job.sh").string();
        std::ofstream(file) << "sleep 1\n";
        std::string name = kScript;
        std::string ncpus = "64";
        attropl asked{nullptr, const_cast<char*>(ATTR_l), const_cast<char*>("ncpus"), ncpus.data(), SET};
        attropl named{&asked, const_cast<char*>(ATTR_N), nullptr, name.data(), SET};
        char* id = pbs_submit(connection, &named, file.c_str(), nullptr, nullptr);
        EXPECT_NE(nullptr, id) << (pbs_geterrmsg(connection) == nullptr ? "" : pbs_geterrmsg(connection));
        std::string out = id == nullptr ? "" : id;
        free(id);
        pbs_disconnect(connection);
        return out;
    }
    // Gets an address from pbs_web, and checks that the JSON has the form that openapi.json calls `schema`.
    // Returns the JSON.
    json get(const WebProgram& web, const std::string& address, const std::string& schema,
             int status = 200) const {
        const auto answer = httplib::Client("127.0.0.1", web.port()).Get(address);
        if (!answer) {
            ADD_FAILURE() << address << ": no answer";
            return {};
        }
        EXPECT_EQ(status, answer->status) << address << ": " << answer->body;
        json told = json::parse(answer->body, nullptr, false);
        EXPECT_THAT(schemas_->errors(told, schema), IsEmpty()) << address << ": " << answer->body;
        return told;
    }

    Server server;
    std::unique_ptr<web::Schemas> schemas_;
};

// pbs_web answers only requests for one of its host names. Otherwise a site could make its own name lead to
// this machine, and its page could read pbs_web's pages in a browser.
TEST_F(Web, AnswersToItsNamesAlone) {
    const WebProgram web(server, {"--host-name", "pbs.example.org", "--host-name", "old"});
    ASSERT_NE(0, web.port());
    httplib::Client client("127.0.0.1", web.port());
    for (const char* name : {"localhost", "127.0.0.1", "pbs.example.org", "PBS.example.org:443", "old"})
        EXPECT_EQ(200, client.Get("/now.json", {{"Host", name}})->status) << name;
    const auto refused = client.Get("/now.json", {{"Host", "evil.example"}});
    EXPECT_EQ(421, refused->status);
    EXPECT_THAT(refused->body, HasSubstr("doesn't answer to the name evil.example"));
    const Output wrong = server.command({"pbs_web", "--host-name", "http://pbs"});
    EXPECT_EQ(wrong.exit, 2);
    EXPECT_EQ(
        wrong.err,
        "pbs_web: bad --host-name 'http://pbs': expected a name such as pbs.example.org, without a port\n");
}

TEST_F(Web, EveryAddressAnswersAsItsSchemaSays) {
    const std::string id = submit_script();
    const WebProgram web(server);
    ASSERT_NE(0, web.port());
    const json now = get(web, "/now.json", "Now");
    EXPECT_EQ("default_policy", now["scheds"][0]["policy"]);
    EXPECT_LE(kMonday10, now["time"].get<std::int64_t>());
    EXPECT_GT(kMonday10 + 3600, now["time"].get<std::int64_t>())
        << "the time is the server's, not this machine's";
    EXPECT_EQ((json{"n1"}), now["vnodes"]["names"]);
    const json jobs = get(web, "/why.json", "Jobs");
    EXPECT_EQ(kScript, jobs["jobs"][0]["name"]);
    const json why = get(web, "/why.json?job=" + id, "Why");
    EXPECT_EQ("waits", why["explanation"]["outcome"]) << why.dump();
    EXPECT_EQ("64", why["job"]["asked"]["ncpus"]);
    get(web, "/why.json?job=99999", "Error", 404);
    get(web, "/when.json", "When");
    get(web, "/when.json?days=32", "Error", 400);
    EXPECT_EQ("<i>Thanksgiving</i>",
              get(web, "/calendar.json?month=2026-11", "Calendar")["days"][25]["name"]);
    get(web, "/calendar.json?month=now", "Error", 400);
    const json shares = get(web, "/shares.json", "Shares")["groups"][0];
    EXPECT_EQ("physics", shares["tree"][0]["name"]);
    ASSERT_EQ(1, shares["usage"].size()) << shares.dump();
    EXPECT_EQ("default", shares["usage"][0]["sched"]);
    EXPECT_EQ("physics", shares["usage"][0]["elements"][1]["name"]);
    EXPECT_EQ(1, shares["usage"][0]["elements"][1]["trend"].size());
    const json history = get(web, "/changes.json", "History");
    const int latest = history["changes"][0]["revision"];
    const int before = history["changes"][0]["change"].get<int>() - 1;
    EXPECT_EQ("sched default", history["changes"][0]["object"]);
    const json difference = get(
        web, "/changes.json?from=" + std::to_string(before) + "&to=" + std::to_string(latest), "Difference");
    EXPECT_EQ("sched default", difference["difference"]["objects"][0]["object"]);
    get(web, "/changes.json?to=3", "Error", 400);
    EXPECT_THAT(get(web, "/changes.json?from=99999", "Error", 400)["error"].get<std::string>(),
                HasSubstr("there is no revision 99999"));
    get(web, "/what-if.json", "WhatIf");
    get(web, "/now.json?x=1", "Error", 400);
}

TEST_F(Web, EveryPathOfTheSchemaIsThere) {
    const WebProgram web(server);
    httplib::Client client("127.0.0.1", web.port());
    for (const auto& [path, ignored] : schemas_->document()["paths"].items()) {
        const auto answer = client.Get(path, {{"Accept", "application/json"}});
        ASSERT_TRUE(answer) << path;
        EXPECT_EQ(path == "/what-if.svg" ? 404 : 200, answer->status) << path;
    }
    std::ifstream in(PBS_SOURCE_DIR "/tools/web/openapi.json");
    EXPECT_EQ(json::parse(in), json::parse(client.Get("/assets/openapi.json")->body));
}

TEST_F(Web, AServerThatIsDownIsSaidToBeAndFoundAgain) {
    const WebProgram web(server);
    get(web, "/now.json", "Now");
    ASSERT_TRUE(server.stop());
    // pbs_web keeps giving its last answer for some seconds.
    EXPECT_TRUE(
        wait_for([&] { return httplib::Client("127.0.0.1", web.port()).Get("/now.json")->status == 502; }));
    get(web, "/why.json?job=1", "Error", 502);
    ASSERT_TRUE(server.start());
    EXPECT_TRUE(
        wait_for([&] { return httplib::Client("127.0.0.1", web.port()).Get("/now.json")->status == 200; }));
}

TEST_F(Web, WhereUsersDontSeeTheJobsOfOthersNeitherDoesAnybodyHere) {
    const auto somebody = other();
    if (!somebody) GTEST_SKIP() << "needs root, to be another user";
    const std::string id = server.submit("sleep 60", {"-h", "-N", "secret"});
    ASSERT_FALSE(id.empty());
    const WebProgram web(server);
    EXPECT_EQ(1, get(web, "/why.json", "Jobs")["jobs"].size());
    ASSERT_TRUE(server.configure({"set server query_other_jobs=False"}));
    const WebProgram later(server);
    // pbs_web runs as root, to whom the server shows everything. Still, it hides what its users may not see.
    EXPECT_EQ(0, get(later, "/why.json", "Jobs")["jobs"].size());
    EXPECT_EQ(0, get(later, "/shares.json", "Shares")["groups"][0]["usage"].size());
    get(later, "/why.json?job=" + id, "Error", 403);
}

TEST_F(Web, WithoutPrivilegesAllButChangesAndAccounting) {
    const auto somebody = other();
    if (!somebody) GTEST_SKIP() << "needs root, to be another user";
    const std::string id = server.submit("sleep 60", {"-h"});
    const WebProgram web(server, {}, somebody);
    get(web, "/now.json", "Now");
    get(web, "/when.json", "When");
    EXPECT_TRUE(get(web, "/why.json?job=" + id, "Why")["explanation"].is_object());
    EXPECT_THAT(get(web, "/changes.json", "Error", 403)["error"].get<std::string>(), HasSubstr("PRIVILEGES"));
    get(web, "/changes.json?from=0", "Error", 403);
    EXPECT_THAT(get(web, "/what-if.json", "WhatIf")["months_error"].get<std::string>(),
                HasSubstr("PRIVILEGES"));
}

TEST_F(Web, ComparesPoliciesOnTheAccountingOfAMonth) {
    const std::string job = server.submit("true");
    ASSERT_TRUE(server.wait_job_state(job, "F"));
    const WebProgram web(server);
    httplib::Client client("127.0.0.1", web.port());
    EXPECT_EQ((json{"2026-11"}), get(web, "/what-if.json", "WhatIf")["months"]);
    const std::string wanted = R"({"month":"2026-11","first":"default_policy","second":"nights"})";
    EXPECT_EQ(403, client.Post("/what-if", wanted, "text/plain")->status);
    EXPECT_EQ(
        403, client.Post("/what-if", {{"Sec-Fetch-Site", "cross-site"}}, wanted, "application/json")->status);
    EXPECT_EQ(400, client
                       .Post("/what-if", R"({"month":"2026-11","first":"/etc/passwd","second":"nights"})",
                             "application/json")
                       ->status);
    ASSERT_EQ(202, client.Post("/what-if", wanted, "application/json")->status);
    json told;
    ASSERT_TRUE(wait_for(
        [&] {
            told = get(web, "/what-if.json", "WhatIf")["comparison"];
            return told.is_object() && told["state"] != "running";
        },
        std::chrono::seconds(60)));
    ASSERT_EQ("done", told["state"]) << told.dump();
    EXPECT_EQ(1, told["report"]["jobs"]);
    EXPECT_EQ(2, told["report"]["simulations"].size());
    EXPECT_THAT(client.Get("/what-if.svg")->body, HasSubstr("</svg>"));
}

// Every page loads in the browser without errors, has content, and shows names as text, not as markup.
TEST_F(Web, PagesInABrowser) {
    if (const std::string why = Browser::missing(); !why.empty()) GTEST_SKIP() << why;
    const std::string id = submit_script();
    const WebProgram web(server, {"--base-path", "/pbs"});
    ASSERT_THAT(web.address(), testing::EndsWith("/pbs"));
    Browser browser;
    for (const char* page : {"now", "why", "when", "calendar", "calendar?week=2026-11-30", "shares",
                             "changes", "changes?from=0", "what-if"}) {
        browser.open(web.address() + "/" + page);
        EXPECT_TRUE(
            browser.wait("return document.getElementById('pulse').dataset.state === 'live' && "
                         "document.getElementById('page').innerText.length > 20"))
            << page;
        EXPECT_EQ("", browser.run("return document.getElementById('problem').textContent")) << page;
        EXPECT_THAT(browser.complaints(), IsEmpty()) << page;
        // Pictures and input fields have descriptions for screen readers.
        EXPECT_EQ(0,
                  browser.run(
                      "return [...document.querySelectorAll('canvas, img, input, select, textarea')].filter("
                      "(e) => !e.getAttribute('aria-label') && !e.alt && !e.labels?.length).length"))
            << page;
        EXPECT_EQ(1, browser.run("return document.querySelectorAll('nav [aria-current=page]').length"))
            << page;
    }
    browser.open(web.address() + "/why?job=" + id);
    EXPECT_TRUE(browser.wait(
        "return document.getElementById('facts').innerText.includes(\"<script>document.title='taken'<b>\")"));
    EXPECT_EQ(0, browser.run("return document.querySelectorAll('main script, main b').length"));
    EXPECT_NE("taken", browser.run("return document.title"));
    // Trusted types on the pages forbid scripts to set markup from text, even the pages' own scripts.
    EXPECT_EQ(
        "TypeError",
        browser.run(
            "try { document.body.innerHTML = '<b>x</b>'; return 'done'; } catch (e) { return e.name; }"));
}

TEST_F(Web, APageShowsWhatIsNewByItself) {
    if (const std::string why = Browser::missing(); !why.empty()) GTEST_SKIP() << why;
    const WebProgram web(server);
    Browser browser;
    browser.open(web.address() + "/now");
    EXPECT_TRUE(browser.wait("return document.getElementById('jobs').innerText.includes('workq')"));
    ASSERT_TRUE(server.configure({"create queue express queue_type=execution, enabled=True, started=True"}));
    EXPECT_TRUE(browser.wait("return document.getElementById('jobs').innerText.includes('express')"));
    EXPECT_THAT(browser.complaints(), IsEmpty());
}

}  // namespace
}  // namespace pbs::e2e
