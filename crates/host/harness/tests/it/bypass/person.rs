//! Somebody who answers, by a script.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dsh_approval_policy::ApprovalPolicy;
use dsh_tools_core::Approval;
use dsh_user_approval::{Answer, AnswerError, Answerer, Question};
use parking_lot::Mutex;

use super::tally::Tally;

/// What is said to one question.
#[derive(Clone)]
pub(crate) enum Said {
    Yes,
    No,
    /// No, and no more questions.
    Never,
    /// Yes, and no more questions.
    YesAndNever,
    /// Yes, after so many milliseconds.
    YesAfter(u64),
    /// Nothing: somebody else is asked.
    Passes,
    /// Nothing, ever.
    Hangs,
    Panics,
    Fails,
    /// Something happens while the question is open, and then this is said.
    Meanwhile(Arc<dyn Fn(&Question) + Send + Sync>, Box<Said>),
}

impl Said {
    pub(crate) fn meanwhile(what: impl Fn(&Question) + Send + Sync + 'static, then: Self) -> Self {
        Self::Meanwhile(Arc::new(what), Box::new(then))
    }
}

/// A person: says what the script says, to one question after the other, and then no. What is granted is counted.
pub(crate) struct Person {
    tally: Arc<Tally>,
    script: Mutex<VecDeque<Said>>,
}

impl Person {
    pub(crate) fn new(tally: &Arc<Tally>, script: impl IntoIterator<Item = Said>) -> Arc<Self> {
        Arc::new(Self { tally: Arc::clone(tally), script: Mutex::new(script.into_iter().collect()) })
    }

    fn yes(&self, question: &Question) -> Approval {
        if let Some(call) = &question.call {
            self.tally.granted(&call.name, &call.arguments);
        }
        Approval::AllowedOnce
    }
}

#[async_trait]
impl Answerer for Person {
    fn name(&self) -> &'static str {
        "person"
    }

    async fn answer(&self, question: &Question) -> Result<Option<Answer>, AnswerError> {
        self.tally.asked();
        let mut said = self.script.lock().pop_front().unwrap_or(Said::No);
        while let Said::Meanwhile(what, then) = said {
            what(question);
            said = *then;
        }
        Ok(Some(match said {
            Said::Yes => self.yes(question).into(),
            Said::No => Approval::Rejected.into(),
            Said::Never => Answer::NEVER,
            Said::YesAndNever => Answer { outcome: self.yes(question), policy: Some(ApprovalPolicy::Never) },
            Said::YesAfter(ms) => {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                self.yes(question).into()
            }
            Said::Hangs => pending().await,
            Said::Panics => panic!("the terminal is gone"),
            Said::Fails => return Err("the line is down".into()),
            Said::Passes | Said::Meanwhile(..) => return Ok(None),
        }))
    }
}
