//! Who answers when a call needs approval (spec 12 §1, `--approve`).

mod keyboard;
mod terminal;

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use async_trait::async_trait;
use clap::ValueEnum;
use dsh_tools_core::Approval;
use dsh_user_approval::{Answer, AnswerError, Answerer, Question};

use terminal::Terminal;

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Approve {
    /// Whoever sits at the terminal.
    Ask,
    /// Nobody is asked; every call is allowed, once each.
    Yes,
    /// Nobody is asked; every call is refused.
    No,
}

impl Approve {
    /// Who answers where nothing is said: a terminal that can show the question and read the answer, else nobody.
    pub(crate) fn usual() -> Arc<dyn Answerer> {
        if io::stdin().is_terminal() && io::stderr().is_terminal() {
            return Self::Ask.answerer();
        }
        Arc::new(Always { name: "no terminal", says: Approval::Rejected })
    }

    pub(crate) fn answerer(self) -> Arc<dyn Answerer> {
        match self {
            Self::Ask => Arc::new(Terminal::new()),
            Self::Yes => Arc::new(Always { name: "--approve yes", says: Approval::AllowedOnce }),
            Self::No => Arc::new(Always { name: "--approve no", says: Approval::Rejected }),
        }
    }
}

/// Says the same to every question.
struct Always {
    name: &'static str,
    says: Approval,
}

#[async_trait]
impl Answerer for Always {
    fn name(&self) -> &'static str {
        self.name
    }

    fn may_allow(&self) -> bool {
        self.says == Approval::AllowedOnce
    }

    async fn answer(&self, _: &Question) -> Result<Option<Answer>, AnswerError> {
        Ok(Some(self.says.into()))
    }
}
