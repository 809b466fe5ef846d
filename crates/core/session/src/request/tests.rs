use dsh_json::{Json, array, object};

use super::*;

fn config() -> RequestConfig {
    RequestConfig {
        provider: "p".into(),
        model: "m".into(),
        max_tokens: Some(9),
        reasoning_effort: Some("high".into()),
    }
}

fn header(config: RequestConfig, adapter_defaults: Option<AdapterDefaults>) -> RequestHeader {
    let header = RequestForm { config, adapter_defaults, system: None, tools: None };
    RequestHeader { header, reason: HeaderReason::Initial }
}

#[test]
fn a_header_has_its_stored_form() {
    let tool = ToolSchema { name: "n".into(), description: "d".into(), parameters: object! {} };
    let full = RequestHeader {
        header: RequestForm {
            config: config(),
            adapter_defaults: Some(AdapterDefaults { max_tokens: true, reasoning_effort: false }),
            system: Some("be brief".into()),
            tools: Some([tool].into()),
        },
        reason: HeaderReason::Change,
    };
    let json = object! {
        "header": object! {
            "config": object! { "provider": "p", "model": "m", "maxTokens": 9, "reasoningEffort": "high" },
            "adapterDefaults": object! { "maxTokens": true },
            "system": "be brief",
            "tools": array![object! { "name": "n", "description": "d", "parameters": object! {} }],
        },
        "reason": "change",
    };
    assert_eq!(full.to_json().unwrap().to_text(), json.to_text());
    assert_eq!(RequestHeader::from_json(&json), Ok(full));

    let small = RequestConfig { max_tokens: None, reasoning_effort: None, ..config() };
    let small = header(small, None);
    assert_eq!(
        small.to_json().unwrap().to_text(),
        r#"{"header":{"config":{"provider":"p","model":"m"}},"reason":"initial"}"#
    );
    assert_eq!(RequestHeader::from_json(&small.to_json().unwrap()), Ok(small));
}

#[test]
fn the_rules_of_a_header() {
    let refused = |header: RequestHeader, error: &str| {
        assert_eq!(header.check().unwrap_err().to_string(), error);
    };
    header(config(), None).check().unwrap();
    let empty: Arc<str> = "".into();
    refused(
        header(RequestConfig { provider: empty.clone(), ..config() }, None),
        "$.header.config.provider: must not be empty",
    );
    refused(
        header(RequestConfig { model: empty.clone(), ..config() }, None),
        "$.header.config.model: must not be empty",
    );
    refused(
        header(RequestConfig { reasoning_effort: Some(empty), ..config() }, None),
        "$.header.config.reasoningEffort: must not be empty",
    );
    let marks = AdapterDefaults { max_tokens: true, reasoning_effort: true };
    header(config(), Some(marks)).check().unwrap();
    refused(
        header(RequestConfig { max_tokens: None, ..config() }, Some(marks)),
        "$.header.adapterDefaults.maxTokens: marks a setting that the configuration does not have",
    );
    refused(
        header(RequestConfig { reasoning_effort: None, ..config() }, Some(marks)),
        "$.header.adapterDefaults.reasoningEffort: marks a setting that the configuration does not have",
    );
}

#[test]
fn a_context_has_its_stored_form() {
    let context = RequestContext { provider: "p".into(), model: "m".into(), context_window: Some(8) };
    let json = context.to_json().unwrap();
    assert_eq!(json.to_text(), r#"{"provider":"p","model":"m","contextWindow":8}"#);
    assert_eq!(RequestContext::from_json(&json), Ok(context));
    let nobody = RequestContext { provider: "".into(), model: "m".into(), context_window: None };
    assert_eq!(nobody.check().unwrap_err().to_string(), "$.provider: must not be empty");
    assert!(RequestContext::from_json(&object! { "provider": "p", "model": "m", "x": Json::Null }).is_err());
}
