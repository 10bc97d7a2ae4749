// Checks JSON against the schemas of tools/web/openapi.json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace pbs::web {

class Schemas {
  public:
    /// `openapi` is the document with all schemas.
    explicit Schemas(nlohmann::json openapi) : document_(std::move(openapi)) {}

    /// Returns the errors of `json` against a schema, a line each, such as "/jobs/0/id: expected string, is
    /// 5". A keyword of the schema that this class doesn't know is an error, too, so that nothing goes
    /// unchecked.
    std::vector<std::string> errors(const nlohmann::json& json, const std::string& schema) const;
    /// Returns the names of the schemas of the answers at an address.
    std::vector<std::string> of_path(const std::string& path) const;

    const nlohmann::json& document() const { return document_; }

  private:
    nlohmann::json document_;
};

}  // namespace pbs::web
