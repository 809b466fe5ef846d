//! A question whether a call may run: what will happen, why it is asked, what an answer covers.

use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use dsh_json::Json;
use dsh_llm::plain_text;
use dsh_tools_core::{CallView, FileDiff};
use dsh_user_approval::covers;

use super::changes::{Sign, changed_lines};
use super::draw::Look;
use super::sheet::{Sheet, wrap};

/// What is asked about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) tool: Arc<str>,
    pub(crate) arguments: Option<Json>,
    pub(crate) view: Option<CallView>,
    pub(crate) reason: Option<Arc<str>>,
    /// Whether a program makes the call.
    pub(crate) by_program: bool,
}

const DIM: Style = Style::new().dimmed();
const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().bold();
const ASKS: (&str, Style) = ("?", AnsiColor::Yellow.on_default().bold());

/// What is in front of every line that a model may have written, so that none of them looks like one of ours.
const GUTTER: &str = "│";
/// How many lines of a reason are shown.
const REASON: usize = 6;

/// Draws a question, and says whether all of the call is shown. Lines are broken and not cut, so that nothing hides at the
/// end of one.
pub(crate) fn question(asked: &Asked, look: Look) -> (String, bool) {
    let mut sheet = Sheet::new(look.width, look.body);
    // The tool's own name first: a title may be the model's words.
    sheet.head(ASKS, (&asked.tool, BOLD), (&title(asked), DIM));
    if asked.by_program {
        sheet.line("It is called by the running program.", PLAIN);
    }
    let whole = quoted(&mut sheet, &body(asked), look.width, look.body);
    if let Some(reason) = &asked.reason {
        sheet.line("Why:", PLAIN);
        quoted(&mut sheet, &[(reason.to_string(), PLAIN)], look.width, REASON);
    }
    let mut below = Sheet::new(look.width, usize::MAX);
    below.prose(covers(&asked.tool, whole), DIM);
    (sheet.finish() + &below.finish(), whole)
}

/// Text of others, as many lines of it as there is room for; whether that is all of it.
fn quoted(sheet: &mut Sheet, texts: &[(String, Style)], width: usize, room: usize) -> bool {
    let columns = width.saturating_sub(4).max(1);
    let lines: Vec<(String, Style)> = texts
        .iter()
        .flat_map(|(text, style)| text.lines().map(move |line| (line, *style)))
        .flat_map(|(line, style)| wrap(line, columns).into_iter().map(move |line| (line, style)))
        .collect();
    for (line, style) in lines.iter().take(room) {
        sheet.behind(GUTTER, line, *style);
    }
    let more = lines.len().saturating_sub(room);
    if more > 0 {
        let plural = if more == 1 { "" } else { "s" };
        sheet.line(&format!("… {more} more line{plural}"), BOLD);
    }
    more == 0
}

fn title(asked: &Asked) -> String {
    let title = asked.view.as_ref().map(|view| match view {
        CallView::Generic { title, .. } | CallView::Terminal { title, .. } | CallView::Diff { title, .. } => {
            title
        }
    });
    title.filter(|title| **title != asked.tool).map(|title| format!("“{title}”")).unwrap_or_default()
}

fn body(asked: &Asked) -> Vec<(String, Style)> {
    match (&asked.view, &asked.arguments) {
        (Some(CallView::Diff { diffs, .. }), arguments) => {
            let mut lines = arguments.as_ref().map(|arguments| others(arguments, diffs)).unwrap_or_default();
            lines.extend(diffs.iter().flat_map(changes));
            lines
        }
        (Some(CallView::Terminal { title, description, cwd }), _) => {
            let about = [
                description.as_ref().map(|text| format!("# {text}")),
                cwd.as_ref().map(|cwd| format!("# in {cwd}")),
            ];
            let about = about.into_iter().flatten().map(|line| (line, DIM));
            about.chain([(format!("$ {title}"), BOLD)]).collect()
        }
        (Some(CallView::Generic { raw_input: Some(input), content, .. }), _) => {
            let content = content.as_ref().map(|content| (plain_text(content), DIM));
            [(words(input), PLAIN)].into_iter().chain(content).collect()
        }
        (Some(CallView::Generic { raw_input: None, .. }) | None, Some(arguments)) => {
            vec![(words(arguments), PLAIN)]
        }
        (Some(CallView::Generic { raw_input: None, .. }) | None, None) => Vec::new(),
    }
}

/// Text as it is, everything else as JSON.
fn words(json: &Json) -> String {
    json.as_str().map_or_else(|| json.to_pretty(), str::to_owned)
}

/// What the arguments say beside the change that is shown.
fn others(arguments: &Json, diffs: &[FileDiff]) -> Vec<(String, Style)> {
    let shown = |value: &Json| {
        value.as_str().is_some_and(|text| {
            diffs.iter().any(|diff| *diff.new_text == *text || diff.old_text.as_deref() == Some(text))
        })
    };
    let Some(arguments) = arguments.as_object() else { return vec![(words(arguments), PLAIN)] };
    let others = arguments.iter().filter(|(_, value)| !shown(value));
    others.map(|(key, value)| (format!("{key}: {}", value.to_text()), DIM)).collect()
}

fn changes(diff: &FileDiff) -> Vec<(String, Style)> {
    let style = |sign| match sign {
        Sign::Same => DIM,
        Sign::Added => AnsiColor::Green.on_default(),
        Sign::Removed => AnsiColor::Red.on_default(),
    };
    let lines = changed_lines(diff).into_iter();
    lines.map(|(sign, line)| (format!("{} {line}", sign.as_str()), style(sign))).collect()
}

#[cfg(test)]
mod tests {
    use dsh_json::object;
    use dsh_tools_core::Kind;

    use super::*;

    fn drawn(asked: &Asked) -> String {
        let (drawn, whole) = question(asked, Look { width: 60, body: 4 });
        let plain = anstream::adapter::strip_str(&drawn).to_string();
        format!("{plain}whole: {whole}\n")
    }

    fn asked(tool: &str, arguments: Json, view: Option<CallView>) -> Asked {
        let arguments = Some(arguments);
        Asked { tool: tool.into(), arguments, view, reason: Some("it writes".into()), by_program: false }
    }

    #[test]
    fn a_change_is_shown_with_what_else_the_arguments_say() {
        let diff =
            FileDiff { path: "a".into(), old_text: Some("one\ntwo".into()), new_text: "one\n2".into() };
        let view = CallView::Diff { title: "Edit a".into(), diffs: vec![diff], locations: Vec::new() };
        let arguments = object! { "file_path": "a", "old_string": "one\ntwo", "new_string": "one\n2", "replace_all": true };
        insta::assert_snapshot!(drawn(&asked("edit", arguments, Some(view))));
    }

    #[test]
    fn a_program_is_shown_from_its_beginning_and_nothing_hides_at_the_end_of_a_line() {
        let code =
            format!("// nothing to see{}await tools.write()\n", " ".repeat(200)) + &"work()\n".repeat(9);
        let view = CallView::Generic {
            title: "Harmless reading".into(),
            kind: Kind::Execute,
            raw_input: Some(code.clone().into()),
            content: None,
            locations: Vec::new(),
        };
        insta::assert_snapshot!(drawn(&asked("run_code", object! { "code": code }, Some(view))));
    }

    #[test]
    fn a_tool_without_a_view_shows_its_arguments_and_controls_are_seen() {
        let arguments = object! { "to": "\u{1b}[2Kyou", "n": 1 };
        let asked = Asked { by_program: true, reason: None, ..asked("send", arguments, None) };
        insta::assert_snapshot!(drawn(&asked));
    }

    #[test]
    fn a_command_is_shown_whole() {
        let view = CallView::Terminal {
            title: "rm -rf build".into(),
            description: Some("Cleans up".into()),
            cwd: Some("/w".into()),
        };
        insta::assert_snapshot!(drawn(&asked("bash", object! {}, Some(view))));
    }
}
