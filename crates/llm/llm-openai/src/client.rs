//! The HTTP client: TLS, proxies, limits.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use reqwest::{Client, NoProxy, redirect};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore, crypto};
use rustls_platform_verifier::Verifier;
use url::Url;

use crate::SetupError;
use crate::config::{OpenAiConfig, Proxy, duration};
use crate::endpoint::is_loopback;

/// A client for this address. The environment is not read, except for the place of the root certificates, which the
/// system's verifier looks up.
///
/// Redirects are not followed: they would carry the key to where nobody meant it to go.
pub(crate) fn client(url: &Url, config: &OpenAiConfig, proxy: &Proxy) -> Result<Client, SetupError> {
    let proxies = if is_loopback(url) { vec![] } else { proxies(proxy)? };
    let is_encrypted =
        url.scheme() == "https" || proxies.iter().any(|(_, address)| address.scheme() == "https");
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls(is_encrypted, config.ca_file.as_deref())?)
        .connect_timeout(duration(config.connect_timeout_ms.get()))
        .redirect(redirect::Policy::none())
        .user_agent(concat!("dsh/", env!("CARGO_PKG_VERSION")))
        .no_proxy();
    let without = proxy.no_proxy.as_deref().and_then(NoProxy::from_string);
    for (scheme, address) in proxies {
        let refused = |_odd| SetupError::Proxy { scheme };
        let proxy = match scheme {
            "http" => reqwest::Proxy::http(address),
            _ => reqwest::Proxy::https(address),
        };
        builder = builder.proxy(proxy.map_err(refused)?.no_proxy(without.clone()));
    }
    builder.build().map_err(|error| SetupError::Tls(causes(&error.without_url())))
}

fn proxies(proxy: &Proxy) -> Result<Vec<(&'static str, Url)>, SetupError> {
    let mut found = vec![];
    for (scheme, given) in [("http", &proxy.http), ("https", &proxy.https)] {
        let Some(given) = given.as_deref().map(str::trim).filter(|given| !given.is_empty()) else { continue };
        let whole = if given.contains("://") { given.to_owned() } else { format!("http://{given}") };
        let address = Url::parse(&whole).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        found.push((scheme, address.ok_or(SetupError::Proxy { scheme })?));
    }
    Ok(found)
}

/// The system's verifier and roots, and those of the file; none where nothing is encrypted, so that a machine without roots
/// can use a server of its own. The cryptography is named here: the process needs no default.
fn tls(is_encrypted: bool, ca_file: Option<&Path>) -> Result<ClientConfig, SetupError> {
    let refused = |error: rustls::Error| SetupError::Tls(error.to_string());
    let provider = Arc::new(crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(refused)?;
    if !is_encrypted {
        return Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth());
    }
    let more = ca_file.map(roots).transpose()?.unwrap_or_default();
    let verifier = Verifier::new_with_extra_roots(more, provider).map_err(refused)?;
    Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
}

fn roots(file: &Path) -> Result<Vec<CertificateDer<'static>>, SetupError> {
    let refused = |problem: String| SetupError::CaFile { path: file.display().to_string(), problem };
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found = read.map_err(|error| refused(error.to_string()))?;
    if found.is_empty() { Err(refused("it holds no certificate in PEM form".to_owned())) } else { Ok(found) }
}

/// An error and its causes in one line.
pub(crate) fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.ends_with(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = error.source();
    }
    text
}
