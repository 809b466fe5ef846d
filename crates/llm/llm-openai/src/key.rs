//! The API key, which nothing shows.

use std::fmt;
use std::sync::Arc;

use reqwest::header::HeaderValue;

use crate::SetupError;

/// An API key. It can be sent to the provider and to no one else: `Debug` and `Display` show `[key]`, and it is in no
/// error, log or URL.
#[derive(Clone)]
pub struct ApiKey(Arc<str>);

/// Keys below this length, such as the `none` of a local server, are no secret; replacing them would garble messages.
const SECRET_FROM: usize = 6;
const SHOWN: &str = "[key]";

impl ApiKey {
    /// The key in this text, without surrounding whitespace; `None` when it is empty.
    ///
    /// # Errors
    /// [`SetupError::Key`] when it has characters that no key has: other than visible ASCII.
    pub fn new(text: &str) -> Result<Option<Self>, SetupError> {
        let text = text.trim();
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SetupError::Key);
        }
        Ok((!text.is_empty()).then(|| Self(text.into())))
    }

    /// The text with the key blotted out.
    pub(crate) fn scrub(&self, text: &str) -> String {
        if self.0.len() < SECRET_FROM { text.to_owned() } else { text.replace(&*self.0, SHOWN) }
    }

    pub(crate) fn header(&self) -> Result<HeaderValue, SetupError> {
        let mut value =
            HeaderValue::from_str(&format!("Bearer {}", self.0)).map_err(|_odd| SetupError::Key)?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SHOWN)
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SHOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_shown_nowhere() {
        let key = ApiKey::new(" sk-0123456789\n").unwrap().unwrap();
        assert_eq!(format!("{key} {key:?}"), "[key] [key]");
        assert_eq!(key.scrub("wrong key sk-0123456789, sk-0123"), "wrong key [key], sk-0123");
        assert_eq!(format!("{:?}", key.header().unwrap()), "Sensitive");
        assert!(ApiKey::new(" \n").unwrap().is_none());
        let odd = ApiKey::new("sk-0123 456789").unwrap_err().to_string();
        assert_eq!(odd, "the API key has characters that no key has: give visible ASCII without spaces");
    }
}
