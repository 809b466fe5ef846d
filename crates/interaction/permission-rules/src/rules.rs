//! Where the rules speak.

use std::sync::Arc;

use async_trait::async_trait;
use dsh_lifecycle::Registrations;
use dsh_tools_core::{Execution, Guard, Layer, Next, PreDecision, ToolError, Tools};

use crate::config::{Rules, Ruling};
use crate::{ConfigError, RulesConfig, words};

/// Rules every call by the name of its tool. What holds is in the crate's documentation.
pub struct PermissionRules {
    tools: Tools,
    rules: Rules,
}

/// The rules where calls pass them.
struct Gate {
    tools: Tools,
    rules: Rules,
}

impl PermissionRules {
    /// Rules for the tools of this registry.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn new(tools: Tools, config: RulesConfig) -> Result<Self, ConfigError> {
        Ok(Self { tools, rules: Rules::of(config)? })
    }

    /// Rules all calls from now on, whoever makes them; dropping what it returns ends that. Where the rules have nothing
    /// against any tool, nothing is registered.
    #[must_use = "dropping it takes the rules away"]
    pub fn register(self) -> Registrations {
        let Self { tools, rules } = self;
        if rules.allow_everything() {
            return Registrations::new();
        }
        let gate = Arc::new(Gate { tools: tools.clone(), rules });
        [tools.on_pre_execute(None, Arc::clone(&gate) as _), tools.guard(None, gate)].into_iter().collect()
    }
}

#[async_trait]
impl Layer<Execution, PreDecision> for Gate {
    /// Adds the question. A call that is denied is denied here already, so that nobody is asked about it in vain.
    async fn call(
        &self,
        cx: &Execution,
        next: Next<'_, Execution, PreDecision>,
    ) -> Result<PreDecision, ToolError> {
        let rule = match self.rules.ruling(&cx.name) {
            Ruling::Allow => return next.run(cx).await,
            Ruling::Deny(rule) => return Ok(PreDecision::Deny(words::denied(&cx.name, rule))),
            // Nobody is bothered about a tool that is not there.
            Ruling::Ask(_) if self.tools.called(cx).is_none() => return next.run(cx).await,
            Ruling::Ask(rule) => rule,
        };
        let ours = words::asked(rule);
        Ok(match next.run(cx).await? {
            PreDecision::Deny(reason) => PreDecision::Deny(reason),
            PreDecision::Allow | PreDecision::Ask(None) => PreDecision::Ask(Some(ours.into())),
            PreDecision::Ask(Some(theirs)) => PreDecision::Ask(Some(format!("{ours}\n{theirs}").into())),
        })
    }
}

impl Guard for Gate {
    /// Holds whatever a listener decided that did not ask the rest. It goes by the name alone, so that a tool that is hidden
    /// for the moment is no way around it.
    fn check(&self, call: &Execution) -> Option<String> {
        match self.rules.ruling(&call.name) {
            Ruling::Deny(rule) => Some(words::denied(&call.name, rule)),
            Ruling::Ask(_) if !call.is_granted() && self.tools.called(call).is_none() => {
                Some(words::not_there(&call.name))
            }
            Ruling::Ask(rule) if !call.is_granted() => Some(words::unasked(&call.name, rule)),
            Ruling::Ask(_) | Ruling::Allow => None,
        }
    }
}
