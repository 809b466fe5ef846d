//! The answers to a client's requests.

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use dsh_lifecycle::Cause;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, ErrorCode,
    ErrorData, Implementation, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ServerCapabilities, ServerConfig,
};
use rmcp::service::{Peer, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use tokio::time::sleep;

use crate::lines::Left;
use crate::listing::Listing;
use crate::results;
use crate::seat::{NoPlace, Progress, Seat};
use crate::words;

pub(crate) struct Handler {
    pub(crate) listing: Arc<Listing>,
    /// How many calls may be unanswered.
    pub(crate) limit: usize,
    pub(crate) progress_interval: Duration,
}

type Context = RequestContext<RoleServer>;

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let programs = self.listing.has_programs();
        let builder = ServerCapabilities::builder().enable_tools().enable_tool_list_changed();
        let capabilities = if programs { builder.enable_resources().build() } else { builder.build() };
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("dsh", env!("CARGO_PKG_VERSION")))
            .with_instructions(words::instructions(programs))
    }

    /// The versions that begin with `initialize`.
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.listing.tools()?))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut resources = Vec::new();
        if self.listing.has_programs() {
            let sdk = Resource::new(self.listing.sdk_uri(), "sdk").with_mime_type("text/plain");
            resources.push(sdk.with_description("What programs for `run_code` can call, as declarations."));
        }
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != self.listing.sdk_uri() || !self.listing.has_programs() {
            return Err(ErrorData::resource_not_found(words::no_resource(&request.uri), None));
        }
        let contents = ResourceContents::text(&*self.listing.sdk()?, request.uri);
        Ok(ReadResourceResponse::Complete(ReadResourceResult::new(vec![contents])))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let seat = match context.extensions.get::<Left>().and_then(Left::take) {
            Some(Ok(seat)) => seat,
            Some(Err(NoPlace::Full | NoPlace::InUse)) => {
                let refused = results::failed(&words::too_many_calls(self.limit));
                return Ok(CallToolResponse::Complete(refused));
            }
            None => return Err(ErrorData::internal_error("the call was not left at the desk", None)),
        };
        let token = context.meta.get_progress_token();
        let told = Told { peer: context.peer.clone(), token, interval: self.progress_interval };
        Ok(CallToolResponse::Complete(self.answer(seat, told, &context).await))
    }

    async fn on_custom_request(&self, request: CustomRequest, _: Context) -> Result<CustomResult, ErrorData> {
        const KNOWN: [&str; 5] =
            ["initialize", "tools/list", "resources/list", "resources/read", "resources/templates/list"];
        let method = request.method;
        if KNOWN.contains(&&*method) {
            return Err(ErrorData::invalid_params(format!("`params` of `{method}` can't be read"), None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{method}`"), None))
    }
}

impl Handler {
    /// Waits for what comes of a call, tells of its progress, and passes its cancellation on.
    async fn answer(&self, mut seat: Seat, told: Told, context: &Context) -> CallToolResult {
        let cancel = seat.cancel.clone();
        let mut progress = told.token.is_some().then(|| seat.progress.clone());
        let mut cancelled = pin!(context.ct.cancelled());
        let mut is_cancelled = false;
        let mut pause = pin!(sleep(Duration::ZERO));
        let mut known = 0;
        let reply = loop {
            let rests = !pause.is_elapsed();
            tokio::select! {
                biased;
                reply = &mut seat.reply => break reply,
                () = &mut cancelled, if !is_cancelled => {
                    is_cancelled = true;
                    progress = None;
                    cancel.cancel(Cause::User);
                }
                () = &mut pause, if rests => {}
                moved = moved(&mut progress), if !rests => {
                    known = moved.done;
                    told.tell(&moved).await;
                    pause.as_mut().reset(tokio::time::Instant::now() + told.interval);
                }
            }
        };
        // The last is always told, and none is told twice.
        if let Some(progress) = progress {
            let last = progress.borrow().clone();
            if last.done > known {
                told.tell(&last).await;
            }
        }
        match reply {
            Ok(Ok(reply)) => results::result(&reply),
            Ok(Err(error)) => results::failed(&error),
            Err(_) => results::failed(&words::outcome_unknown()),
        }
    }
}

/// The next change; never, where nobody listens or nothing can change any more.
async fn moved(progress: &mut Option<tokio::sync::watch::Receiver<Progress>>) -> Progress {
    if let Some(receiver) = progress
        && receiver.changed().await.is_ok()
    {
        return receiver.borrow_and_update().clone();
    }
    std::future::pending().await
}

/// Who is told of progress.
struct Told {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    interval: Duration,
}

impl Told {
    async fn tell(&self, progress: &Progress) {
        let Some(token) = &self.token else { return };
        #[expect(clippy::cast_precision_loss, reason = "a program makes fewer calls than a double counts")]
        let done = progress.done as f64;
        let calls = if progress.done == 1 { "call" } else { "calls" };
        let mut said = ProgressNotificationParam::new(token.clone(), done);
        said.message = Some(format!("{} {calls} done; the last was {}", progress.done, progress.last));
        if let Err(error) = self.peer.notify_progress(said).await {
            tracing::debug!(%error, "progress could not be told");
        }
    }
}
