//! A program of `fixtures/programs/hostile` with what its head says about it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use dsh_code_runtime::wire::Call;
use dsh_code_runtime::{CallEnd, Failure, FailureKind, Isolation, Limits, Outcome};
use dsh_json::Json;

/// One program.
///
/// Its head is lines of comment: what it attempts, and then, in this order,
///
/// ```text
/// // kind: timeout                 or value: JSON; "kind thread", "kind process" where the places differ
/// // says: maxComputeMs            a part of the failure's message
/// // prints: ["x"]                what it prints, if that is looked at
/// // calls: 2 echo, 1 fail         what the host hears; nothing without it
/// // limits: maxComputeMs=100      where they differ from `small`
/// // place: both                   or process: what the engine can't be interrupted in, or what ends it
/// // FIXME: the right end is …     where the end is wrong, and known to be
/// ```
pub(crate) struct Fixture {
    /// The file's name without its extension. It begins with the class.
    pub(crate) name: String,
    /// What it attempts, in a sentence or two.
    pub(crate) what: String,
    pub(crate) text: String,
    pub(crate) limits: Limits,
    /// How it ends, in each place where it is run.
    pub(crate) ends: BTreeMap<&'static str, End>,
    /// Whether it is known to end wrongly.
    pub(crate) fixme: bool,
    says: String,
    prints: Option<Json>,
    calls: String,
}

/// How a run ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum End {
    Failed(FailureKind),
    Value(Json),
}

/// What programs may use here, if they don't say otherwise. The wall clock is not what ends a busy program, also on a busy
/// machine.
fn small() -> Limits {
    Limits {
        max_wall: Duration::from_secs(20),
        max_compute: Duration::from_millis(250),
        max_memory_bytes: 16 << 20,
        max_output_bytes: 64 << 10,
        max_sub_calls: 20,
        max_in_flight_bytes: 256 << 10,
    }
}

impl Fixture {
    /// All of them, by name.
    pub(crate) fn all() -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/programs/hostile");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let mut all: Vec<_> = files.map(|file| Self::read(&file)).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// The word in front of the name's first dash.
    pub(crate) fn class(&self) -> &str {
        self.name.split('-').next().unwrap()
    }

    fn read(file: &Path) -> Self {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(file).unwrap();
        let head = text.lines().map_while(|line| line.strip_prefix("// "));
        let (facts, words): (Vec<_>, Vec<_>) = head.partition(|line| {
            ["kind", "says", "prints", "calls", "limits", "place", "FIXME"]
                .contains(&line.split([':', ' ']).next().unwrap())
        });
        let mut facts: BTreeMap<_, _> = facts
            .into_iter()
            .map(|fact| fact.split_once(": ").unwrap_or_else(|| panic!("{name}: {fact}")))
            .collect();
        let kind = facts.remove("kind");
        let mut end = |place, fact| {
            let end = facts.remove(fact).or(kind).unwrap_or_else(|| panic!("{name}: no kind"));
            (place, End::read(&name, end))
        };
        let (thread, process) =
            (end(Isolation::Thread.name(), "kind thread"), end(Isolation::Process.name(), "kind process"));
        let ends = match facts.remove("place") {
            Some("both") => BTreeMap::from([thread, process]),
            Some("process") => BTreeMap::from([process]),
            place => panic!("{name}: place {place:?}"),
        };
        let (says, calls) = (facts.remove("says"), facts.remove("calls"));
        let prints = facts.remove("prints").map(|prints| json(&name, prints));
        let fixme = facts.remove("FIXME").is_some();
        let mut limits = small();
        for limit in facts.remove("limits").unwrap_or_default().split(", ").filter(|limit| !limit.is_empty())
        {
            let (limit, number) = limit.split_once('=').unwrap_or_else(|| panic!("{name}: {limit}"));
            set(&mut limits, limit, number.parse().unwrap_or_else(|_| panic!("{name}: {limit}")));
        }
        assert!(facts.is_empty() && !words.is_empty(), "{name}: {facts:?}");
        Self {
            what: words.join(" "),
            limits,
            ends,
            fixme,
            says: says.unwrap_or_default().to_owned(),
            prints,
            calls: calls.unwrap_or_default().to_owned(),
            text,
            name,
        }
    }

    /// What is wrong with how it ended there.
    pub(crate) fn wrong(&self, place: Isolation, outcome: &Outcome) -> Option<String> {
        let expected = self.ends.get(place.name())?;
        let right = match (&outcome.result, expected) {
            (Ok(value), End::Value(expected)) => value.as_ref().unwrap_or(&Json::Null) == expected,
            (Err(Failure { kind, message }), End::Failed(expected)) => {
                kind == expected && message.contains(&self.says)
            }
            (Ok(_) | Err(_), End::Value(_) | End::Failed(_)) => false,
        };
        if !right {
            return Some(format!("ends with {:?} instead of {expected:?} {}", outcome.result, self.says));
        }
        let printed = outcome.logs.iter().map(String::as_str).collect::<Json>();
        let expected = self.prints.as_ref().filter(|prints| **prints != printed);
        expected.map(|expected| format!("prints {printed} instead of {expected}"))
    }

    /// What is wrong with what the host heard: it is what the program did, and nothing else.
    pub(crate) fn misheard(&self, heard: &[Call], outcome: &Outcome) -> Option<String> {
        let told: Vec<_> = heard.iter().map(|call| (call.id, &call.namespace, &call.name)).collect();
        let made = outcome.calls.iter().filter(|call| call.end != CallEnd::NotStarted);
        let made: Vec<_> = made.map(|call| (call.id, &call.namespace, &call.name)).collect();
        if told != made {
            return Some(format!("the host heard {told:?}, the record has {made:?}"));
        }
        let mut counts = BTreeMap::<&str, usize>::new();
        for call in heard {
            *counts.entry(&call.name).or_default() += 1;
        }
        let right = if let Some(most) = self.calls.strip_prefix("at most ") {
            let (most, name) = most.split_once(' ').unwrap();
            counts
                .into_iter()
                .all(|(called, count)| called == name && count <= most.parse::<usize>().unwrap())
        } else {
            let counts = counts.into_iter().map(|(name, count)| format!("{count} {name}"));
            counts.collect::<Vec<_>>().join(", ") == self.calls
        };
        (!right).then(|| format!("the host heard {told:?} instead of {:?}", self.calls))
    }
}

impl End {
    fn read(name: &str, text: &str) -> Self {
        if let Some(value) = text.strip_prefix("value: ") {
            return Self::Value(json(name, value));
        }
        let kind = FailureKind::named(text);
        Self::Failed(kind.unwrap_or_else(|| panic!("{name}: there is no kind {text}")))
    }
}

fn json(name: &str, text: &str) -> Json {
    Json::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn set(limits: &mut Limits, name: &str, number: u64) {
    let size = || usize::try_from(number).unwrap();
    match name {
        "maxWallMs" => limits.max_wall = Duration::from_millis(number),
        "maxComputeMs" => limits.max_compute = Duration::from_millis(number),
        "maxMemoryBytes" => limits.max_memory_bytes = size(),
        "maxOutputBytes" => limits.max_output_bytes = size(),
        "maxSubCalls" => limits.max_sub_calls = number,
        "maxInFlightBytes" => limits.max_in_flight_bytes = size(),
        _ => panic!("there is no limit {name}"),
    }
}
