//! A text that grows in the engine's memory.

use rquickjs::function::This;
use rquickjs::{Result, String as JsString};

use super::class::Call;

/// Bytes of it that Rust holds.
const PIECE: usize = 64 << 10;

/// A text on its way to the program. A long one goes piece by piece, so that it counts as the program's memory, and is
/// refused as such.
pub(super) struct Output<'a, 'c, 'js> {
    call: &'a Call<'c, 'js>,
    whole: Option<JsString<'js>>,
    piece: String,
}

impl<'a, 'c, 'js> Output<'a, 'c, 'js> {
    pub(super) fn new(call: &'a Call<'c, 'js>) -> Self {
        Self { call, whole: None, piece: String::new() }
    }

    pub(super) fn push(&mut self, text: &str) -> Result<()> {
        if self.piece.len() + text.len() <= PIECE {
            self.piece.push_str(text);
            return Ok(());
        }
        let piece = std::mem::take(&mut self.piece);
        self.join(&piece)?;
        self.join(text)
    }

    pub(super) fn finish(mut self) -> Result<JsString<'js>> {
        let piece = std::mem::take(&mut self.piece);
        self.join(&piece)?;
        match self.whole {
            Some(whole) => Ok(whole),
            None => JsString::from_str(self.call.ctx().clone(), ""),
        }
    }

    fn join(&mut self, text: &str) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let text = JsString::from_str(self.call.ctx().clone(), text)?;
        self.whole = Some(match self.whole.take() {
            Some(whole) => self.call.saved().concat.call((This(whole), text))?,
            None => text,
        });
        Ok(())
    }
}
