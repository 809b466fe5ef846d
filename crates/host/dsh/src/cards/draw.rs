//! From cards to text.

use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use dsh_llm::{Content, plain_text};
use dsh_session::{AbortReason, TurnEndReason};
use dsh_tools_core::{Approval, CallView, FileDiff, ReadView, ResultView, SearchView, TerminalEnd, WebView};

use super::card::{CallCard, Card, ResultCard};
use super::changes::{Sign, changed_lines, counts};
use super::sheet::{Sheet, fit};

/// How cards are drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// The columns of a line.
    pub(crate) width: usize,
    /// The most lines below a head.
    pub(crate) body: usize,
}

impl Look {
    /// The look on a stream of this width.
    pub(crate) fn new(width: usize) -> Self {
        const BODY: usize = 12;
        Self { width, body: BODY }
    }
}

const PLAIN: Style = Style::new();
const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();
const RUNS: (&str, Style) = ("●", AnsiColor::Cyan.on_default());
const WORKED: (&str, Style) = ("✓", AnsiColor::Green.on_default());
const FAILED: (&str, Style) = ("✗", AnsiColor::Red.on_default());

/// Draws a card, colours included: whole lines, none wider than the look allows, every character visible.
pub(crate) fn draw(card: &Card, look: Look) -> String {
    let mut sheet = Sheet::new(look.width, look.body);
    match card {
        Card::Prompt { text, .. } => sheet.speech(("›", BOLD), text, BOLD),
        Card::Said { text, .. } | Card::Answer { text, .. } => {
            sheet.speech(("◦", DIM), text, PLAIN);
        }
        Card::Call(card) => call(&mut sheet, card),
        Card::Decision(card) => {
            let why = card.by.as_ref().map(|by| format!("by {by}")).into_iter();
            let why: Vec<_> = why.chain(card.cause.as_ref().map(ToString::to_string)).collect();
            let title = format!("{}: {}", said(card.outcome), card.tool);
            sheet.head(("?", AnsiColor::Yellow.on_default()), (&title, PLAIN), (&why.join(", "), DIM));
        }
        Card::Result(card) => result(&mut sheet, card, look),
        Card::End { turn, reason } => {
            let words = format!("turn {turn} {}", ended(reason));
            sheet.speech(("■", AnsiColor::Yellow.on_default()), &words, PLAIN);
        }
    }
    sheet.finish()
}

/// How a turn ended, to go on after "the turn".
pub(crate) fn ended(reason: &TurnEndReason) -> String {
    match reason {
        TurnEndReason::Completed => "is done".to_owned(),
        TurnEndReason::MaxTokens => "ended in an answer that reached its ceiling and is cut".to_owned(),
        TurnEndReason::StepLimit => "used up its steps".to_owned(),
        TurnEndReason::Blocked => "was blocked by a policy".to_owned(),
        TurnEndReason::Aborted { reason: AbortReason::User } => "was interrupted".to_owned(),
        TurnEndReason::Aborted { reason: AbortReason::Parent } => "was stopped by its caller".to_owned(),
        TurnEndReason::Aborted { reason: AbortReason::Disposed } => "was stopped with the program".to_owned(),
        TurnEndReason::Aborted { reason: AbortReason::Hook(why) } => format!("was stopped: {why}"),
        TurnEndReason::Error { error } => format!("failed: {} ({})", error.message, error.code),
        TurnEndReason::Interrupted => "was left open when its program ended".to_owned(),
    }
}

fn said(outcome: Approval) -> &'static str {
    match outcome {
        Approval::AllowedOnce => "allowed once",
        Approval::Rejected => "refused",
        Approval::Cancelled => "not answered: withdrawn",
        Approval::Unavailable => "not answered",
    }
}

fn call(sheet: &mut Sheet, card: &CallCard) {
    match &card.view {
        CallView::Generic { title, raw_input, content, .. } => {
            let input =
                raw_input.as_ref().map(|input| input.as_str().map_or_else(|| input.to_text(), str::to_owned));
            sheet.head(RUNS, (title, BOLD), (&input.unwrap_or_default(), DIM));
            if let Some(content) = content {
                text(sheet, content, DIM);
            }
        }
        CallView::Terminal { title, description, .. } => {
            sheet.head(RUNS, (title, BOLD), (description.as_deref().unwrap_or_default(), DIM));
        }
        // What changes is shown with the result, which knows what was there before.
        CallView::Diff { title, .. } => sheet.head(RUNS, (title, BOLD), ("", PLAIN)),
    }
}

fn result(sheet: &mut Sheet, card: &ResultCard, look: Look) {
    let mark = if card.is_error { FAILED } else { WORKED };
    let code = card.error.as_ref().map(|error| Arc::clone(&error.code));
    let mut head = |title: Option<&Arc<str>>, note: &str| {
        let note = code.as_deref().unwrap_or(note);
        sheet.head(mark, (title.unwrap_or(&card.title), BOLD), (note, DIM));
    };
    match &card.view {
        ResultView::Generic { title, content } => {
            head(title.as_ref(), "");
            match content {
                Some(content) if card.is_error => sheet.prose(&plain_text(content), PLAIN),
                Some(content) => text(sheet, content, PLAIN),
                None => {}
            }
        }
        ResultView::Terminal { title, output, end } => {
            let end = end.as_ref().map(|end| match end {
                TerminalEnd::ExitCode(code) => format!("exit code {code}"),
                TerminalEnd::Signal(signal) => format!("ended by {signal}"),
            });
            head(title.as_ref(), &end.unwrap_or_default());
            let output = output.as_deref().unwrap_or_default();
            sheet.lines(output.lines().map(|line| (line, PLAIN)));
        }
        ResultView::Diff { title, diffs } => {
            let changes: Vec<_> = diffs.iter().map(changed_lines).collect();
            head(title.as_ref(), &counts(&changes));
            changes_below(sheet, diffs, &changes);
        }
        ResultView::Search(view) => {
            head(None, &found(view));
            hits(sheet, view, look);
        }
        ResultView::Read(view) => {
            head(None, &shown(view));
            read(sheet, view, look);
        }
        ResultView::Web(view) => {
            head(None, &fetched(view));
            web(sheet, view);
        }
    }
}

fn text(sheet: &mut Sheet, content: &Content, style: Style) {
    sheet.lines(plain_text(content).lines().map(|line| (line, style)));
}

fn changes_below(sheet: &mut Sheet, diffs: &[FileDiff], changes: &[Vec<(Sign, Arc<str>)>]) {
    let mut lines = Vec::new();
    for (at, (diff, changes)) in diffs.iter().zip(changes).enumerate() {
        let follows = at.checked_sub(1).and_then(|before| diffs.get(before));
        match follows {
            Some(before) if before.path == diff.path => lines.push(("⋮".to_owned(), DIM)),
            Some(_) => lines.push((diff.path.to_string(), BOLD)),
            None => {}
        }
        lines.extend(changes.iter().map(|(sign, line)| {
            let style = match sign {
                Sign::Same => DIM,
                Sign::Added => AnsiColor::Green.on_default(),
                Sign::Removed => AnsiColor::Red.on_default(),
            };
            (format!("{} {line}", sign.as_str()), style)
        }));
    }
    sheet.lines(lines.iter().map(|(line, style)| (line.as_str(), *style)));
}

fn found(view: &SearchView) -> String {
    let (total, one, many, kept) = match view {
        SearchView::Matches { total, files, .. } => {
            (*total, "match", "matches", files.iter().map(|file| file.matches.len()).sum())
        }
        SearchView::Paths { total, paths, .. } => (*total, "file", "files", paths.len()),
    };
    let what = if total == 1 { one } else { many };
    if kept as u64 == total { format!("{total} {what}") } else { format!("{total} {what}, {kept} kept") }
}

fn hits(sheet: &mut Sheet, view: &SearchView, look: Look) {
    match view {
        SearchView::Paths { paths, .. } => sheet.lines(paths.iter().map(|path| (&**path, PLAIN))),
        SearchView::Matches { files, .. } => {
            let found =
                files.iter().flat_map(|file| file.matches.iter().map(move |found| (&file.path, found)));
            sheet.lines(found.map(|(path, found)| {
                (format!("{path}:{}: {}", found.line_number, fit(found.line.trim_start(), look.width)), PLAIN)
            }));
        }
    }
}

fn shown(view: &ReadView) -> String {
    match (view.lines.first(), view.lines.last()) {
        (Some(first), Some(last)) if (first.number, last.number) == (1, view.total_lines) => {
            format!("{} line{}", view.total_lines, if view.total_lines == 1 { "" } else { "s" })
        }
        (Some(first), Some(last)) => {
            format!("lines {}–{} of {}", first.number, last.number, view.total_lines)
        }
        (None, _) | (_, None) => "no lines".to_owned(),
    }
}

fn read(sheet: &mut Sheet, view: &ReadView, look: Look) {
    let last = view.lines.iter().take(look.body).next_back();
    let digits = last.map_or(1, |line| line.number.to_string().len());
    sheet.lines(
        view.lines
            .iter()
            .map(|line| (format!("{:>digits$}  {}", line.number, fit(&line.text, look.width)), PLAIN)),
    );
}

fn fetched(view: &WebView) -> String {
    match view {
        WebView::Search { sources, .. } => {
            format!("{} source{}", sources.len(), if sources.len() == 1 { "" } else { "s" })
        }
        WebView::Fetch { status_code, truncated, .. } => {
            format!("status {status_code}{}", if *truncated { ", cut" } else { "" })
        }
    }
}

fn web(sheet: &mut Sheet, view: &WebView) {
    match view {
        WebView::Search { sources, answer, .. } => {
            let answer = answer.as_deref().unwrap_or_default().lines();
            let lines = answer.chain(sources.iter().map(|source| &*source.url));
            sheet.lines(lines.map(|line| (line, PLAIN)));
        }
        WebView::Fetch { url, .. } => sheet.line(url, DIM),
    }
}

#[cfg(test)]
mod tests;
