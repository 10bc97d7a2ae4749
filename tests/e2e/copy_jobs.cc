#include "tests/e2e/copy_jobs.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace pbs::e2e {

::testing::AssertionResult copy_jobs(const Server& server, int64_t of_each) {
    const std::string path = server.home() / "server_priv/server.db";
    sqlite3* db = nullptr;
    if (sqlite3_open(path.c_str(), &db) != SQLITE_OK) return ::testing::AssertionFailure() << path;
    const std::string commands = fmt::format(
        R"sql(
PRAGMA foreign_keys = OFF;
BEGIN;
CREATE TEMP TABLE copy AS WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k + 1 < {0})
  SELECT k * (SELECT count(*) FROM job) AS more FROM n WHERE k < {0};
CREATE TEMP TABLE more_jobs AS SELECT job.*, more FROM job, copy;
UPDATE more_jobs SET sequence = sequence + more, queue_rank = queue_rank + more;
ALTER TABLE more_jobs DROP COLUMN more;
INSERT INTO job_script SELECT sequence + more, script FROM job_script, copy;
INSERT INTO job SELECT * FROM more_jobs;
UPDATE counter SET value = 1 + (SELECT max(sequence) FROM job);
COMMIT;)sql",
        of_each);
    char* error = nullptr;
    const int code = sqlite3_exec(db, commands.c_str(), nullptr, nullptr, &error);
    auto result = code == SQLITE_OK ? ::testing::AssertionSuccess()
                                    : ::testing::AssertionFailure() << path << ": " << error;
    sqlite3_free(error);
    sqlite3_close(db);
    return result;
}

}  // namespace pbs::e2e
