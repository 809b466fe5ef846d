//! Where we decide otherwise about files. What the original made of a vector is worked out again; a rule takes the vector
//! when that is what was recorded, and its decision is one of those that change it.

use dsh_json::{Json, Object, object};
use dsh_tool_fs::FsToolsConfig;

use super::compare::{AFTER_FOLDED, digest_of};
use super::editing::{self, Change, Edited, LookedPast};
use super::layout::{Entry, Tree, entries, entry, written};
use super::reading::{self, Asked, Decisions, OURS, THEIRS};
use super::script::{Script, Step};
use crate::file::Vector;
use crate::rule::WHOLE_TEXT;
use crate::text::with;
use crate::{Fault, Rule};

const MARKS: &str = "cut lines say how to go on";
const WHOLE: &str = "characters stay whole";
const NEVER_EMPTY: &str = "no window is empty";
const UNTOUCHED: &str = "untouched bytes stay";
const CHANGES: &str = "an edit changes something";
const LOOKS_PAST: &str = "edits look past what no reader sees";
const UTF16: &str = "UTF-16 that says so is edited";
const REACH: &str = "reach ends at the root";

pub(super) const ALL: &[Rule] = &[
    WHOLE_TEXT,
    Rule {
        name: REACH,
        reason: "beyond the workspace root the answer is FS_SANDBOX_DENIED, for reads as for writes (design §7)",
        expected: |vector| taken(vector, REACH),
    },
    Rule {
        name: MARKS,
        reason: "the mark of a cut line is in our words, and counts towards the byte cap (design §4.12)",
        expected: |vector| taken(vector, MARKS),
    },
    Rule {
        name: WHOLE,
        reason: "a line is not cut within a character outside the basic plane (spec 07 §10.11)",
        expected: |vector| taken(vector, WHOLE),
    },
    Rule {
        name: NEVER_EMPTY,
        reason: "a first line over the byte cap is cut, where the original shows nothing (spec 07 §10.11)",
        expected: |vector| taken(vector, NEVER_EMPTY),
    },
    Rule {
        name: UNTOUCHED,
        reason: "an edit keeps the byte order mark and the line breaks that it does not replace (spec 07 §10.7)",
        expected: |vector| taken(vector, UNTOUCHED),
    },
    Rule {
        name: CHANGES,
        reason: "an edit that would leave the file as it is fails, so that nobody takes it for done (spec 07 §10.12)",
        expected: |vector| taken(vector, CHANGES),
    },
    Rule {
        name: LOOKS_PAST,
        reason: "where the old text does not stand to the letter, blanks at line ends, typesetting and line numbers are looked past, if one place is left (spec 07 §10.12)",
        expected: |vector| taken(vector, LOOKS_PAST),
    },
    Rule {
        name: UTF16,
        reason: "a file that begins with the mark of UTF-16 is text for an edit (spec 07 §10.9)",
        expected: |vector| taken(vector, UTF16),
    },
];

/// What all our decisions make of a vector, when the one of this name is among those that change it.
fn taken(vector: &Vector, name: &str) -> Result<Option<Json>, Fault> {
    let Some((ours, changed_by)) = decided(vector)? else { return Ok(None) };
    Ok(changed_by.contains(&name).then_some(ours))
}

/// Our expected output, and the decisions that make it another than the recorded one.
fn decided(vector: &Vector) -> Result<Option<(Json, Vec<&'static str>)>, Fault> {
    let (script, config) = (Script::of(vector)?, vector.input.get("config"));
    let Ok(config) = config.map_or_else(|| Ok(FsToolsConfig::default()), Json::read) else { return Ok(None) };
    let Some(output) = vector.output.as_object() else { return Ok(None) };
    let recorded: Vec<Json> = match output.get("results").and_then(Json::as_array) {
        Some(results) if script.is_list => results.to_vec(),
        Some(_) | None => vec![vector.output.clone()],
    };
    let mut files = Tree::new();
    files.extend(entries(vector.input.get("files"))?);
    let mut retold = Retold { config, theirs: files.clone(), ours: files, changed_by: Vec::new() };
    let (mut results, mut recorded) = (Vec::new(), recorded.into_iter());
    for step in &script.steps {
        match step {
            Step::Outside(files) => {
                retold.theirs.extend(files.iter().cloned());
                retold.ours.extend(files.iter().cloned());
            }
            Step::Call { tool, arguments } => {
                let Some(result) = recorded.next() else { return Ok(None) };
                let arguments = Json::parse(arguments).unwrap_or_default();
                results.push(retold.call(tool, &arguments, &result).unwrap_or(result));
            }
        }
    }
    if retold.changed_by.is_empty() {
        return Ok(None);
    }
    let mut ours = if script.is_list {
        with(output, "results", results)
    } else {
        results.first().and_then(Json::as_object).cloned().unwrap_or_default()
    };
    if let Some(after) = output.get("files_after").and_then(Json::as_object) {
        ours.insert("files_after", retold.files_after(after));
    }
    Ok(Some((ours.into(), retold.changed_by)))
}

/// A vector told again: the files as the original left them, and as we do.
struct Retold {
    config: FsToolsConfig,
    theirs: Tree,
    ours: Tree,
    changed_by: Vec<&'static str>,
}

impl Retold {
    /// Our result of a call, where it differs from the recorded one.
    fn call(&mut self, tool: &str, arguments: &Json, recorded: &Json) -> Option<Json> {
        let path = arguments.get("file_path").and_then(Json::as_str)?;
        let is_error = recorded.get("isError") == Some(&Json::Bool(true));
        let code = recorded.get("error").and_then(|error| error.get("code")).and_then(Json::as_str);
        let Some(name) = self.name_of(path) else {
            // What is wrong with the call itself is told first, by both.
            let reaches = !path.trim().is_empty() && code != Some("INVALID_ARGS");
            return reaches.then(|| self.changed(REACH, failed("FS_SANDBOX_DENIED")));
        };
        match (tool, is_error) {
            ("read", false) => self.read(&name, path, arguments, recorded),
            ("write", false) => {
                let content = arguments.get("content").and_then(Json::as_str)?;
                self.theirs.insert(name.clone(), Entry::File(content.into()));
                self.ours.insert(name, Entry::File(content.into()));
                None
            }
            ("edit", false) => self.edit(name, change_of(arguments)?, recorded),
            ("edit", true) if code == Some("FS_EDIT_NOT_FOUND") => {
                self.look_past(&name, change_of(arguments)?)
            }
            ("edit", true) if code == Some("FS_NOT_TEXT") => self.edit_utf16(&name, change_of(arguments)?),
            _ => None,
        }
    }

    fn read(&mut self, name: &str, path: &str, arguments: &Json, recorded: &Json) -> Option<Json> {
        let (theirs, ours) = (text_in(&self.theirs, name)?, text_in(&self.ours, name)?);
        let asked = Asked::of(arguments, &self.config)?;
        let path = format!("$DIR/{}", path.trim_start_matches("$DIR/"));
        let bare = |text: &str| text.trim_start_matches('\u{feff}').to_owned();
        let under = |decisions| reading::value(&path, &bare(&theirs), &asked, decisions);
        let original = under(THEIRS);
        let is_recorded = |name| recorded.get(name).is_some_and(|found| is_told(found, &original));
        if !is_recorded("value") {
            return None;
        }
        let alone = [
            (MARKS, Decisions { marks_go_on: true, ..THEIRS }),
            (WHOLE, Decisions { whole_characters: true, ..THEIRS }),
            (NEVER_EMPTY, Decisions { never_empty: true, ..THEIRS }),
        ];
        let changing: Vec<&str> =
            alone.into_iter().filter(|(_, alone)| under(*alone) != original).map(|(name, _)| name).collect();
        if changing.is_empty() {
            return None;
        }
        let value = reading::value(&path, &bare(&ours), &asked, OURS);
        let meta = match recorded.get("meta").and_then(Json::as_object) {
            // With the language, which no decision changes.
            Some(meta) if original.as_object()?.iter().all(|(name, told)| meta.get(name) == Some(told)) => {
                with(meta, "lines", value.get("lines").cloned()).into()
            }
            Some(_) if is_recorded("meta") => value.clone(),
            Some(_) | None => return None,
        };
        self.changed_by.extend(changing);
        Some(object! { "isError": false, "value": value, "meta": meta })
    }

    fn edit(&mut self, name: String, change: Change<'_>, recorded: &Json) -> Option<Json> {
        let (before_theirs, before_ours) = (text_in(&self.theirs, &name)?, text_in(&self.ours, &name)?);
        let Edited::Done { before, after, file } = editing::theirs(&before_theirs, change) else {
            return None;
        };
        let value = recorded.get("value")?;
        let told = object! {
            "path": value.get("path").cloned().unwrap_or_default(), "before": before, "after": after,
        };
        if !is_told(value, &told) {
            return None;
        }
        self.theirs.insert(name.clone(), Entry::File(file.clone().into_bytes()));
        match editing::ours(&before_ours, change) {
            Edited::Done { file: ours, .. } => {
                if ours != file {
                    self.changed_by.push(UNTOUCHED);
                }
                self.ours.insert(name, Entry::File(ours.into_bytes()));
                None
            }
            Edited::Failed(_) => Some(self.changed(CHANGES, object! { "isError": true })),
        }
    }

    fn look_past(&mut self, name: &str, change: Change<'_>) -> Option<Json> {
        let text = text_in(&self.ours, name)?;
        if !matches!(editing::ours(&text, change), Edited::Failed("FS_EDIT_NOT_FOUND")) {
            return None;
        }
        match editing::looked_past(&text, change)? {
            LookedPast::Once { before, .. } if change.old.is_empty() || before.is_empty() => None,
            LookedPast::Once { before, after } => {
                // What exactly the file has then is not told here.
                self.ours.insert(name.to_owned(), Entry::Dir);
                let value = object! { "before": before, AFTER_FOLDED: after };
                Some(self.changed(LOOKS_PAST, object! { "isError": false, "value": value }))
            }
            LookedPast::Often => Some(self.changed(LOOKS_PAST, failed("FS_AMBIGUOUS_EDIT"))),
        }
    }

    fn edit_utf16(&mut self, name: &str, change: Change<'_>) -> Option<Json> {
        let Some(Entry::File(bytes)) = self.ours.get(name) else { return None };
        let file = editing::utf16(bytes)?;
        let result = match editing::ours(&file.text, change) {
            Edited::Failed(code) => failed(code),
            Edited::Done { before, after, file: text } => {
                self.ours.insert(name.to_owned(), Entry::File(file.store(&text)));
                object! { "isError": false, "value": object! { "path": format!("$DIR/{name}"), "before": before, "after": after } }
            }
        };
        Some(self.changed(UTF16, result))
    }

    fn changed(&mut self, by: &'static str, result: Json) -> Json {
        self.changed_by.push(by);
        result
    }

    /// The files that were asked about, as we leave them.
    fn files_after(&self, recorded: &Object) -> Object {
        let mut after = Object::new();
        for (name, content) in recorded {
            let (theirs, ours) = (self.theirs.get(&**name), self.ours.get(&**name));
            let explained = entry(name, content).is_ok_and(|entry| theirs == Some(&entry));
            match ours {
                Some(Entry::File(bytes)) if explained && theirs != ours => {
                    after.insert(name.clone(), written(bytes));
                }
                Some(Entry::Dir) if explained && theirs != ours => {}
                _ => {
                    after.insert(name.clone(), content.clone());
                }
            }
        }
        after
    }

    /// The name of the file that a path leads to; nothing, when it leads out of the directory.
    fn name_of(&self, path: &str) -> Option<String> {
        let mut name = inside(path)?;
        for _ in 0..8 {
            let Some(Entry::Link(to)) = self.ours.get(&name) else { break };
            let beside = name.rsplit_once('/').map_or("", |(folder, _)| folder);
            let is_whole = to.starts_with('/') || to.starts_with("$DIR");
            let next = inside(&if is_whole { to.clone() } else { format!("$DIR/{beside}/{to}") })?;
            // A link to nothing is written in its own place.
            if !self.ours.contains_key(&next) {
                break;
            }
            name = next;
        }
        Some(name)
    }
}

/// A path as a name below the directory, by its spelling alone.
fn inside(path: &str) -> Option<String> {
    let relative = match path.strip_prefix("$DIR") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        Some(_) | None if path.starts_with('/') => return None,
        Some(_) | None => path,
    };
    let mut parts = Vec::new();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn text_in(files: &Tree, name: &str) -> Option<String> {
    let Some(Entry::File(bytes)) = files.get(name) else { return None };
    String::from_utf8(bytes.clone()).ok()
}

fn change_of(arguments: &Json) -> Option<Change<'_>> {
    let text = |name| arguments.get(name).and_then(Json::as_str);
    let all = arguments.get("replace_all").and_then(Json::as_bool).unwrap_or(false);
    Some(Change { old: text("old_string")?, new: text("new_string")?, all })
}

/// Whether a recorded value is this one, or its digest.
fn is_told(recorded: &Json, value: &Json) -> bool {
    recorded.get("$sha256_of_json").map_or(recorded == value, |digest| *digest == digest_of(value))
}

fn failed(code: &str) -> Json {
    object! { "isError": true, "error": object! { "code": code } }
}
