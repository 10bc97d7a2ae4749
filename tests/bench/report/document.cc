#include "tests/bench/report/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

namespace pbs::bench {
namespace {

constexpr std::string_view kTable = "<!-- table: ";
constexpr std::string_view kEnd = "<!-- end -->";
constexpr std::string_view kClose = " -->";

std::string trim(std::string_view text) {
    const auto first = text.find_first_not_of(' ');
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

bool is_row(std::string_view line) {
    return line.starts_with('|');
}

// Returns the cells of a line "| a | b |".
std::vector<std::string> cells_of(std::string_view line) {
    std::vector<std::string> cells;
    for (std::size_t at = 1; at < line.size();) {
        const std::size_t end = std::min(line.find('|', at), line.size());
        cells.push_back(trim(line.substr(at, end - at)));
        at = end + 1;
    }
    return cells;
}

std::string line_of(std::string_view first, const std::vector<std::string>& cells) {
    std::string line = first.empty() ? "|" : fmt::format("| {}", first);
    for (const std::string& cell : cells) line += cell.empty() ? " |" : fmt::format(" | {}", cell);
    return line + " |";
}

// Returns the text of a label: "[a cycle](#cycles)" is "a cycle".
std::string without_links(const std::string& label) {
    static const std::regex link(R"(\[([^\]]*)\]\([^)]*\))");
    return std::regex_replace(label, link, "$1");
}

class Parser {
  public:
    explicit Parser(const std::vector<std::string>& lines) : lines_(lines) {}

    tl::expected<std::vector<TableText>, std::string> run() {
        for (at_ = 0; at_ < lines_.size(); ++at_)
            if (auto done = line(lines_[at_]); !done) return tl::unexpected(done.error());
        if (!name_.empty()) return wrong(marked_, fmt::format("the table {} has no {}", name_, kEnd));
        return std::move(tables_);
    }

  private:
    static tl::unexpected<std::string> wrong(std::size_t line, std::string_view why) {
        return tl::unexpected(fmt::format("line {}: {}", line + 1, why));
    }

    tl::expected<void, std::string> line(const std::string& text) {
        if (text.starts_with(kTable)) return marker(text);
        if (text == kEnd) return end();
        if (is_row(text)) return table();
        if (text.empty()) {
            over_ = true;
        } else {
            if (over_) paragraph_.clear();
            over_ = false;
            paragraph_ += text + "\n";
        }
        return {};
    }

    tl::expected<void, std::string> marker(const std::string& text) {
        if (!name_.empty()) return wrong(at_, fmt::format("the table {} has no {}", name_, kEnd));
        if (!text.ends_with(kClose)) return wrong(at_, "a marker ends with -->");
        name_ = text.substr(kTable.size(), text.size() - kTable.size() - kClose.size());
        marked_ = at_;
        const auto same = [&](const TableText& one) { return one.name == name_; };
        if (name_.empty() || std::ranges::any_of(tables_, same))
            return wrong(at_, fmt::format("a second table {}", name_));
        return {};
    }

    tl::expected<void, std::string> end() {
        if (name_.empty()) return wrong(at_, fmt::format("{} without a table's marker", kEnd));
        if (tables_.empty() || tables_.back().name != name_)
            return wrong(at_, fmt::format("no table behind the marker {}", name_));
        name_.clear();
        return {};
    }

    tl::expected<void, std::string> table() {
        TableText table{.name = name_, .before = paragraph_, .line = at_};
        table.columns = cells_of(lines_[at_]);
        const std::size_t width = table.columns.size();
        if (width == 0) return wrong(at_, "the head of a table has no cells");
        table.columns.erase(table.columns.begin());
        ++at_;
        if (at_ == lines_.size() || !lines_[at_].starts_with("|---"))
            return wrong(at_, "a line |---| is missing behind the head of a table");
        for (; at_ + 1 < lines_.size() && is_row(lines_[at_ + 1]);) {
            ++at_;
            std::vector<std::string> cells = cells_of(lines_[at_]);
            if (cells.size() != width)
                return wrong(at_, fmt::format("{} cells, but the table has {}", cells.size(), width));
            const std::string label = without_links(cells.front());
            if (!name_.empty() &&
                std::ranges::find(table.rows, label, &TableText::Row::label) != table.rows.end())
                return wrong(at_, fmt::format("a second row {} in the table {}", label, name_));
            table.rows.push_back({label, {cells.begin() + 1, cells.end()}, at_});
        }
        if (!name_.empty() && !tables_.empty() && tables_.back().name == name_)
            return wrong(at_, fmt::format("two tables behind the marker {}", name_));
        tables_.push_back(std::move(table));
        return {};
    }

    const std::vector<std::string>& lines_;
    std::vector<TableText> tables_;
    std::size_t at_ = 0;
    std::size_t marked_ = 0;
    std::string name_;       // of the open marker; empty: none
    std::string paragraph_;  // the last one
    bool over_ = false;      // a blank line came after it
};

}  // namespace

tl::expected<Document, std::string> Document::parse(std::string_view text) {
    Document document;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        document.lines_.emplace_back(text.substr(at, end - at));
        at = end + 1;
    }
    auto tables = Parser(document.lines_).run();
    if (!tables) return tl::unexpected(tables.error());
    document.tables_ = std::move(*tables);
    return document;
}

const TableText* Document::find(std::string_view name) const {
    const auto found = std::ranges::find(tables_, name, &TableText::name);
    return found == tables_.end() ? nullptr : &*found;
}

void Document::set(std::string_view table, std::string_view label, std::size_t column, std::string text) {
    const auto found = std::ranges::find(tables_, table, &TableText::name);
    const auto row = std::ranges::find(found->rows, label, &TableText::Row::label);
    row->cells[column] = std::move(text);
    std::string& line = lines_[row->line];
    line = line_of(cells_of(line).front(), row->cells);
}

std::string Document::text() const {
    return fmt::format("{}", fmt::join(lines_, "\n"));
}

}  // namespace pbs::bench
