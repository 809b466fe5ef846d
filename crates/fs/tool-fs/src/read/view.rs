//! A read as a person's screen shows it, and the envelope around what the model reads.

use std::sync::Arc;

use dsh_fs::one_line;
use dsh_tools_core::{ContentBlock, Json, NumberedLine, ReadView, ResultView, StoredResult};
use serde::{Deserialize, Serialize};

use super::{Line, ReadOutput};
use crate::lang::lang_of;

/// What the log keeps of a read for the screen.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReadMeta {
    path: Arc<str>,
    offset: u64,
    lines: Vec<Line>,
    total_lines: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lang: Option<Arc<str>>,
}

pub(super) fn meta(output: &ReadOutput) -> Option<Json> {
    let meta = ReadMeta {
        path: output.path.as_str().into(),
        offset: output.offset,
        lines: output.lines.clone(),
        total_lines: output.total_lines,
        lang: lang_of(&output.path).map(Into::into),
    };
    // Texts and small numbers always are JSON.
    Json::from_serialize(&meta).ok()
}

/// The card of a stored read; none, when it is a failure or not of the form that this tool writes (spec 07 §6.2).
pub(super) fn card(result: &StoredResult<'_>) -> Option<ResultView> {
    if result.is_error {
        return None;
    }
    let [ContentBlock::Text { text }] = &**result.content else { return None };
    let shown = shown(text)?;
    let meta: ReadMeta = result.meta?.read().ok()?;
    if !meta.is_sound() {
        return None;
    }
    let lines =
        meta.lines.into_iter().map(|line| NumberedLine { number: line.number, text: line.text.into() });
    Some(ResultView::Read(ReadView {
        path: meta.path,
        offset: meta.offset,
        lines: lines.collect(),
        total_lines: meta.total_lines,
        lang: meta.lang,
        content: Some(dsh_tools_core::text(shown)),
    }))
}

impl ReadMeta {
    fn is_sound(&self) -> bool {
        let numbers = self.lines.iter().map(|line| line.number);
        self.offset >= 1
            && numbers.clone().all(|number| (self.offset..=self.total_lines).contains(&number))
            && numbers.clone().zip(numbers.skip(1)).all(|(one, next)| one < next)
    }
}

pub(super) fn envelope(path: &str, body: &str) -> String {
    let path = one_line(path);
    format!("<path>{path}</path>\n<type>file</type>\n<content>\n{body}\n</content>")
}

/// What is inside the envelope.
fn shown(text: &str) -> Option<&str> {
    let (_, body) = text.strip_prefix("<path>")?.split_once("</path>\n<type>file</type>\n<content>\n")?;
    body.strip_suffix("\n</content>")
}
