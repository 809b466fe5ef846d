//! What each foreign keyword becomes, and what the report says of it.

use dsh_json::Json;
use dsh_json_schema::{Fate, ImportError, ImportLimits, Imported, Schema};

fn imported(foreign: &str) -> Imported {
    Schema::import(&Json::parse(foreign).unwrap(), &ImportLimits::default()).unwrap()
}

fn rows(imported: &Imported) -> Vec<String> {
    let rows = imported.report().entries().iter();
    rows.map(|entry| {
        let narrows = if entry.narrows() { "!" } else { "" };
        format!("{} {} {}{narrows}: {}", entry.path(), entry.keyword(), entry.fate(), entry.note())
    })
    .collect()
}

fn check(foreign: &str, expected: &str, report: &[&str]) {
    let imported = imported(foreign);
    assert_eq!(imported.schema().json().to_text(), expected, "{foreign}");
    assert_eq!(rows(&imported), report, "{foreign}");
}

#[test]
fn a_schema_of_the_subset_stays_as_it_is() {
    let text = r#"{"type":"object","required":["b"],"properties":{"b":{"oneOf":[{"type":"number"},{"type":"integer"}]}}}"#;
    check(text, text, &[]);
    let imported = imported(text);
    assert!(imported.report().is_exact() && imported.original().is_none() && imported.unchecked().is_none());
    assert_eq!(imported.report().to_string(), "every keyword was kept");
}

#[test]
fn bounds_are_told() {
    check(
        r#"{"type":"integer","description":"Lines","minimum":1,"exclusiveMaximum":10,"multipleOf":2,"format":"int32"}"#,
        r#"{"type":"integer","description":"Lines. At least 1; less than 10; a multiple of 2; format int32."}"#,
        &[
            "schema minimum described: at least 1",
            "schema exclusiveMaximum described: less than 10",
            "schema multipleOf described: a multiple of 2",
            "schema format described: format int32",
        ],
    );
    check(
        r#"{"type":"string","description":"A name.","minLength":1,"maxLength":3,"pattern":"^a+$","deprecated":true}"#,
        r#"{"type":"string","description":"A name. At least 1 character; at most 3 characters; matching the pattern `^a+$`; deprecated."}"#,
        &[
            "schema minLength described: at least 1 character",
            "schema maxLength described: at most 3 characters",
            "schema pattern described: matching the pattern `^a+$`",
            "schema deprecated described: deprecated",
        ],
    );
    check(
        r#"{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":2,"uniqueItems":true}"#,
        r#"{"type":"array","description":"At least 1 item; at most 2 items; no item twice.","items":{"type":"string"}}"#,
        &[
            "schema minItems described: at least 1 item",
            "schema maxItems described: at most 2 items",
            "schema uniqueItems described: no item twice",
        ],
    );
    // Draft 4 and OpenAPI 3.0 exclude a bound by a flag.
    check(
        r#"{"type":"number","minimum":0,"exclusiveMinimum":true,"exclusiveMaximum":false}"#,
        r#"{"type":"number","description":"More than 0."}"#,
        &["schema minimum described: more than 0"],
    );
    // What asks for nothing is no row; what no model could do about is not told.
    check(
        r#"{"type":"integer","minimum":-9007199254740991,"minLength":0,"uniqueItems":false}"#,
        r#"{"type":"integer"}"#,
        &["schema minimum dropped: -9007199254740991"],
    );
    check(
        r#"{"type":"string","x-order":1,"writeOnly":true}"#,
        r#"{"type":"string"}"#,
        &["schema x-order dropped: 1", "schema writeOnly dropped: true"],
    );
}

#[test]
fn types_and_literals_become_forms() {
    check(
        r#"{"type":["string","null"],"description":"D","default":null}"#,
        r#"{"oneOf":[{"type":"string"},{"type":"null"}],"description":"D","default":null}"#,
        &["schema type enforced: one form for each type"],
    );
    check(
        r#"{"type":"string","nullable":true,"example":"x"}"#,
        r#"{"oneOf":[{"type":"string"},{"type":"null"}],"examples":["x"]}"#,
        &["schema example enforced: as `examples`", "schema nullable enforced: null is taken too"],
    );
    check(
        r#"{"enum":["a",1,null,"b",2.5]}"#,
        r#"{"oneOf":[{"type":"string","enum":["a","b"]},{"type":"number","enum":[1,2.5]},{"type":"null"}]}"#,
        &["schema enum enforced: with the types of its members"],
    );
    check(
        r#"{"const":"a"}"#,
        r#"{"type":"string","const":"a"}"#,
        &["schema const enforced: with the types of its members"],
    );
    check(
        r#"{"const":{"a":[1]}}"#,
        r#"{"type":"object","description":"Exactly `{\"a\":[1]}`."}"#,
        &["schema const described: arrays and objects are no literals"],
    );
    check(
        r#"{"type":"strnig","description":"D"}"#,
        r#"{"description":"D"}"#,
        &["schema type dropped: \"strnig\" is no type"],
    );
    check(r#"{"type":["integer","number"]}"#, r#"{"type":"number"}"#, &[]);
    check("true", "{}", &[]);
    check(
        "false",
        r#"{"description":"No value fits here."}"#,
        &["schema (schema) dropped: no value fits, so any is taken"],
    );
}

#[test]
fn objects_keep_their_properties() {
    check(
        r#"{"type":"object","additionalProperties":{"type":"string","maxLength":2}}"#,
        r#"{"type":"object","description":"Each value: string (at most 2 characters)."}"#,
        &[
            "schema.additionalProperties maxLength described: at most 2 characters",
            "schema additionalProperties described: each value: string (at most 2 characters)",
        ],
    );
    check(
        r#"{"type":"object","properties":{"a":{}},"additionalProperties":{},"required":["a","b"]}"#,
        r#"{"type":"object","properties":{"a":{},"b":{}},"required":["a","b"]}"#,
        &["schema additionalProperties enforced: any JSON", "schema required enforced: \"b\" is declared"],
    );
    check(
        r#"{"type":"object","patternProperties":{"^x-":{"type":"integer"}},"additionalProperties":false,"propertyNames":{"pattern":"^.{1,9}$"}}"#,
        r#"{"type":"object","description":"Names: matching the pattern `^.{1,9}$`; names like `^x-`: integer, no other names."}"#,
        &[
            "schema patternProperties described: names like `^x-`: integer, no other names",
            "schema.propertyNames pattern described: matching the pattern `^.{1,9}$`",
            "schema propertyNames described: names: matching the pattern `^.{1,9}$`",
        ],
    );
    check(
        r#"{"type":"object","properties":{"a":{"type":"string"},"b":false},"dependentRequired":{"a":["c","d"]},"unevaluatedProperties":false}"#,
        r#"{"type":"object","description":"`a` needs `c` and `d`.","additionalProperties":false,"properties":{"a":{"type":"string"}}}"#,
        &[
            "schema.properties.b (schema) enforced: must be absent",
            "schema dependentRequired described: `a` needs `c` and `d`",
            "schema unevaluatedProperties enforced: as `additionalProperties`",
        ],
    );
    check(
        r#"{"properties":{"a":{"type":"string"}},"required":["a"]}"#,
        r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#,
        &["schema type enforced!: taken to be object"],
    );
    check(
        r#"{"type":"object","properties":{"a":"string","b":{"type":"object","properties":[],"required":true}}}"#,
        r#"{"type":"object","properties":{"a":{},"b":{"type":"object"}}}"#,
        &[
            "schema.properties.a (schema) dropped: is no schema but the string \"string\"",
            "schema.properties.b properties dropped: is an empty array",
            "schema.properties.b required dropped: is no list of names",
        ],
    );
}

#[test]
fn arrays_keep_their_items() {
    check(
        r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}"#,
        r#"{"type":"array","description":"Items in order: string, integer.","items":{"oneOf":[{"type":"string"},{"type":"integer"}]}}"#,
        &["schema prefixItems described: items in order: string, integer"],
    );
    check(
        r#"{"type":"array","items":[{"type":"string"}],"additionalItems":{"type":"null"}}"#,
        r#"{"type":"array","description":"Items in order: string, then any number of null.","items":{"oneOf":[{"type":"string"},{"type":"null"}]}}"#,
        &["schema items described: items in order: string, then any number of null"],
    );
    check(
        r#"{"type":"array","prefixItems":[{"type":"string"}]}"#,
        r#"{"type":"array","description":"Items in order: string."}"#,
        &["schema prefixItems described: items in order: string"],
    );
    check(
        r#"{"items":{"const":1},"contains":{"type":"integer"}}"#,
        r#"{"type":"array","description":"At least one item is integer.","items":{"type":"integer","const":1}}"#,
        &[
            "schema.items const enforced: with the types of its members",
            "schema contains described: at least one item is integer",
            "schema type enforced!: taken to be array",
        ],
    );
}

#[test]
fn alternatives_exclude_each_other_or_are_joined() {
    check(
        r#"{"anyOf":[{"type":"string","description":"One."},{"type":"array","items":{"type":"string"}},{"type":"null"}],"description":"D"}"#,
        r#"{"oneOf":[{"type":"string","description":"One."},{"type":"array","items":{"type":"string"}},{"type":"null"}],"description":"D"}"#,
        &["schema anyOf enforced: forms that exclude each other"],
    );
    // By a tag, also where the tag is required beside the alternatives.
    check(
        r#"{"type":"object","properties":{"t":{"type":"string"}},"required":["t"],"oneOf":[{"properties":{"t":{"const":"a"},"x":{"type":"number"}}},{"properties":{"t":{"const":"b"}}}]}"#,
        r#"{"oneOf":[{"type":"object","properties":{"t":{"type":"string","const":"a"},"x":{"type":"number"}},"required":["t"]},{"type":"object","properties":{"t":{"type":"string","const":"b"}},"required":["t"]}]}"#,
        &[
            "schema.oneOf[0].properties.t const enforced: with the types of its members",
            "schema.oneOf[1].properties.t const enforced: with the types of its members",
            "schema oneOf enforced: forms that exclude each other",
        ],
    );
    check(
        r#"{"anyOf":[{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}]}"#,
        r#"{"type":"object","description":"One of { id: string } | { name: string }.","properties":{"id":{"type":"string"},"name":{"type":"string"}}}"#,
        &["schema anyOf described!: alternatives that overlap are joined"],
    );
    check(
        r#"{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}"#,
        r#"{"type":"object","description":"`a` or `b` is required.","properties":{"a":{},"b":{}}}"#,
        &[
            "schema.anyOf[0] required enforced: \"a\" is declared",
            "schema.anyOf[1] required enforced: \"b\" is declared",
            "schema anyOf described: alternatives that overlap are joined",
        ],
    );
    // Joined objects are closed when all of them are.
    for (last, closed) in [("", ""), (r#","additionalProperties":false"#, r#""additionalProperties":false,"#)]
    {
        check(
            &format!(
                r#"{{"anyOf":[{{"type":"object","properties":{{"a":{{"type":"string"}}}},"additionalProperties":false}},{{"type":"object","properties":{{"a":{{"type":"string"}},"b":{{"type":"null"}}}}{last}}}]}}"#
            ),
            &format!(
                r#"{{"type":"object","description":"One of {{ a?: string }} | {{ a?: string, b?: null }}.",{closed}"properties":{{"a":{{"type":"string"}},"b":{{"type":"null"}}}}}}"#
            ),
            &["schema anyOf described: alternatives that overlap are joined"],
        );
    }
    // Names with comments become one enumeration.
    check(
        r#"{"oneOf":[{"const":"a","description":"First."},{"const":"b","description":"Second."}],"description":"D"}"#,
        r#"{"type":"string","description":"D\n- `a`: First.\n- `b`: Second.","enum":["a","b"]}"#,
        &[
            "schema.oneOf[0] const enforced: with the types of its members",
            "schema.oneOf[1] const enforced: with the types of its members",
            "schema oneOf enforced: forms that exclude each other",
        ],
    );
    check(
        r#"{"oneOf":[{"type":"string","pattern":"^a"},{"type":"string","pattern":"b$"}]}"#,
        r#"{"type":"string","description":"Matching the pattern `^a`, or matching the pattern `b$`."}"#,
        &[
            "schema.oneOf[0] pattern described: matching the pattern `^a`",
            "schema.oneOf[1] pattern described: matching the pattern `b$`",
            "schema oneOf dropped: more than one alternative may fit",
        ],
    );
    check(
        r#"{"anyOf":[{"type":"integer"},{"type":"number"}]}"#,
        r#"{"type":"number"}"#,
        &["schema anyOf enforced: forms that exclude each other"],
    );
}

#[test]
fn parts_are_merged() {
    check(
        r#"{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"a":{"minLength":1},"b":{"type":"number"}},"additionalProperties":true}],"title":"T"}"#,
        r#"{"type":"object","title":"T","properties":{"a":{"type":"string","description":"At least 1 character."},"b":{"type":"number"}},"required":["a"]}"#,
        &[
            "schema.allOf[1].properties.a minLength described: at least 1 character",
            "schema allOf enforced: merged",
        ],
    );
    check(
        r#"{"type":["object","null"],"allOf":[{"required":["a"]}]}"#,
        r#"{"oneOf":[{"type":"object","properties":{"a":{}},"required":["a"]},{"type":"null"}]}"#,
        &[
            "schema type enforced: one form for each type",
            "schema.allOf[0] required enforced: \"a\" is declared",
            "schema allOf enforced: merged",
        ],
    );
    check(
        r#"{"type":"object","if":{"required":["a"]},"then":{"required":["b"]},"not":{"required":["c"]}}"#,
        r#"{"type":"object","description":"If `{\"required\":[\"a\"]}`; then `{\"required\":[\"b\"]}`; not `{\"required\":[\"c\"]}`."}"#,
        &[
            r#"schema if described: if `{"required":["a"]}`"#,
            r#"schema then described: then `{"required":["b"]}`"#,
            r#"schema not described: not `{"required":["c"]}`"#,
        ],
    );
}

#[test]
fn references_are_written_out_and_circles_are_cut() {
    check(
        r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"Mine."},"b":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"string","format":"uuid","description":"Its."}}}"##,
        r#"{"type":"object","properties":{"a":{"type":"string","description":"Mine. Format uuid."},"b":{"type":"string","description":"Its. Format uuid."}}}"#,
        &[
            "schema.properties.a $ref enforced: written out",
            "schema.$defs.A format described: format uuid",
            "schema.properties.b $ref enforced: written out",
        ],
    );
    check(
        r##"{"$ref":"#/definitions/Tree","definitions":{"Tree":{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#/definitions/Tree"}}}}}}"##,
        r#"{"type":"object","properties":{"children":{"type":"array"}}}"#,
        &[
            "schema $ref enforced: written out",
            "schema.definitions.Tree.properties.children.items $ref dropped: \"#/definitions/Tree\" contains itself, so anything is taken",
        ],
    );
    check(
        r##"{"$ref":"#"}"##,
        "{}",
        &[
            "schema $ref enforced: written out",
            "schema $ref dropped: \"#\" contains itself, so anything is taken",
        ],
    );
    // By anchor, by identifier, by a pointer with escapes.
    check(
        r##"{"$defs":{"a/b %":{"$anchor":"x","type":"string"},"c":{"$id":"http://e.test/c","type":"null"}},"anyOf":[{"$ref":"#x"},{"$ref":"http://e.test/c"},{"$ref":"#/$defs/a~1b%20%25"}]}"##,
        r#"{"oneOf":[{"type":"string"},{"type":"null"}]}"#,
        &[
            "schema.anyOf[0] $ref enforced: written out",
            "schema.anyOf[1] $ref enforced: written out",
            "schema.anyOf[2] $ref enforced: written out",
            "schema anyOf enforced: forms that exclude each other",
        ],
    );
    check(
        r#"{"type":"object","properties":{"a":{"$ref":"other.json"}}}"#,
        r#"{"type":"object","properties":{"a":{}}}"#,
        &["schema.properties.a $ref dropped: \"other.json\" is not in this document"],
    );
    // Before 2019, keywords beside a reference were ignored.
    check(
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/A","maxLength":3,"definitions":{"A":{"type":"string"}}}"##,
        r#"{"type":"string"}"#,
        &[
            "schema $ref enforced: written out",
            "schema maxLength dropped: is ignored beside `$ref` in this draft",
        ],
    );
}

#[test]
fn parameters_are_one_object() {
    let params = |text: &str| Schema::import_params(&Json::parse(text).unwrap(), &ImportLimits::default());
    let text = |foreign: &str| params(foreign).unwrap().schema().json().to_text();
    assert_eq!(text("{}"), r#"{"type":"object"}"#);
    assert_eq!(text("true"), r#"{"type":"object"}"#);
    assert_eq!(text(r#"{"type":["object","null"]}"#), r#"{"type":"object"}"#);
    assert_eq!(text(r#"{"properties":{"a":{}}}"#), r#"{"type":"object","properties":{"a":{}}}"#);

    let union = r#"{"oneOf":[
        {"type":"object","properties":{"kind":{"const":"a"},"x":{"type":"number"}},"required":["kind","x"]},
        {"type":"object","properties":{"kind":{"const":"b"}},"required":["kind"]}
    ]}"#;
    let imported = params(union).unwrap();
    assert_eq!(
        imported.schema().json().to_text(),
        r#"{"type":"object","description":"One of { kind: \"a\", x: number } | { kind: \"b\" }.","properties":{"kind":{"type":"string","enum":["a","b"]},"x":{"type":"number"}},"required":["kind"]}"#
    );
    // What the joined object lets through, the original does not.
    let (whole, part) =
        (Json::parse(r#"{"kind":"a","x":1}"#).unwrap(), Json::parse(r#"{"kind":"a"}"#).unwrap());
    assert!(imported.is_valid(&whole) && imported.schema().is_valid(&part) && !imported.is_valid(&part));

    let error = params(r#"{"type":["string","array"]}"#).unwrap_err();
    assert_eq!(error, ImportError::RootNotObject { found: "string or array".to_owned() });
    assert_eq!(
        error.to_string(),
        "the schema of the arguments takes string or array, and has to take an object"
    );
    let error = params("[]").unwrap_err();
    assert_eq!(error.code(), "UNSUPPORTED_SCHEMA");
    assert_eq!(error.to_string(), "the schema is an empty array, and has to be an object or a boolean");
}

#[test]
fn the_report_is_a_table() {
    let imported =
        imported(r#"{"type":"object","properties":{"n":{"type":"integer","minimum":1,"x":2}},"not":{}}"#);
    let report = imported.report();
    assert_eq!(
        report.to_string(),
        "path                 keyword  fate       note\n\
         schema.properties.n  minimum  described  at least 1\n\
         schema.properties.n  x        dropped    2\n\
         schema               not      described  not `{}`\n\
         0 enforced otherwise, 2 described, 1 dropped"
    );
    assert_eq!([Fate::Enforced, Fate::Described, Fate::Dropped].map(|fate| report.count(fate)), [0, 2, 1]);
    assert!(!report.is_exact());
}
