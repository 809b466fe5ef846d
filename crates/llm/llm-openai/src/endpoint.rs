//! The address that requests go to.

use url::{Host, Url};

use crate::SetupError;

/// The URL of chat completions below a base URL, with or without a slash at its end; a query is kept. A base URL that
/// leads there already stays.
pub(crate) fn endpoint(base_url: &str) -> Result<Url, SetupError> {
    let refused = |why: &str| SetupError::BaseUrl(format!("{why}, as in `https://api.example.com/v1`"));
    let mut url =
        Url::parse(base_url.trim()).map_err(|error| refused(&format!("{error}; give a whole URL")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused("give one that starts with `https://` or `http://`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("leave name and password out of it; the key is given apart"));
    }
    url.set_fragment(None);
    let there = url.path().trim_end_matches('/').ends_with("/chat/completions");
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty();
        if !there {
            path.extend(["chat", "completions"]);
        }
    }
    Ok(url)
}

/// Whether the URL leads to this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|address| address.is_loopback())
        }
        None => false,
    }
}

/// The server without its path, for messages: a path or a query may hold what is not for everyone.
pub(crate) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_endpoint_is_below_the_base() {
        for (base, expected) in [
            ("https://api.deepseek.com", "https://api.deepseek.com/chat/completions"),
            ("https://api.deepseek.com/", "https://api.deepseek.com/chat/completions"),
            ("https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"),
            (" https://api.openai.com/v1/ ", "https://api.openai.com/v1/chat/completions"),
            ("http://localhost:8080/v1/chat/completions", "http://localhost:8080/v1/chat/completions"),
            ("http://localhost:8080/v1/chat/completions/", "http://localhost:8080/v1/chat/completions"),
            ("https://a.example/x?api-version=1#top", "https://a.example/x/chat/completions?api-version=1"),
        ] {
            assert_eq!(endpoint(base).unwrap().as_str(), expected, "{base}");
        }
    }

    #[test]
    fn what_is_no_base_url_is_refused_with_the_reason() {
        for (base, why) in [
            ("", "relative URL without a base"),
            ("api.openai.com/v1", "relative URL without a base"),
            ("localhost:8080", "starts with `https://`"),
            ("ftp://a.example", "starts with `https://`"),
            ("https://me:secret@a.example", "leave name and password out"),
        ] {
            let error = endpoint(base).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains("secret"), "{base}: {error}");
        }
    }

    #[test]
    fn this_machine_is_known_by_its_names() {
        for (url, expected) in [
            ("http://localhost:1/", true),
            ("http://a.localhost/", true),
            ("http://127.9.9.9/", true),
            ("http://[::1]:1/", true),
            ("http://[::ffff:127.0.0.1]/", true),
            ("http://localhost.example/", false),
            ("http://10.0.0.1/", false),
            ("http://[::2]/", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
