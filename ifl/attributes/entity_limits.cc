#include "ifl/attributes/entity_limits.h"

#include <algorithm>

#include "values/text.h"

namespace pbs::ifl {
namespace {

class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) {}

    tl::expected<std::vector<EntityLimit>, EntityLimitError> parse() {
        std::vector<EntityLimit> limits;
        do {
            EntityLimit limit;
            if (!parse_one(limit)) return tl::unexpected(error_);
            limits.push_back(std::move(limit));
            skip_blanks();
        } while (skip(','));
        if (at_ < text_.size()) {
            fail("a comma and another limit, or the end");
            return tl::unexpected(error_);
        }
        return limits;
    }

  private:
    bool fail(std::string_view expected) { return fail_at(at_, expected); }
    bool fail_at(std::size_t at, std::string_view expected) {
        error_ = {at, std::string(expected)};
        return false;
    }
    bool is_at(char c) const { return at_ < text_.size() && text_[at_] == c; }
    bool skip(char c) {
        if (!is_at(c)) return false;
        ++at_;
        return true;
    }
    void skip_blanks() {
        while (at_ < text_.size() && values::is_space(text_[at_])) ++at_;
    }

    bool parse_one(EntityLimit& limit) {
        skip_blanks();
        if (!skip('[')) return fail("[");
        skip_blanks();
        if (at_ == text_.size() || std::string_view("ugpo").find(text_[at_]) == std::string_view::npos)
            return fail("u, g, p or o");
        limit.kind = text_[at_++];
        if (!skip(':')) return fail("a colon");
        return parse_name(limit) && parse_most(limit);
    }

    bool parse_name(EntityLimit& limit) {
        const std::size_t begin = at_;
        if (is_at('"') || is_at('\'')) {
            const char quote = text_[at_++];
            const auto end = text_.find(quote, at_);
            if (end == std::string_view::npos) return fail("a quote at the end of the name");
            limit.name = text_.substr(at_, end - at_);
            at_ = end + 1;
        } else {
            while (at_ < text_.size() && text_[at_] != '=' && text_[at_] != ']' && text_[at_] != ',' &&
                   !values::is_space(text_[at_]))
                ++at_;
            limit.name = text_.substr(begin, at_ - begin);
        }
        if (limit.name.empty()) return fail_at(begin, "a name");
        const bool all = limit.name == kAllEntity;
        if (limit.kind == 'o' && !all) return fail_at(begin, "PBS_ALL, the only name behind o:");
        if (limit.kind != 'o' && all) return fail_at(begin, "a name; PBS_ALL goes behind o:");
        // the characters that OpenPBS refuses, and = and ], which end a name without quotes
        if (limit.name.find_first_of("/[]\";:|<>+,?*='") != std::string::npos)
            return fail_at(begin, "a name without any of / [ ] \" ; : | < > + , ? * = '");
        skip_blanks();
        return true;
    }

    bool parse_most(EntityLimit& limit) {
        if (skip(']')) return true;
        if (!skip('=')) return fail("= or ]");
        skip_blanks();
        if (is_at('-')) return fail("a limit that isn't negative");
        const std::size_t begin = at_;
        while (at_ < text_.size() && text_[at_] != ']' && text_[at_] != ',' && !values::is_space(text_[at_]))
            ++at_;
        if (at_ == begin) return fail("a limit");
        limit.most = text_.substr(begin, at_ - begin);
        skip_blanks();
        return skip(']') || fail("]");
    }

    std::string_view text_;
    std::size_t at_ = 0;
    EntityLimitError error_;
};

}  // namespace

tl::expected<std::vector<EntityLimit>, EntityLimitError> parse_entity_limits(std::string_view text) {
    return Parser(text).parse();
}

std::string entity_limit_text(const EntityLimit& limit) {
    const bool quoted = std::ranges::any_of(limit.name, values::is_space);
    std::string text = {'[', limit.kind, ':'};
    if (quoted) text += '"';
    text += limit.name;
    if (quoted) text += '"';
    if (limit.most) text += '=' + *limit.most;
    return text + ']';
}

std::string entity_limits_text(const std::vector<EntityLimit>& limits) {
    std::string text;
    for (const EntityLimit& limit : limits) text += (text.empty() ? "" : ",") + entity_limit_text(limit);
    return text;
}

}  // namespace pbs::ifl
