//! The policy of each call, for the tools that may ask for more (spec 10 §B.2).

use std::fmt;
use std::sync::Arc;

use dsh_json::Json;
use dsh_json_schema::Params;

use crate::{Escalation, EscalationError, PolicySource, SandboxPolicy, denial_marker, escalation_hint};

/// Where a tool gets the policy of a call from, and whether a call may ask for more than its session has.
#[derive(Clone)]
pub struct Reach {
    source: Arc<dyn PolicySource>,
    escalates: bool,
}

impl Reach {
    /// Each call reaches as far as its session. Arguments that ask for more are refused.
    pub fn new(source: Arc<dyn PolicySource>) -> Self {
        Self { source, escalates: false }
    }

    /// The same, and a call may ask for a wider mode. Only where somebody can be asked.
    #[must_use]
    pub fn with_escalation(self) -> Self {
        Self { escalates: true, ..self }
    }

    /// The policy of a call that runs: that in force for the session, wider where the arguments ask for it and a person has
    /// allowed what [`question`](Self::question) asked (`granted`).
    ///
    /// Fails where the arguments ask for what can't be granted, or was not; nothing may run then.
    pub fn policy(
        &self,
        session: Option<&str>,
        arguments: &Json,
        granted: bool,
    ) -> Result<Arc<SandboxPolicy>, EscalationError> {
        let in_force = self.source.policy(session);
        match self.asked(arguments)? {
            None => Ok(in_force),
            Some(_) if !granted => Err(EscalationError::NotGranted),
            Some(asked) => Ok(asked.widen(&in_force)),
        }
    }

    /// What a person has to allow before a call with these arguments may run; `None` when it asks for nothing.
    ///
    /// Fails before anybody is asked: where nothing can be asked for, where the two arguments do not go together, and
    /// where the mode is not strictly wider than the one in force.
    pub fn question(
        &self,
        session: Option<&str>,
        arguments: &Json,
    ) -> Result<Option<Arc<str>>, EscalationError> {
        let Some(asked) = self.asked(arguments)? else { return Ok(None) };
        asked.check(self.source.policy(session).mode)?;
        Ok(Some(asked.reason().into()))
    }

    /// The parameters of a tool, with the arguments of an escalation behind them where there can be one.
    #[must_use]
    pub fn declare(&self, params: Params) -> Params {
        if self.escalates { Escalation::declare(params) } else { params }
    }

    /// What to add to a denial by this policy: the mode, and how to ask for more. `None` where that is not possible.
    #[must_use]
    pub fn remedy(&self, subject: &str, policy: &SandboxPolicy) -> Option<String> {
        let hint = escalation_hint("operation", policy.mode).filter(|_| self.escalates)?;
        Some(format!("{}\n{hint}", denial_marker(subject, policy.mode)))
    }

    fn asked(&self, arguments: &Json) -> Result<Option<Escalation>, EscalationError> {
        match Escalation::read(arguments) {
            Ok(None) => Ok(None),
            _ if !self.escalates => Err(EscalationError::NotHere),
            asked => asked,
        }
    }
}

impl fmt::Debug for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reach").field("escalates", &self.escalates).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SandboxMode::{self, DangerFullAccess, ReadOnly, WorkspaceWrite};
    use dsh_json::object;

    fn reach(mode: SandboxMode) -> Reach {
        Reach::new(Arc::new(SandboxPolicy::new(mode, "/ws", [])))
    }

    fn asking(mode: SandboxMode) -> Json {
        object! { "sandbox_permissions": mode.as_str(), "justification": "to build" }
    }

    #[test]
    fn a_call_that_asks_for_nothing_has_the_policy_of_its_session() {
        for reach in [reach(ReadOnly), reach(ReadOnly).with_escalation()] {
            assert_eq!(reach.question(None, &object! {}), Ok(None));
            assert_eq!(reach.policy(None, &object! {}, false).unwrap().mode, ReadOnly);
        }
    }

    #[test]
    fn what_is_asked_for_is_what_runs() {
        let reach = reach(ReadOnly).with_escalation();
        let question = reach.question(None, &asking(WorkspaceWrite)).unwrap().unwrap();
        assert_eq!(&*question, "run this one call under the sandbox mode workspace-write: to build");
        assert_eq!(reach.policy(None, &asking(WorkspaceWrite), true).unwrap().mode, WorkspaceWrite);
        let unasked = reach.policy(None, &asking(WorkspaceWrite), false);
        assert_eq!(unasked, Err(EscalationError::NotGranted), "nobody was asked");
    }

    #[test]
    fn what_is_not_wider_is_never_asked() {
        for (mode, asked) in [
            (WorkspaceWrite, WorkspaceWrite),
            (DangerFullAccess, WorkspaceWrite),
            (DangerFullAccess, DangerFullAccess),
        ] {
            let refused = reach(mode).with_escalation().question(None, &asking(asked));
            assert_eq!(refused, Err(EscalationError::NotWider { asked, effective: mode }));
        }
    }

    #[test]
    fn without_escalation_nothing_widens_and_nothing_is_advertised() {
        let reach = reach(ReadOnly);
        for arguments in [asking(DangerFullAccess), object! { "justification": "x" }] {
            assert_eq!(reach.question(None, &arguments), Err(EscalationError::NotHere));
            assert_eq!(reach.policy(None, &arguments, true), Err(EscalationError::NotHere));
        }
        let schema = reach.declare(dsh_json_schema::Schema::params()).build().unwrap();
        assert!(!schema.json().to_text().contains("sandbox_permissions"));
        assert_eq!(reach.remedy("file access", &SandboxPolicy::new(ReadOnly, "/ws", [])), None);
    }
}
