// JSON held against the schemas of tools/web/openapi.json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace pbs::web {

class Schemas {
  public:
    /// `openapi` is the document with all schemas.
    explicit Schemas(nlohmann::json openapi) : document_(std::move(openapi)) {}

    /// What of `json` isn't as the schema says, a line each: "/jobs/0/id: expected string, is 5". A keyword
    /// of the schema that isn't known here is an error, too: nothing goes unchecked.
    std::vector<std::string> errors(const nlohmann::json& json, const std::string& schema) const;
    /// The name of the schemas that an address answers with.
    std::vector<std::string> of_path(const std::string& path) const;

    const nlohmann::json& document() const { return document_; }

  private:
    nlohmann::json document_;
};

}  // namespace pbs::web
