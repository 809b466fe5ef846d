//! The request that the log derives, and the records that make it derivable.

use std::num::NonZeroU64;
use std::sync::Arc;

use dsh_agent::TurnError;
use dsh_llm::ModelRequest;
use dsh_session::{HeaderReason, RequestConfig, RequestContext, RequestForm, RequestHeader, Session};

use crate::listen::Route;
use crate::step::Told;

/// What the log says about the requests so far: read once a turn, and kept up to date by it.
pub(crate) struct LastRequest {
    header: Option<Header>,
    context: Option<RequestContext>,
}

struct Header {
    form: RequestForm,
    /// Written by an earlier life of the session.
    seeded: bool,
}

impl LastRequest {
    pub(crate) fn of(session: &Session) -> Self {
        let [header, context] = session.last_request();
        let header = header.and_then(|event| {
            let held = event.read::<RequestHeader>()?.ok()?;
            Some(Header { form: held.header, seeded: event.seq < session.first_live_seq() })
        });
        Self { header, context: context.and_then(|event| event.read()?.ok()) }
    }

    /// Logs what differs from the last request, and returns the request that the log now says (spec 02 §C.5).
    pub(crate) fn derive(
        &mut self,
        session: &Session,
        route: &Route,
        told: &Told,
        max_tokens: Option<NonZeroU64>,
    ) -> Result<ModelRequest, TurnError> {
        let (provider, model) = (Arc::clone(&route.provider), Arc::clone(&route.model));
        let (system, tools) = (told.system.clone(), Arc::clone(&told.tools));
        let max_tokens = max_tokens.map(NonZeroU64::get);
        let form = RequestForm {
            config: RequestConfig {
                provider: Arc::clone(&provider),
                model: Arc::clone(&model),
                max_tokens,
                reasoning_effort: None,
            },
            adapter_defaults: None,
            system: system.clone(),
            tools: Some(Arc::clone(&tools)).filter(|tools| !tools.is_empty()),
        };
        let reason = match &self.header {
            None => Some(HeaderReason::Initial),
            Some(held) if held.seeded => Some(HeaderReason::Resume),
            Some(held) if held.form == form => None,
            Some(_) => Some(HeaderReason::Change),
        };
        if let Some(reason) = reason {
            session.append(&RequestHeader { header: form.clone(), reason })?;
            self.header = Some(Header { form, seeded: false });
        }
        let context = RequestContext { provider, model, context_window: None };
        if self.context.as_ref() != Some(&context) {
            session.append(&context)?;
            self.context = Some(context);
        }
        Ok(ModelRequest { system, messages: session.messages(), tools, max_tokens })
    }
}
