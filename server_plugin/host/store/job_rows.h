// Reads the rows of stored jobs, in the order of their numbers. A thread reads ahead while the server's
// thread makes jobs of the rows, because there may be a million.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "values/mutex.h"

namespace pbs::sqlite {
class Connection;
}

namespace pbs::host {

struct JobRow {
    // The columns that are numbers, in the order of the query.
    enum Number {
        sequence,
        substate,
        queue_rank,
        ctime,
        qtime,
        etime,
        stime,
        mtime,
        obittime,
        at_end,
        deleted,
        comment_mtime,
        numbers
    };
    enum Text { state, queue, exec_vnode, exec_host, defaulted, attributes, comment, texts };
    std::array<int64_t, numbers> number{};
    std::array<std::string_view, texts> text{};
};

class JobRows {
  public:
    // REQUIRES: nobody else uses the connection until all rows are read.
    explicit JobRows(sqlite::Connection& db);
    ~JobRows();  // ends the thread, even before all rows are read
    JobRows(const JobRows&) = delete;
    JobRows& operator=(const JobRows&) = delete;

    // Returns the next rows, valid until the next call. An empty list: there are no more rows, or the
    // database can't be read; in the second case ok() is false.
    const std::vector<JobRow>& next();
    bool ok() {
        const values::Lock lock(mutex_);
        return ok_;
    }

  private:
    struct Rows {
        std::vector<JobRow> rows;
        std::string bytes;  // the rows' texts
    };
    bool read();  // returns false if the database can't be read
    void add(JobRow row);
    bool pass_on();

    sqlite::Connection& db_;
    values::Mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<std::unique_ptr<Rows>> ready_ PBS_GUARDED_BY(mutex_);
    bool over_ PBS_GUARDED_BY(mutex_) = false;  // all rows are in ready_
    bool stop_ PBS_GUARDED_BY(mutex_) = false;
    bool ok_ PBS_GUARDED_BY(mutex_) = true;

    std::unique_ptr<Rows> current_;  // rows that the reading thread adds to
    std::unique_ptr<Rows> given_;    // the rows that next() has returned
    std::thread reader_;
};

}  // namespace pbs::host
