//! What a client says first, heard before anything is made for it.

use std::io::Cursor;

use dsh_json::Json;
use tokio::io::{AsyncRead, AsyncReadExt, Chain};

use crate::elicitation;

/// How many bytes of the first line are heard.
const LIMIT: usize = 64 * 1024;

/// The beginning of a client's messages: its first line, if that is not longer than 64 KiB. What is offered to a client can
/// depend on what it can do, and is made before it is served.
#[derive(Debug)]
pub struct Greeting(Vec<u8>);

impl Greeting {
    /// Waits for the end of the first line. It ends before that with the input, with an error of the input, which whoever
    /// reads on will meet, and at the limit. Dropping the future loses what was read.
    pub async fn hear<R: AsyncRead + Unpin>(reader: &mut R) -> Self {
        let mut heard = Vec::new();
        let mut part = [0; 1024];
        while heard.len() < LIMIT && !heard.contains(&b'\n') {
            match reader.read(&mut part).await {
                Ok(0) | Err(_) => break,
                Ok(read) => heard.extend_from_slice(part.get(..read).unwrap_or_default()),
            }
        }
        Self(heard)
    }

    /// Whether the client can put a question to its user; `None` when the line does not say, since it is no `initialize`.
    pub fn has_forms(&self) -> Option<bool> {
        let line = self.0.split(|byte| *byte == b'\n').next()?;
        let message = Json::parse(std::str::from_utf8(line).ok()?).ok()?;
        if message.get("method").and_then(Json::as_str) != Some("initialize") {
            return None;
        }
        let asks = message.get("params")?.get("capabilities")?.get("elicitation");
        let has = |kind: &str| asks.and_then(|asks| asks.get(kind)).is_some_and(|kind| *kind != Json::Null);
        Some(
            asks.is_some_and(|asks| *asks != Json::Null) && elicitation::shows_forms(has("form"), has("url")),
        )
    }

    /// All that the client says, from the beginning.
    pub fn before<R: AsyncRead>(self, reader: R) -> Chain<Cursor<Vec<u8>>, R> {
        Cursor::new(self.0).chain(reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn heard(input: &[u8]) -> (Option<bool>, Vec<u8>) {
        let mut reader = input;
        let greeting = Greeting::hear(&mut reader).await;
        let (forms, mut all) = (greeting.has_forms(), Vec::new());
        greeting.before(reader).read_to_end(&mut all).await.unwrap();
        (forms, all)
    }

    #[tokio::test]
    async fn a_client_says_whether_it_has_forms_and_nothing_of_what_it_says_is_lost() {
        let initialize = |capabilities: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"capabilities":{capabilities}}}}}"#
            )
        };
        let long = " ".repeat(LIMIT) + &initialize("{}");
        let deep = "[".repeat(60_000);
        for (line, forms) in [
            (initialize("{}").as_str(), Some(false)),
            (&initialize(r#"{"roots":{}}"#), Some(false)),
            (&initialize(r#"{"elicitation":null}"#), Some(false)),
            (&initialize(r#"{"elicitation":{}}"#), Some(true)),
            (&initialize(r#"{"elicitation":{"form":{}}}"#), Some(true)),
            (&initialize(r#"{"elicitation":{"form":{},"url":{}}}"#), Some(true)),
            (&initialize(r#"{"elicitation":{"url":{}}}"#), Some(false)),
            (r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#, None),
            (r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#, None),
            (r#"{"method":"#, None),
            ("", None),
            (&long, None),
            (&deep, None),
        ] {
            for end in ["", "\n", "\n{\"method\":\"ping\"}\n"] {
                let input = format!("{line}{end}");
                let shown: String = input.chars().take(120).collect();
                assert_eq!(heard(input.as_bytes()).await, (forms, input.into_bytes()), "{shown}");
            }
        }
        assert_eq!(heard(b"\xff\xfe\n").await.0, None);
    }

    #[tokio::test]
    async fn a_line_that_comes_in_pieces_is_waited_for() {
        let (mut client, mut server) = tokio::io::duplex(8);
        let says = async {
            use tokio::io::AsyncWriteExt;
            for piece in [r#"{"method":"initialize","params":"#, r#"{"capabilities":{}}}"#, "\n"] {
                tokio::task::yield_now().await;
                client.write_all(piece.as_bytes()).await.unwrap();
            }
            client
        };
        let (greeting, _client) = tokio::join!(Greeting::hear(&mut server), says);
        assert_eq!(greeting.has_forms(), Some(false));
    }
}
