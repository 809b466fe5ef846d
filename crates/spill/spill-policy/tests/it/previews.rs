//! What holds for any text and any cap.

use dsh_llm::text;

use crate::log::record;
use crate::scene::{Scene, only_text};

/// Numbers that look like chance and are the same each time.
pub(crate) struct Chance(pub(crate) u64);

const PIECES: [&str; 8] = ["a", "é", "€", "😀", "\n", "\r\n", "line\n", " "];

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    /// A text of lines, long and short, of characters of any width.
    pub(crate) fn text(&mut self) -> String {
        let (mut out, longest) = (String::new(), 1 + self.below(60));
        for _ in 0..self.below(24) {
            let piece = PIECES.get(self.below(PIECES.len())).unwrap();
            for _ in 0..=self.below(longest) {
                out.push_str(piece);
            }
        }
        out
    }
}

/// The parts of what is shown: head, tail, and how many bytes and lines are said to be left out.
fn parts(shown: &str) -> (&str, &str, usize, usize) {
    let at = shown.rfind("\n(").map_or(0, |at| at + 1);
    let (before, notice) = shown.split_at(at);
    let omitted: usize = notice[1..].split(' ').next().unwrap().parse().unwrap();
    let Some(at) = before.find("[... ") else {
        assert_eq!(before, "");
        return ("", "", omitted, 0);
    };
    let (head, rest) = before.split_at(at);
    let (elision, tail) = rest.split_once('\n').unwrap();
    let mut numbers = elision.split(' ').filter_map(|word| word.parse::<usize>().ok());
    assert_eq!(numbers.next(), Some(omitted), "both say the same");
    let lines = numbers.next().unwrap();
    (head, tail, omitted, lines)
}

/// What is shown of a part: with the end of its last line, where it has none.
fn ended(part: &str) -> String {
    let end = if part.is_empty() || part.ends_with('\n') { "" } else { "\n" };
    format!("{part}{end}")
}

/// The notice that stands alone, where a program's call has nothing else to show.
fn notice(bytes: usize) -> String {
    let stored = "The whole result of the tool is stored at mem:c1:code:1. Ask for it.";
    format!("({bytes} of {bytes} bytes are not shown. {stored})")
}

#[tokio::test]
async fn any_text_is_shown_within_any_cap_and_counted_to_the_byte() {
    const ROUNDS: usize = 100_000;
    const CAPS: usize = 400;
    let (mut chance, mut cut, mut given_up, mut alone) = (Chance(7), 0, 0, 0);
    for cap in 0..CAPS {
        let mut scene = Scene::capped(cap);
        let mut dispatch = record(&mut scene, "t", text(""), true).await;
        for _ in 0..ROUNDS / CAPS {
            let whole = chance.text();
            dispatch.content = text(whole.as_str());
            let shown = only_text(&scene.tools.kept_of(&dispatch).await);
            let saved = scene.shelf.take();
            if shown == whole {
                assert!(saved.is_empty(), "nothing is stored that is not told of");
                assert!(
                    whole.len() <= cap || cap < notice(whole.len()).len(),
                    "the notice fits: {cap} {whole}"
                );
                given_up += usize::from(whole.len() > cap);
                continue;
            }
            assert!(whole.len() > cap && shown.len() <= cap, "{cap} {shown}");
            assert!(saved.len() == 1 && *saved[0].content == *whole);
            assert!(shown.contains(&format!(" of {} bytes are not shown", whole.len())), "{shown}");
            let (head, tail, omitted, lines) = parts(&shown);
            // Before the notice is a blank line.
            let tail = tail.strip_suffix('\n').unwrap_or(tail);
            let kept = if whole.ends_with('\n') { tail.len() } else { tail.trim_end_matches('\n').len() };
            let gap = whole.len() - kept - omitted..whole.len() - kept;
            assert_eq!(head, ended(&whole[..gap.start]), "{cap} {shown}");
            assert_eq!(tail, ended(&whole[gap.end..]), "{cap} {shown}");
            if head.is_empty() && tail.is_empty() {
                alone += 1;
                continue;
            }
            assert_eq!(whole[gap].lines().count(), lines, "{cap} {shown}");
            cut += 1;
        }
        scene.warned();
    }
    assert!(cut > 10_000 && given_up > 10_000 && alone > 5_000, "{cut} {given_up} {alone}");
}

#[tokio::test]
async fn characters_of_any_width_are_cut_at_none_of_their_bytes() {
    for character in ["é", "€", "😀"] {
        let whole = character.repeat(300);
        for cap in 150..300 {
            let mut scene = Scene::capped(cap);
            let shown = scene.says(&whole).await;
            assert!(shown.len() <= cap && !shown.contains('\u{fffd}'), "{cap} {shown}");
        }
    }
}
