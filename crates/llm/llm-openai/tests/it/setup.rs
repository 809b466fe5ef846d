//! Settings: what they may say, and what they may not.

use dsh_json::Json;
use dsh_llm_openai::{Access, ApiKey, MODEL_CONFIG, MODEL_NO_KEY, OpenAi, OpenAiConfig, Provider, Proxy};

use crate::world::access;

fn refused(provider: Provider, config: OpenAiConfig, access: Access) -> (String, &'static str) {
    let error = OpenAi::new(provider, "m", config, access).unwrap_err();
    (error.to_string(), error.code())
}

fn at(base_url: &str) -> OpenAiConfig {
    OpenAiConfig { base_url: Some(base_url.to_owned()), ..OpenAiConfig::default() }
}

#[test]
fn a_missing_key_is_named_by_its_variable() {
    let access =
        Access { key: ApiKey::new("  ").unwrap(), key_variable: "DEEPSEEK_API_KEY".into(), ..access() };
    assert_eq!(
        refused(Provider::DeepSeek, OpenAiConfig::default(), access.clone()),
        ("no API key for deepseek: set DEEPSEEK_API_KEY, or choose another model".to_owned(), MODEL_NO_KEY),
    );
    for local in
        ["http://localhost:8080/v1", "http://127.0.0.1", "http://[::1]:1", "http://10.0.0.1:11434/v1"]
    {
        assert!(OpenAi::new(Provider::OpenAi, "m", at(local), access.clone()).is_ok(), "{local}");
    }
}

#[test]
fn the_key_is_not_sent_in_the_clear_to_another_machine() {
    let expected = "the key would be sent to model.example without encryption: use an `https` base URL, or set \
                    `allowPlainHttp = true` if you trust the network in between";
    assert_eq!(
        refused(Provider::OpenAi, at("http://model.example/v1"), access()),
        (expected.to_owned(), MODEL_CONFIG)
    );
    for local in ["http://localhost:8080/v1", "http://127.0.0.1", "http://[::1]:1"] {
        assert!(OpenAi::new(Provider::OpenAi, "m", at(local), access()).is_ok(), "{local}");
    }
    let trusted = OpenAiConfig { allow_plain_http: true, ..at("http://model.example/v1") };
    assert!(OpenAi::new(Provider::OpenAi, "m", trusted, access()).is_ok());
}

#[test]
fn what_can_not_work_is_refused_before_anything_is_sent() {
    let (message, code) = refused(Provider::OpenAi, at("model.example/v1"), access());
    assert_eq!(code, MODEL_CONFIG);
    assert!(message.starts_with("`baseUrl` can't be used: "), "{message}");

    let socks = Proxy { https: Some("socks5://me:secret@p.example".to_owned()), ..Proxy::default() };
    let (message, _) =
        refused(Provider::OpenAi, OpenAiConfig::default(), Access { proxy: socks, ..access() });
    assert_eq!(
        message,
        "the proxy for `https` can't be used: give `http://host:port` or `https://host:port`"
    );

    let nameless = OpenAi::new(Provider::DeepSeek, "", OpenAiConfig::default(), access()).unwrap_err();
    assert_eq!(nameless.to_string(), "the model's name is empty: name one, such as `deepseek-chat`");
}

#[test]
fn settings_are_read_strictly() {
    let read =
        |text: &str| Json::parse(text).unwrap().read::<OpenAiConfig>().map_err(|error| error.to_string());
    assert_eq!(read("{}"), Ok(OpenAiConfig::default()));
    let given = read(
        r#"{"baseUrl": "http://localhost/v1", "maxTokensField": "max_completion_tokens", "maxRetries": 0}"#,
    )
    .unwrap();
    assert_eq!((given.base_url.as_deref(), given.max_retries), (Some("http://localhost/v1"), 0));
    assert!(read(r#"{"baseURL": "x"}"#).unwrap_err().contains("unknown field `baseURL`"));
    assert!(read(r#"{"idleTimeoutMs": 0}"#).unwrap_err().contains("nonzero"));
    assert!(read(r#"{"apiKey": "sk-1"}"#).unwrap_err().contains("unknown field"));
}

#[test]
fn providers_are_known_by_name() {
    for provider in [Provider::DeepSeek, Provider::OpenAi] {
        assert_eq!(Provider::named(provider.name()), Some(provider));
        let model =
            OpenAi::new(provider, provider.default_model(), OpenAiConfig::default(), access()).unwrap();
        assert_eq!(model.dialect().send_reasoning, provider == Provider::DeepSeek);
    }
    assert_eq!(Provider::named("demo"), None);
}
