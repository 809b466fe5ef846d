//! `dsh verify`: whether a session log is sound.

use std::path::Path;

use anyhow::anyhow;
use dsh_json::{Json, Object};
use dsh_session::{Verdict, Vocabulary};
use dsh_session_jsonl::{Contents, ReadError, Tail, read};

use crate::cards::sheet::escaped;
use crate::cli::Global;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::setup::Needs;

/// Checks the file, its events and how they belong together.
pub(crate) fn verify(global: &Global, file: &Path) -> Result<(), Failure> {
    let harness = global.harness(Needs::Tools)?;
    let findings = Findings::of(file, &harness.host().vocabulary())?;
    if global.json {
        output::line(&findings.to_json().to_text())?;
    } else {
        output::text(&escaped(&findings.describe()))?;
    }
    match findings.advice() {
        None => Ok(()),
        Some(advice) => Err(Failure::new(Exit::Log, anyhow!("{} is not sound; {advice}", file.display()))),
    }
}

struct Findings {
    events: u64,
    turns: u64,
    open_turn: Option<u32>,
    /// None where the file is another program's.
    tail: Option<Tail>,
    problems: Vec<Problem>,
    more: u64,
}

struct Problem {
    /// `event` or `line`, and which.
    place: Option<(&'static str, u64)>,
    message: String,
}

impl Findings {
    fn of(file: &Path, vocabulary: &Vocabulary) -> Result<Self, Failure> {
        match read(file) {
            Ok(contents) => Ok(Self::of_contents(&contents, vocabulary)),
            Err(ReadError::Io(error)) => Err(ReadError::Io(error).into()),
            Err(error @ (ReadError::NotALog { .. } | ReadError::Header { .. })) => {
                Ok(Self::foreign(Problem { place: None, message: error.to_string() }))
            }
            Err(ReadError::Line { line, problem, .. }) => {
                let message = format!("whole, and not an event: {problem}");
                Ok(Self::foreign(Problem { place: Some(("line", line)), message }))
            }
        }
    }

    fn foreign(problem: Problem) -> Self {
        Self { events: 0, turns: 0, open_turn: None, tail: None, problems: vec![problem], more: 0 }
    }

    fn of_contents(contents: &Contents, vocabulary: &Vocabulary) -> Self {
        let Contents { header, events, tail } = contents;
        let mut findings = Self {
            events: events.len() as u64,
            turns: 0,
            open_turn: None,
            tail: Some(*tail),
            problems: Vec::new(),
            more: 0,
        };
        if let Some(header) = header {
            let Verdict { turns, open_turn, problems, more, .. } =
                dsh_session::verify(header, events, vocabulary);
            let problem = |problem: dsh_session::Problem| Problem {
                place: Some(("event", problem.seq)),
                message: problem.what.to_string(),
            };
            findings.problems = problems.into_iter().map(problem).collect();
            (findings.turns, findings.open_turn, findings.more) = (turns, open_turn, more);
        } else {
            findings
                .problems
                .push(Problem { place: Some(("line", 1)), message: "the header is missing".to_owned() });
        }
        findings.problems.extend(problem_of(*tail));
        findings
    }

    /// What to do, if anything is wrong.
    fn advice(&self) -> Option<&'static str> {
        if self.problems.is_empty() {
            return None;
        }
        Some(match self.tail {
            None => "it was not written by this program",
            Some(Tail::Torn { .. } | Tail::Damaged { .. }) => {
                "`dsh repair` cuts the bad end off and keeps it beside the file"
            }
            Some(Tail::Clean) => "its lines are whole, so `dsh repair` has no remedy for what they say",
        })
    }

    fn to_json(&self) -> Json {
        let mut found = Object::new();
        found.insert("ok", self.problems.is_empty());
        found.insert("events", self.events);
        found.insert("turns", self.turns);
        found.insert(
            "tail",
            match self.tail {
                Some(Tail::Clean) => "clean",
                Some(Tail::Torn { .. }) => "torn",
                Some(Tail::Damaged { .. }) | None => "damaged",
            },
        );
        if let Some(turn) = self.open_turn {
            found.insert("openTurn", turn);
        }
        found.insert("problems", self.problems.iter().map(Problem::to_json).collect::<Vec<Json>>());
        if self.more > 0 {
            found.insert("moreProblems", self.more);
        }
        found.into()
    }

    fn describe(&self) -> String {
        let word = if self.problems.is_empty() { "ok" } else { "not ok" };
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let (events, turns) = (self.events, self.turns);
        let mut lines =
            vec![format!("{word}: {events} event{}, {turns} turn{}", plural(events), plural(turns))];
        if let Some(turn) = self.open_turn {
            lines
                .push(format!("turn {turn} is open; it is closed when the session is continued or repaired"));
        }
        lines.extend(self.problems.iter().map(|problem| match problem.place {
            Some((what, number)) => format!("{what} {number}: {}", problem.message),
            None => problem.message.clone(),
        }));
        if self.more > 0 {
            lines.push(format!("and {} more", self.more));
        }
        lines.join("\n") + "\n"
    }
}

impl Problem {
    fn to_json(&self) -> Json {
        let mut problem = Object::new();
        if let Some((what, number)) = self.place {
            problem.insert(what, number);
        }
        problem.insert("message", &*self.message);
        problem.into()
    }
}

fn problem_of(tail: Tail) -> Option<Problem> {
    match tail {
        Tail::Clean => None,
        Tail::Torn { offset, bytes } => Some(Problem {
            place: None,
            message: format!("torn at byte {offset}: the last {bytes} bytes are a piece of a line"),
        }),
        Tail::Damaged { line, offset, later_valid } => Some(Problem {
            place: Some(("line", line)),
            message: format!("damaged at byte {offset}; {later_valid} good lines from there on"),
        }),
    }
}
