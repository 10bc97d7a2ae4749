// The tables of a document in Markdown. A marked table stands between two comments:
//
//     <!-- table: NAME -->
//     | | first column | second column |
//     |---|---|---|
//     | label | 3 ms | 4 ms |
//     <!-- end -->
//
// The document has the layout and the labels; only cells are rewritten.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace pbs::bench {

struct TableText {
    struct Row {
        std::string label;               // the first cell, without the addresses of links
        std::vector<std::string> cells;  // the others
        std::size_t line = 0;            // from 0 on
    };

    std::string name;                    // empty: no marker
    std::string before;                  // the paragraph before the table, or before its marker
    std::vector<std::string> columns{};  // without the first one
    std::vector<Row> rows{};
    std::size_t line = 0;  // of the head, from 0 on
};

class Document {
  public:
    // Finds the tables of a text. The error says in which line a marker or a row is wrong.
    static tl::expected<Document, std::string> parse(std::string_view text);

    const std::vector<TableText>& tables() const { return tables_; }
    // Returns the table with this name; nullptr: there is none.
    const TableText* find(std::string_view name) const;

    // Writes a cell of a marked table: the row has this label, and columns are counted from 0 on. There have
    // to be such a row and column.
    void set(std::string_view table, std::string_view label, std::size_t column, std::string text);

    std::string text() const;

  private:
    std::vector<std::string> lines_;
    std::vector<TableText> tables_;
};

}  // namespace pbs::bench
