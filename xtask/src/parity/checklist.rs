//! The numbered items of the checklists in a page of the specification.

/// One item.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// The number of the section: `15`, `B.4`.
    pub(super) section: String,
    /// Its number; the last one where one item stands for several.
    pub(super) number: usize,
    /// Its first line.
    pub(super) text: String,
}

impl Item {
    /// Whether the item begins with these words.
    pub(super) fn begins_with(&self, words: &str) -> bool {
        !words.is_empty() && self.text.starts_with(words)
    }
}

/// The items of each section whose heading speaks of a checklist.
///
/// Items are numbered through the section, in order, one a line or several: `3. `, `5–7. `, or `(47–60)` for the rows
/// of a table elsewhere.
pub(super) fn items(page: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((level, heading)) = heading(line) else { continue };
        if !heading.to_lowercase().contains("checklist") {
            continue;
        }
        let section = heading.split_whitespace().next().unwrap_or_default().trim_end_matches('.');
        let mut body = String::new();
        while let Some(line) =
            lines.next_if(|line| self::heading(line).is_none_or(|(inner, _)| inner > level))
        {
            body.push_str(line);
            body.push('\n');
        }
        items.extend(numbered(&body).into_iter().map(|(number, text)| Item {
            section: section.to_owned(),
            number,
            text,
        }));
    }
    items
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    (level > 0 && text.starts_with(' ')).then(|| (level, text.trim()))
}

fn numbered(body: &str) -> Vec<(usize, String)> {
    let mut starts: Vec<(usize, usize, usize)> = Vec::new(); // number, mark, text
    let (mut next, mut from) = (1, 0);
    while let Some((last, mark, text)) = mark(body, from, next) {
        starts.push((last, mark, text));
        (next, from) = (last + 1, text);
    }
    let ends = starts.iter().skip(1).map(|(_, mark, _)| *mark).chain([body.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|((number, _, text), end)| {
            let item = body.get(*text..end).unwrap_or_default();
            (*number, item.lines().next().unwrap_or_default().trim().to_owned())
        })
        .collect()
}

/// The first mark of item `number` behind `from`: the last number that it stands for, where the mark begins, and where
/// the text does.
fn mark(body: &str, from: usize, number: usize) -> Option<(usize, usize, usize)> {
    let digits = number.to_string();
    body.get(from..)?.match_indices(&digits).find_map(|(at, _)| {
        let at = from + at;
        let (before, after) = (body.get(..at)?, body.get(at + digits.len()..)?);
        let in_parentheses = before.ends_with('(');
        let before = before.strip_suffix('(').unwrap_or(before);
        if !before.is_empty() && !before.ends_with([' ', '\n']) {
            return None;
        }
        let (last, after) = match after.strip_prefix('–') {
            Some(range) => {
                let rest = range.trim_start_matches(|c: char| c.is_ascii_digit());
                (range.get(..range.len() - rest.len())?.parse().ok()?, rest)
            }
            None => (number, after),
        };
        let text = match after.strip_prefix(". ") {
            Some(text) if !in_parentheses => text,
            None if in_parentheses && after.starts_with(')') && last > number => after,
            Some(_) | None => return None,
        };
        // The rows of a table are told by the words before their numbers.
        Some((last, before.len(), body.len() - text.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::items;

    #[track_caller]
    fn check(page: &str, expected: &[&str]) {
        let found: Vec<String> = items(page)
            .iter()
            .map(|item| format!("{} {} {}", item.section, item.number, item.text))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn items_stand_one_a_line_or_several() {
        check(
            "## 3. Rules\n1. No.\n## 4. Checklist (all)\nGroup\n1. One.\n2. Two 4. times. 3. Three\nmore.\n\n## 5. Rest\n4. No.\n",
            &["4 1 One.", "4 2 Two 4. times.", "4 3 Three"],
        );
    }

    #[test]
    fn a_section_may_have_parts_and_a_page_several_sections() {
        check(
            "### B.4 Checklist\n1. One.\n### C.6 Checklist\n#### Part\n1. A.\n#### Part\n2. B.\n# D\n3. No.\n",
            &["B.4 1 One.", "C.6 1 A.", "C.6 2 B."],
        );
    }

    #[test]
    fn a_range_has_the_number_of_its_last() {
        check(
            "## F. Checklist\n1. One. 2–3. Two.\nThe rows of §7 (4–6), plus:\n7. Seven.\n",
            &["F 1 One.", "F 3 Two.", "F 6 ), plus:", "F 7 Seven."],
        );
    }

    #[test]
    fn numbers_in_the_text_are_no_items() {
        check(
            "## 1. Checklist\n1. At 2.5 or (2) or v2. 0.\n3. Three.\n2. Two.\n",
            &["1 1 At 2.5 or (2) or v2. 0.", "1 2 Two."],
        );
    }
}
