//! A server for one client.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use dsh_agent::{Agent, TurnError, TurnRunner};
use dsh_lifecycle::{Cancel, Cause, Ids};
use dsh_scope::Scope;
use dsh_tools_core::Tools;
use rmcp::RoleServer;
use rmcp::service::{Peer, ServerInitializeError, serve_server_with_ct};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::desk::{Clerk, Desk};
use crate::handler::Handler;
use crate::lines::{Lines, write};
use crate::listing::Listing;
use crate::seat::Watched;
use crate::{Elicitation, McpServerConfig};

/// The declarations of what programs can call; whoever runs programs has them.
pub trait SdkText: Send + Sync {
    /// The language, as the resource is named after it: `typescript`.
    fn language(&self) -> &str;

    /// The declarations for a scope; an `Err` says why there are none.
    fn text(&self, scope: Option<&Scope>) -> Result<Arc<str>, String>;
}

/// What a server works with.
#[derive(Clone)]
pub struct McpParts {
    /// The tools.
    pub tools: Tools,
    /// Who makes the calls; what its scope sees is what is served.
    pub agent: Agent,
    /// What makes turns of calls.
    pub turns: Arc<dyn TurnRunner>,
    /// Where ids of calls come from.
    pub ids: Arc<dyn Ids>,
    /// What programs are told.
    pub sdk: Arc<dyn SdkText>,
    /// What asks the client's user; it is added to those who can answer by whoever made it.
    pub elicitation: Arc<Elicitation>,
}

/// The tools of an agent, for a client.
pub struct McpServer {
    parts: McpParts,
    config: McpServerConfig,
}

/// How long answers may take to be read once everything has stopped.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl McpServer {
    /// A server of these parts.
    pub fn new(parts: McpParts, config: McpServerConfig) -> Self {
        Self { parts, config }
    }

    /// Serves the client at the other end of two streams, until one of them ends or `stop` is cancelled. Then calls that
    /// run are cancelled and awaited, and their turn is closed in the log.
    ///
    /// What a client, a tool or a model does wrong is answered. An `Err` is a log that can't be written; everything has
    /// stopped then, too. It needs a runtime with timers, and is awaited to its end: dropping it leaves an open turn.
    pub async fn serve<R, W>(&self, reader: R, writer: W, stop: &Cancel) -> Result<(), TurnError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin,
    {
        let McpParts { tools, agent, turns, ids, sdk, elicitation: _ } = self.parts.clone();
        let stop = stop.child();
        let watched = Arc::new(Watched::default());
        let _observing = tools.on_result(Some(agent.scope()), Arc::clone(&watched) as _);
        let listing = Arc::new(Listing::new(tools, agent.scope().clone(), sdk));
        let (desk, calls) = Desk::new(Arc::clone(&watched), ids, &self.config);
        let handler = Handler {
            listing: Arc::clone(&listing),
            limit: desk.limit(),
            progress_interval: Duration::from_millis(self.config.progress_interval_ms.get()),
        };
        let limit = self.config.max_message_bytes.get();
        let (lines, queue) = Lines::new(reader, desk, limit, stop.clone());
        let clerk = Clerk { agent, turns, watched, per_turn: self.config.max_calls_per_turn.get() };

        let mut writing = pin!(write(writer, queue, &stop));
        let served =
            async { tokio::join!(clerk.work(calls, &stop), self.talk(handler, lines, &listing, &stop)).0 };
        let mut served = Box::pin(served);
        let worked = tokio::select! {
            biased;
            // It ends before the service only when the client is gone.
            () = &mut writing => return served.await,
            worked = &mut served => worked,
        };
        if timeout(LAST_WORDS, writing).await.is_err() {
            tracing::debug!("the client did not take its last answers");
        }
        worked
    }

    /// The protocol, from `initialize` to the end.
    async fn talk<R: AsyncRead + Send + Unpin + 'static>(
        &self,
        handler: Handler,
        lines: Lines<R>,
        listing: &Listing,
        stop: &Cancel,
    ) {
        let token = CancellationToken::new();
        let hang_up = async {
            stop.cancelled().await;
            token.cancel();
            std::future::pending::<()>().await;
        };
        let service = async {
            match serve_server_with_ct(handler, lines, token.clone()).await {
                Ok(service) => {
                    let peer = service.peer().clone();
                    let most = self.config.max_question_chars.get();
                    let _asked = self.parts.elicitation.reach(peer.clone(), most);
                    tokio::select! {
                        ended = service.waiting() => {
                            if let Err(error) = ended {
                                tracing::error!(%error, "the service was stopped by an internal error");
                            }
                        }
                        () = self.announce_changes(&peer, listing) => {}
                    }
                }
                // The client left before it said anything, or was told why it is refused.
                Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {}
                Err(error) => tracing::warn!(%error, "the session did not begin"),
            }
        };
        tokio::select! {
            () = hang_up => {}
            () = service => {}
        }
        stop.cancel(Cause::Disposed);
    }

    /// Tells the client when its tools are others.
    async fn announce_changes(&self, peer: &Peer<RoleServer>, listing: &Listing) {
        let gathers = Duration::from_millis(self.config.list_interval_ms.get());
        let mut known = listing.state();
        loop {
            listing.changed_since(&known).await;
            sleep(gathers).await;
            let state = listing.state();
            if !state.is_like(&known)
                && let Err(error) = peer.notify_tool_list_changed().await
            {
                tracing::debug!(%error, "a change of the tools could not be told");
            }
            known = state;
        }
    }
}
