//! The part of a text that is most like one that is not there. Takes linear time.

use std::collections::HashMap;
use std::fmt;

use super::fold::{is_blank, keyboard};

/// Lines of the excerpt.
const SHOWN_LINES: usize = 6;
/// Characters of a shown line.
const SHOWN_CHARS: usize = 160;
/// Bytes of a line that are compared.
const COMPARED: usize = 512;
/// Two lines are alike from this share of common pairs of letters on, in hundredths.
const ALIKE: usize = 60;

/// Lines that are like the old text, and how they differ from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    first: usize,
    last: usize,
    differs_at: usize,
    how: How,
    excerpt: Vec<(usize, String)>,
}

/// In what the first line that differs does so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Blanks,
    Case,
    Typography,
    Returns,
    Words,
    /// Line by line nothing differs: more or less of a line was meant.
    Extent,
}

/// The lines of `plain` that are most like `old`; `None` where nothing is.
pub(super) fn nearest(plain: &str, old: &str) -> Option<Near> {
    let wanted: Vec<&str> = old.strip_suffix('\n').unwrap_or(old).split('\n').collect();
    let start = by_equal_lines(plain, &wanted).or_else(|| by_likeness(plain, &wanted))?;
    let found: Vec<&str> = plain.split('\n').skip(start).take(wanted.len()).collect();
    let differs = found.iter().zip(&wanted).position(|(found, wanted)| found != wanted);
    let differs = differs.unwrap_or(found.len().min(wanted.len()).saturating_sub(1));
    let how = how(found.get(differs).unwrap_or(&""), wanted.get(differs).unwrap_or(&""));
    let from = differs.saturating_sub(1);
    let excerpt = found.iter().enumerate().skip(from).take(SHOWN_LINES);
    Some(Near {
        first: start + 1,
        last: start + found.len(),
        differs_at: start + differs + 1,
        how,
        excerpt: excerpt.map(|(at, line)| (start + at + 1, shown(line))).collect(),
    })
}

/// Where the old text would begin by most of the lines that it has in common with the text, blanks aside.
fn by_equal_lines(plain: &str, wanted: &[&str]) -> Option<usize> {
    let mut places: HashMap<String, Option<usize>> = HashMap::new();
    for (at, line) in wanted.iter().enumerate() {
        let key = bare(line);
        if key.len() > 2 {
            // A line that occurs twice in the old text does not tell where.
            places.entry(key).and_modify(|place| *place = None).or_insert(Some(at));
        }
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (number, line) in plain.split('\n').enumerate() {
        if let Some(Some(at)) = places.get(&bare(line))
            && let Some(start) = number.checked_sub(*at)
        {
            *votes.entry(start).or_default() += line.len().min(COMPARED);
        }
    }
    // The first of the best, whatever the order of the map.
    votes.into_iter().max_by_key(|(start, votes)| (*votes, std::cmp::Reverse(*start))).map(|(start, _)| start)
}

/// The same by the line that is most like the longest line of the old text.
fn by_likeness(plain: &str, wanted: &[&str]) -> Option<usize> {
    let (at, longest) = wanted.iter().enumerate().max_by_key(|(at, line)| (line.len(), usize::MAX - at))?;
    let of_old = Pairs::of(longest);
    let mut best = None;
    for (number, line) in plain.split('\n').enumerate() {
        let score = of_old.likeness(line);
        if score >= ALIKE && best.is_none_or(|(_, most)| score > most) {
            best = Some((number, score));
        }
    }
    best.map(|(number, _)| number.saturating_sub(at))
}

/// The pairs of neighbouring letters of a line, as a set of 4,096 bits.
struct Pairs {
    bits: [u64; 64],
    count: usize,
}

impl Pairs {
    fn of(line: &str) -> Self {
        let mut pairs = Self { bits: [0; 64], count: 0 };
        for pair in pairs_of(line) {
            pairs.count += 1;
            if let Some(word) = pairs.bits.get_mut(pair / 64) {
                *word |= 1 << (pair % 64);
            }
        }
        pairs
    }

    /// Twice the common pairs for each of both, in hundredths.
    fn likeness(&self, line: &str) -> usize {
        let (mut common, mut count) = (0, 0);
        for pair in pairs_of(line) {
            count += 1;
            common +=
                usize::from(self.bits.get(pair / 64).is_some_and(|word| word & (1 << (pair % 64)) != 0));
        }
        (200 * common.min(self.count)).checked_div(self.count + count).unwrap_or(0)
    }
}

fn pairs_of(line: &str) -> impl Iterator<Item = usize> + '_ {
    let bytes = line.trim().as_bytes();
    let head = bytes.get(..COMPARED.min(bytes.len())).unwrap_or_default();
    head.windows(2).map(|pair| {
        let byte = |at: usize| usize::from(pair.get(at).copied().unwrap_or(0).to_ascii_lowercase());
        (byte(0) * 67 + byte(1)) % 4096
    })
}

/// A line without any blanks, as far as it is compared.
fn bare(line: &str) -> String {
    let head = line.get(..line.floor_char_boundary(COMPARED)).unwrap_or(line);
    head.chars().filter(|char| !is_blank(*char) && *char != '\r').map(keyboard).collect()
}

fn how(found: &str, wanted: &str) -> How {
    let blankless = |text: &str| text.chars().filter(|char| !is_blank(*char)).collect::<String>();
    let typed = |text: &str| text.chars().map(keyboard).collect::<String>();
    let plain = |text: &str| text.replace('\r', "");
    if found == wanted {
        How::Extent
    } else if plain(found) == plain(wanted) {
        How::Returns
    } else if blankless(found) == blankless(wanted) {
        How::Blanks
    } else if typed(found) == typed(wanted) {
        How::Typography
    } else if found.to_lowercase() == wanted.to_lowercase() {
        How::Case
    } else {
        How::Words
    }
}

/// A line of the excerpt: cut where it is long, with its control characters visible.
fn shown(line: &str) -> String {
    let mut text = String::new();
    for char in line.chars().take(SHOWN_CHARS) {
        if char.is_control() && char != '\t' {
            text.extend(char.escape_default());
        } else {
            text.push(char);
        }
    }
    if line.chars().nth(SHOWN_CHARS).is_some() {
        text.push('…');
    }
    text
}

impl fmt::Display for Near {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "Most like it is line {}, which differs in its ", self.first)?;
        } else {
            write!(
                f,
                "Most like it are lines {}-{}; line {} differs in its ",
                self.first, self.last, self.differs_at
            )?;
        }
        f.write_str(match self.how {
            How::Blanks => "spaces or tabs",
            How::Case => "upper and lower case",
            How::Typography => "quotes, dashes or special spaces",
            How::Returns => "carriage returns",
            How::Words => "words",
            How::Extent => "end",
        })?;
        f.write_str(". Copy the text to replace exactly, without the numbers:")?;
        for (number, line) in &self.excerpt {
            write!(f, "\n{number}: {line}")?;
        }
        Ok(())
    }
}
