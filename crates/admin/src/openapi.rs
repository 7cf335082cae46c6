//! The OpenAPI document, made from the table of routes.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::admin::API;
use crate::problem::{Details, PROBLEM};
use crate::route::{Route, Takes, Who};

/// The document for these routes.
pub(crate) fn document(routes: &[Route], version: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = SchemaGenerator::new(settings);
    let problem = generator.subschema_for::<Details>();
    let mut paths: Map<String, Value> = Map::new();
    for route in routes {
        let operation = operation(route, &mut generator);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Value::Object(path) = path {
            path.insert(route.method.as_str().to_ascii_lowercase(), operation);
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Toolgate admin API",
            "version": version,
            "description": "What the admin page uses. A login is a cookie; every change needs `X-CSRF-Token` besides.",
        },
        "servers": [{"url": API}],
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "login": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": "toolgate-3000",
                    "description": "The cookie that `POST /session` sets. Its name ends in the port, and is `__Host-toolgate` over TLS.",
                },
                "csrf": {"type": "apiKey", "in": "header", "name": "X-CSRF-Token"},
            },
            "responses": {
                "Problem": {
                    "description": "What went wrong.",
                    "content": {PROBLEM: {"schema": problem}},
                },
            },
        },
    })
}

fn operation(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.summary,
        "tags": [route.path.split('/').nth(1).unwrap_or_default()],
        "responses": responses(route, generator),
        "security": security(route),
    });
    let mut parameters = path_parameters(route);
    if let Takes::Query(schema) = route.takes {
        parameters.extend(query_parameters(schema(generator).to_value(), generator));
    }
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    if let Takes::Body(schema) = route.takes {
        let schema = schema(generator);
        operation["requestBody"] =
            json!({"required": true, "content": {"application/json": {"schema": schema}}});
    }
    if let Who::AtLeast(role) = route.who {
        operation["x-role"] = role.as_str().into();
    }
    operation
}

/// `POST /approvals/{id}/approve` becomes `post_approvals_id_approve`.
fn operation_id(route: &Route) -> String {
    let path: String = route.path.chars().filter(|char| !"{}".contains(*char)).collect();
    let words = path.split(|char: char| !char.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut id = route.method.as_str().to_ascii_lowercase();
    words.for_each(|word| id = format!("{id}_{word}"));
    id
}

fn security(route: &Route) -> Value {
    match (route.who, route.is_safe()) {
        (Who::Anyone, true) => json!([]),
        (Who::Anyone, false) => json!([{"csrf": []}]),
        (Who::AtLeast(_), true) => json!([{"login": []}]),
        (Who::AtLeast(_), false) => json!([{"login": [], "csrf": []}]),
    }
}

fn responses(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let answers = route.answers;
    let mut good = json!({"description": answers.says});
    if let Some(content_type) = answers.content_type {
        let content = match answers.schema {
            Some(schema) => json!({"schema": schema(generator)}),
            None => json!({}),
        };
        good["content"] = json!({content_type: content});
    }
    let mut all = Map::new();
    all.insert(answers.status.to_string(), good);
    all.insert("default".into(), json!({"$ref": "#/components/responses/Problem"}));
    Value::Object(all)
}

fn path_parameters(route: &Route) -> Vec<Value> {
    let names = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let parameter = |name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string", "minLength": 1}});
    names.map(parameter).collect()
}

/// The properties of a query's object, each a parameter.
fn query_parameters(schema: Value, generator: &SchemaGenerator) -> Vec<Value> {
    let name = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    let schema = name.and_then(|name| generator.definitions().get(name).cloned()).unwrap_or(schema);
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let parameter = |(name, mut schema): (String, Value)| {
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        json!({"name": name, "in": "query", "description": description, "schema": schema})
    };
    properties.into_iter().map(parameter).collect()
}
