//! Questions about calls, put to the user of the client (spec 10 §A.4).

use std::sync::Arc;

use async_trait::async_trait;
use dsh_lifecycle::Registration;
use dsh_tools_core::Approval;
use dsh_user_approval::{Answer, AnswerError, Answerer, Question};
use parking_lot::Mutex;
use rmcp::RoleServer;
use rmcp::model::{
    BooleanSchema, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, PrimitiveSchemaDefinition, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle};

use crate::question::describe;

/// The field of the form.
const ALLOW: &str = "allow";

/// Asks the user of the client that is served, by `elicitation/create`, where the client can do that; passes every question on
/// where it can't, and while no client is served.
///
/// The form has one field, `allow`. Only a form that is sent with `true` in it allows the call: one that is sent with `false`
/// or declined refuses it, and one that is closed withdraws it. A question that is not waited for any more is cancelled.
pub struct Elicitation {
    client: Mutex<Option<Client>>,
    may_allow: bool,
}

impl Default for Elicitation {
    /// For a client of which nothing is known yet.
    fn default() -> Self {
        Self::of(true)
    }
}

#[derive(Clone)]
struct Client {
    peer: Peer<RoleServer>,
    /// How many characters of the arguments are shown.
    most: usize,
}

impl Elicitation {
    /// For a client that has forms, or has none: then nobody will be asked, and tools offer nothing that needs it.
    pub fn of(has_forms: bool) -> Self {
        Self { client: Mutex::default(), may_allow: has_forms }
    }

    /// Asks this client from now on, until the registration is dropped.
    pub(crate) fn reach(self: &Arc<Self>, peer: Peer<RoleServer>, most: usize) -> Registration {
        *self.client.lock() = Some(Client { peer, most });
        let this = Arc::downgrade(self);
        Registration::new(move || {
            if let Some(this) = this.upgrade() {
                this.client.lock().take();
            }
        })
    }

    /// The client, if it has forms.
    fn client(&self) -> Option<Client> {
        let client = self.client.lock().clone()?;
        let info = client.peer.peer_info()?;
        let asks = info.capabilities.elicitation.as_ref()?;
        shows_forms(asks.form.is_some(), asks.url.is_some()).then_some(client)
    }
}

/// Whether a client that elicits has forms, by the kinds that it names. One that names none has.
pub(crate) fn shows_forms(form: bool, url: bool) -> bool {
    form || !url
}

#[async_trait]
impl Answerer for Elicitation {
    fn name(&self) -> &'static str {
        "mcp"
    }

    fn may_allow(&self) -> bool {
        self.may_allow
    }

    async fn answer(&self, question: &Question) -> Result<Option<Answer>, AnswerError> {
        let Some(Client { peer, most }) = self.client() else { return Ok(None) };
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(form(describe(question, most))?));
        let asked = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await?;
        let mut open = Open(Some(asked));
        let answered = match &mut open.0 {
            Some(asked) => (&mut asked.rx).await,
            None => return Ok(None),
        };
        open.0 = None;
        let ClientResult::ElicitResult(result) = answered?? else {
            return Err("the client answered something else".into());
        };
        Ok(Some(read(&result)?.into()))
    }
}

/// A question that the client shows. Dropping it takes it away there.
struct Open(Option<RequestHandle<RoleServer>>);

impl Drop for Open {
    fn drop(&mut self) {
        let (Some(asked), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        runtime.spawn(async move {
            if let Err(error) = asked.cancel(Some("no answer is needed any more".to_owned())).await {
                tracing::debug!(%error, "a question could not be withdrawn");
            }
        });
    }
}

fn form(message: String) -> Result<ElicitRequestParams, AnswerError> {
    let allow = BooleanSchema::new().title("Allow this call, once").with_default(false);
    let schema = ElicitationSchema::builder()
        .required_property(ALLOW, PrimitiveSchemaDefinition::Boolean(allow))
        .build();
    let requested_schema = schema?;
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

fn read(result: &ElicitResult) -> Result<Approval, AnswerError> {
    let allow =
        result.content.as_ref().and_then(|content| content.get(ALLOW)).map(serde_json::Value::as_bool);
    match (&result.action, allow) {
        (ElicitationAction::Accept, Some(Some(true))) => Ok(Approval::AllowedOnce),
        (ElicitationAction::Accept, Some(Some(false))) | (ElicitationAction::Decline, _) => {
            Ok(Approval::Rejected)
        }
        (ElicitationAction::Cancel, _) => Ok(Approval::Cancelled),
        (ElicitationAction::Accept, Some(None) | None) => {
            Err(format!("the client sent the form without `{ALLOW}`").into())
        }
        (_, _) => Err("the client did something with the form that this version does not know".into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn only_a_form_that_says_so_allows() {
        let check = |action, content: Option<Value>, expected: Option<Approval>| {
            let mut result = ElicitResult::new(action);
            result.content = content;
            assert_eq!(read(&result).ok(), expected, "{result:?}");
        };
        check(ElicitationAction::Accept, Some(json!({ "allow": true })), Some(Approval::AllowedOnce));
        check(ElicitationAction::Accept, Some(json!({ "allow": false })), Some(Approval::Rejected));
        check(ElicitationAction::Decline, Some(json!({ "allow": true })), Some(Approval::Rejected));
        check(ElicitationAction::Cancel, Some(json!({ "allow": true })), Some(Approval::Cancelled));
        for garbage in [
            None,
            Some(json!({})),
            Some(json!({ "allow": "true" })),
            Some(json!({ "allow": 1 })),
            Some(json!([true])),
        ] {
            check(ElicitationAction::Accept, garbage, None);
        }
    }
}
