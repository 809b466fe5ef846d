//! One request on its way to its finish.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dsh_lifecycle::Cancel;
use dsh_llm::{Chunk, ErrorFacts, Finish};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Response};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use url::Url;

use crate::Decoder;
use crate::config::{OpenAiConfig, duration};
use crate::failure::Blame;
use crate::retry::Retry;

/// Bytes of a refusal's body that are read.
const REFUSAL: usize = 64 << 10;

/// How long the end of the body is waited for after the end of the stream in it.
const PARTING: Duration = Duration::from_millis(50);

/// What all requests of a model share.
pub(crate) struct Link {
    pub(crate) client: Client,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) blame: Blame,
    pub(crate) retry: Retry,
    pub(crate) model: Arc<str>,
    pub(crate) config: OpenAiConfig,
}

/// A request, and as much of its answer as has come. Dropping it closes the connection.
pub(crate) struct Answering {
    link: Arc<Link>,
    body: Bytes,
    cancel: Cancel,
    /// Set when the first chunk is asked for.
    deadline: Option<Instant>,
    last_failure: Option<ErrorFacts>,
    request_id: Option<Arc<str>>,
    reading: Option<Reading>,
    ready: VecDeque<Chunk>,
    over: bool,
}

/// An answer whose first bytes have come.
struct Reading {
    response: Response,
    decoder: Decoder,
    first: Option<Bytes>,
    received: u64,
}

/// Why a wait ended without what was waited for.
enum Stop {
    Cancelled,
    Late,
}

impl Answering {
    pub(crate) fn new(link: Arc<Link>, body: String, cancel: Cancel) -> Self {
        Self {
            link,
            body: body.into(),
            cancel,
            deadline: None,
            last_failure: None,
            request_id: None,
            reading: None,
            ready: VecDeque::new(),
            over: false,
        }
    }

    /// The next chunk; `None` after the finish.
    pub(crate) async fn next(&mut self) -> Option<Chunk> {
        let total = duration(self.link.config.total_timeout_ms.get());
        self.deadline.get_or_insert_with(|| Instant::now() + total);
        while !self.over {
            if self.cancel.is_cancelled() {
                self.abort();
            }
            if let Some(chunk) = self.ready.pop_front() {
                if let Chunk::Finish { reason, .. } = &chunk {
                    self.over = true;
                    self.part(reason).await;
                }
                return Some(self.link.blame.presentable(chunk, self.request_id.as_ref()));
            }
            match self.go_on().await {
                Ok(()) => {}
                Err(Stop::Cancelled) => self.abort(),
                Err(Stop::Late) => self.run_late(),
            }
        }
        None
    }

    async fn go_on(&mut self) -> Result<(), Stop> {
        match self.reading.take() {
            None => match self.answer().await? {
                Ok(reading) => self.reading = Some(reading),
                Err(facts) => self.finish(Finish::Error(facts)),
            },
            Some(mut reading) => {
                // Put back in any case: what was read so far is to be concluded.
                let read = self.read(&mut reading).await;
                self.reading = Some(reading);
                self.ready.extend(read?);
            }
        }
        Ok(())
    }

    /// Tries until the first bytes of an answer, a failure that stands, or a stop.
    async fn answer(&mut self) -> Result<Result<Reading, ErrorFacts>, Stop> {
        for tries in 1.. {
            let facts = match self.attempt().await? {
                Ok(reading) => return Ok(Ok(reading)),
                Err(facts) => facts,
            };
            let Some(wait) = self.link.retry.after(&facts, tries) else {
                return Ok(Err(if tries > 1 { gave_up(facts, tries) } else { facts }));
            };
            tracing::debug!(code = %facts.code, status = facts.status, tries, ?wait, "a request is tried again");
            self.last_failure = Some(facts);
            self.patiently(sleep(wait)).await?;
        }
        Err(Stop::Late)
    }

    async fn attempt(&mut self) -> Result<Result<Reading, ErrorFacts>, Stop> {
        let link = Arc::clone(&self.link);
        let idle_ms = link.config.idle_timeout_ms.get();
        self.request_id = None;
        let request =
            link.client.post(link.url.clone()).headers(link.headers.clone()).body(self.body.clone());
        let mut response = match self.patiently(timeout(duration(idle_ms), request.send())).await? {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Ok(Err(link.blame.unreachable(error))),
            Err(_elapsed) => return Ok(Err(link.blame.idle(idle_ms))),
        };
        self.request_id = link.blame.request_id(response.headers());
        if !response.status().is_success() {
            let body = self.refusal(&mut response).await?;
            return Ok(Err(link.blame.refused(response.status(), response.headers(), &body)));
        }
        if let Some(other) = no_stream(&response) {
            let body = self.refusal(&mut response).await?;
            return Ok(Err(link.blame.no_stream(&other, &body)));
        }
        Ok(match self.patiently(timeout(duration(idle_ms), response.chunk())).await? {
            Ok(Ok(first)) => {
                let max_event_bytes =
                    usize::try_from(link.config.max_event_bytes.get()).unwrap_or(usize::MAX);
                let first = Some(first.unwrap_or_default());
                Ok(Reading { response, decoder: Decoder::new(max_event_bytes), first, received: 0 })
            }
            Ok(Err(error)) => Err(link.blame.unreachable(error)),
            Err(_elapsed) => Err(link.blame.idle(idle_ms)),
        })
    }

    /// What a refusal says, as far as it comes.
    async fn refusal(&self, response: &mut Response) -> Result<String, Stop> {
        let mut body = vec![];
        let read = async {
            while let Ok(Some(piece)) = response.chunk().await {
                body.extend(piece.iter().take(REFUSAL - body.len()));
                if body.len() == REFUSAL {
                    break;
                }
            }
        };
        // What came in time is told.
        let _ = self.patiently(timeout(duration(self.link.config.end_timeout_ms.get()), read)).await?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    /// The chunks of the next bytes.
    async fn read(&self, reading: &mut Reading) -> Result<Vec<Chunk>, Stop> {
        let Link { config, blame, .. } = &*self.link;
        let Reading { response, decoder, first, received } = reading;
        let mut chunks = vec![];
        let idle = duration(config.idle_timeout_ms.get());
        let patience =
            if decoder.is_complete() { idle.min(duration(config.end_timeout_ms.get())) } else { idle };
        let piece = match first.take() {
            Some(first) => Ok(Ok(Some(first))),
            None => self.patiently(timeout(patience, response.chunk())).await?,
        };
        match piece {
            Ok(Ok(Some(bytes))) => {
                *received = received.saturating_add(bytes.len() as u64);
                let limit = config.max_response_bytes.get();
                if *received > limit {
                    decoder.fail(blame.too_large(limit), &mut chunks);
                } else {
                    decoder.push(&bytes, &mut chunks);
                }
            }
            Ok(Ok(None)) => decoder.end(&mut chunks),
            Ok(Err(error)) => decoder.break_off(Blame::broken(error), &mut chunks),
            Err(_elapsed) => decoder.break_off(blame.idle(config.idle_timeout_ms.get()), &mut chunks),
        }
        Ok(chunks)
    }

    /// Lets the connection go: a good one, whose answer ended, to the next request; any other is closed.
    async fn part(&mut self, reason: &Finish) {
        let Some(mut reading) = self.reading.take() else { return };
        if !matches!(reason, Finish::Error(_) | Finish::Aborted) {
            // The end of the body follows the last event; a client that has not seen it can't use the connection again.
            let _ = self.patiently(timeout(PARTING, reading.response.chunk())).await;
        }
    }

    /// Waits for `work`, until it is cancelled or the whole has taken too long.
    async fn patiently<T>(&self, work: impl Future<Output = T>) -> Result<T, Stop> {
        let Some(deadline) = self.deadline else { return Err(Stop::Late) };
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Stop::Cancelled),
            done = timeout_at(deadline, work) => done.map_err(|_elapsed| Stop::Late),
        }
    }

    fn abort(&mut self) {
        self.ready.clear();
        self.finish(Finish::Aborted);
    }

    fn run_late(&mut self) {
        let limit = self.link.config.total_timeout_ms.get();
        let facts = self.link.blame.total(limit, self.last_failure.as_ref());
        match self.reading.take() {
            None => self.finish(Finish::Error(facts)),
            Some(mut reading) => {
                let mut chunks = vec![];
                reading.decoder.break_off(facts, &mut chunks);
                self.ready.extend(chunks);
            }
        }
    }

    fn finish(&mut self, reason: Finish) {
        self.reading = None;
        self.ready.push_back(Chunk::Finish { reason, replay_state: None });
    }
}

/// The content type of a success that can't be a stream of events: data in one piece, or a page for people.
fn no_stream(response: &Response) -> Option<String> {
    let told = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    let kind = told.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    matches!(kind.as_str(), "application/json" | "text/html").then_some(kind)
}

fn gave_up(facts: ErrorFacts, tries: u32) -> ErrorFacts {
    let message = format!("{} (after {tries} tries)", facts.message);
    ErrorFacts { message: message.into(), ..facts }
}
