//! From the global options to a harness.

use std::path::Path;
use std::sync::Arc;

use dsh_harness::{ConfigText, Environment, Harness, ModelChoice, SessionChoice};
use dsh_tools_core::Presentation;
use dsh_user_approval::Answerer;

use crate::approval::Approve;
use crate::cli::Global;
use crate::exit::Failure;

/// Whether a command talks to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// The one that is configured or asked for.
    Model,
    /// Tools and event types only: a configured model that can't be had is no obstacle.
    Tools,
    /// The same, for calls that no model makes.
    Calls,
    /// The same, and programs that call the tools, whatever the model would be shown.
    Programs,
}

impl Global {
    /// The harness that these options ask for.
    pub(crate) fn harness(&self, needs: Needs) -> Result<Harness, Failure> {
        self.harness_with(needs, self.approve.map_or_else(Approve::usual, Approve::answerer))
    }

    /// The same, with somebody else to answer questions about calls.
    pub(crate) fn harness_with(&self, needs: Needs, answerer: Arc<dyn Answerer>) -> Result<Harness, Failure> {
        let environment = self.environment()?;
        let model = match (&self.model, needs) {
            (Some(model), _) => Some(model.clone().based(&environment, Path::new(""))),
            (None, Needs::Model) => None,
            (None, Needs::Tools | Needs::Calls | Needs::Programs) => Some(ModelChoice::Demo),
        };
        let mut builder = Harness::builder(environment).answerer(answerer);
        if let Some(file) = &self.config {
            builder = builder.config(ConfigText::read(file)?);
        }
        let mode = if needs == Needs::Programs { Some(Presentation::Code) } else { self.mode };
        if let Some(mode) = mode {
            builder = builder.mode(mode);
        }
        // A log that goes on may be read by a model some day.
        if matches!(needs, Needs::Calls | Needs::Programs) && self.session.is_none() {
            builder = builder.whole_results();
        }
        if let Some(preset) = &self.preset {
            builder = builder.preset(preset);
        }
        if let Some(model) = model {
            builder = builder.model(model);
        }
        Ok(builder.build()?)
    }

    /// The session that was named, else `default`.
    pub(crate) fn session_or(&self, default: SessionChoice) -> SessionChoice {
        self.session.clone().map_or(default, SessionChoice::File)
    }

    fn environment(&self) -> Result<Environment, Failure> {
        let environment = match &self.root {
            Some(root) => Environment::of_process_at(root),
            None => Environment::of_process()?,
        };
        Ok(match self.seed {
            // A session that is continued holds the ids of its earlier part.
            Some(seed) => environment.seeded(seed.wrapping_add(self.session_bytes())),
            None => environment,
        })
    }

    /// How long the named session's log is; 0 for a new one.
    fn session_bytes(&self) -> u64 {
        let found = self.session.as_ref().and_then(|file| std::fs::metadata(file).ok());
        found.map_or(0, |found| found.len())
    }
}
