// Writes metrics in the "text-based format", version 0.0.4, of Prometheus (prometheus.io, Exposition
// formats).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pbs::web {

/// Names and values of labels. A value may be any text.
using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

class Exposition {
  public:
    /// Begins a metric, whose samples must follow. The name follows Prometheus's conventions: with the unit,
    /// and with _total for a counter.
    void begin(std::string_view name, std::string_view type, std::string_view help);
    void sample(std::string_view value, const Labels& labels = {});
    void sample(double value, const Labels& labels = {});
    /// Adds a sample of a histogram. `counted` is "COUNT SUM N N N", and `bounds` has the upper bounds of the
    /// Ns, as pbs_statdiagnosis() returns them. False: one of the texts has another form, and nothing is
    /// written.
    bool histogram(std::string_view counted, std::string_view bounds, const Labels& labels = {});
    const std::string& text() const { return text_; }

  private:
    void line(std::string_view suffix, const Labels& labels, std::string_view value);

    std::string name_;
    std::string text_;
};

}  // namespace pbs::web
