//! Display paths: kept as steps while a walk goes down, rendered only for a violation.

use std::fmt::Write as _;

/// One step below a root.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'a> {
    /// A member: `.name`, or `name` where nothing precedes it.
    Key(&'a str),
    /// An element: `[3]`.
    Index(usize),
}

/// A root label and the steps below it.
#[derive(Debug)]
pub(crate) struct Path<'a> {
    root: &'a str,
    steps: Vec<Step<'a>>,
}

impl<'a> Path<'a> {
    pub(crate) fn new(root: &'a str) -> Self {
        Self { root, steps: Vec::new() }
    }

    /// The number of steps, to come back to with [`Path::truncate`].
    pub(crate) fn depth(&self) -> usize {
        self.steps.len()
    }

    pub(crate) fn truncate(&mut self, depth: usize) {
        self.steps.truncate(depth);
    }

    pub(crate) fn push(&mut self, step: Step<'a>) {
        self.steps.push(step);
    }

    /// The path as spec 04 writes it; nothing is escaped.
    pub(crate) fn render(&self) -> String {
        let mut text = self.root.to_owned();
        for step in &self.steps {
            append(&mut text, *step);
        }
        text
    }

    /// The path of a member that need not exist.
    pub(crate) fn render_member(&self, key: &str) -> String {
        let mut text = self.render();
        append(&mut text, Step::Key(key));
        text
    }
}

fn append(text: &mut String, step: Step<'_>) {
    match step {
        Step::Key(key) => {
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(key);
        }
        Step::Index(index) => {
            // Writing into a string can't fail.
            let _ = write!(text, "[{index}]");
        }
    }
}
