//! A session: one log, its store, and who is told.

use std::any::TypeId;
use std::cell::Cell;
use std::sync::Arc;

use dsh_json::Json;
use dsh_lifecycle::{Clock, Registration};
use dsh_llm::{Message, ShapeError};
use parking_lot::{Mutex, ReentrantMutex};

use crate::event::{Event, SurfaceOp};
use crate::fork::{Fork, ForkError};
use crate::header::Header;
use crate::log::Log;
use crate::observers::{Observers, SessionObserver};
use crate::payload::Payload;
use crate::refusal::{AppendError, Refusal, SessionError};
use crate::repair::Closer;
use crate::sink::{Sink, SinkError};
use crate::turn::{EndSeed, TurnEnd, TurnEndReason};
use crate::vocabulary::{Vocabulary, check_surface_fields};

/// One conversation: an append-only log in memory, stored in a [`Sink`] when it has one. A handle; clones are the same
/// session.
///
/// Appends come in one order, for the store and for observers too. An event is stored before anyone is told of it.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

/// What a session is made of.
pub struct SessionSpec {
    /// What is known before the first event.
    pub header: Header,
    /// The event types that may occur.
    pub vocabulary: Arc<Vocabulary>,
    /// Where the events' times come from.
    pub clock: Arc<dyn Clock>,
    /// Where events are stored; without one they live in memory.
    pub sink: Option<Arc<dyn Sink>>,
}

struct Inner {
    spec: SessionSpec,
    /// Held during one append, its publication included; `true` from its start to its end.
    gate: ReentrantMutex<Cell<bool>>,
    log: Mutex<Log>,
    first_live: u64,
    observers: Observers,
}

impl Session {
    /// A session without events.
    pub fn create(spec: SessionSpec) -> Self {
        Self::over(spec, Log::default(), 0)
    }

    /// Continues a session whose events are stored already: they are checked as if they were appended, and not written
    /// again. What an earlier life left open is closed by [`closers`](crate::closers) with [`TurnEndReason::Interrupted`], then
    /// `session/end-seed` is appended, unless it is the last event already (spec 03 §5, §9). Nobody is told of these.
    pub fn resume(spec: SessionSpec, events: Vec<Event>) -> Result<Self, SessionError> {
        let mut log = Log::default();
        for (index, event) in events.into_iter().enumerate() {
            let admitted = spec.vocabulary.read(&event).and_then(|message| Ok((message, log.admit(&event)?)));
            let (message, plan) = admitted.map_err(|refusal| SessionError::Event { index, refusal })?;
            log.commit(Arc::new(event), message, plan);
        }
        let closing = log.closers(&spec.vocabulary, TurnEndReason::Interrupted);
        // There are closers only where there are events.
        let time = log.events().last().map_or(0, |event| event.time);
        for closer in closing {
            let event = closer.into_event(log.next_seq(), time);
            store(&mut log, &spec, event)?;
        }
        log.set_closed();
        if log.events().last().is_none_or(|event| *event.kind != *EndSeed::TYPE) {
            let data = to_json(&EndSeed {})?;
            let time = spec.clock.now_ms();
            let kind = EndSeed::TYPE.into();
            let seq = log.next_seq();
            let event =
                Event { kind, seq, time, data, surface_op: None, source_event_seqs: None, ignorable: false };
            store(&mut log, &spec, event)?;
        }
        let first_live = log.next_seq();
        Ok(Self::over(spec, log, first_live))
    }

    /// Appends an event: built and checked, then stored, then in the log, then told. When it fails nothing has happened
    /// and the seq is free.
    ///
    /// Refuses exactly what loading would refuse (design §4.4), and a call from within an observer.
    pub fn append<P: Payload>(&self, payload: &P) -> Result<Arc<Event>, AppendError> {
        self.write(payload, SurfaceOp::Append, None)
    }

    /// [`append`](Self::append) of a surface event that was made from other events. Empty provenance says that there
    /// was nothing to make it from, and is an assistant message's only.
    pub fn append_from<P: Payload>(&self, payload: &P, sources: &[u64]) -> Result<Arc<Event>, AppendError> {
        self.write(payload, SurfaceOp::Append, Some(sources.into()))
    }

    /// Appends a surface event in the place of the visible events from `start` to `end` (spec 03 §3). `sources` names
    /// each of them.
    pub fn replace<P: Payload>(
        &self,
        payload: &P,
        start: u64,
        end: u64,
        sources: &[u64],
    ) -> Result<Arc<Event>, AppendError> {
        self.write(payload, SurfaceOp::Replace { start, end }, Some(sources.into()))
    }

    /// Closes what is open, for a turn that can't go on: appends what [`closers`](crate::closers) says (design §4.9), and returns it.
    /// Stops at the first event that can't be appended.
    pub fn close_open(&self, reason: TurnEndReason) -> Result<Vec<Arc<Event>>, AppendError> {
        // Held throughout, so that no one appends in between.
        let gate = self.0.gate.lock();
        if gate.get() {
            return Err(AppendError::Reentrant);
        }
        let closing = self.0.log.lock().closers(&self.0.spec.vocabulary, reason);
        let closed = closing.into_iter().map(|closer| self.close(closer)).collect::<Result<_, _>>()?;
        self.0.log.lock().set_closed();
        Ok(closed)
    }

    /// Ends a turn whose calls are answered. What a declared pair left open, because the log did not take what would have
    /// closed it, is closed before.
    pub fn end_turn(&self, end: &TurnEnd) -> Result<(), AppendError> {
        // Held throughout, so that no one appends in between.
        let _gate = self.0.gate.lock();
        if self.0.log.lock().has_open_pair(&self.0.spec.vocabulary) {
            return self.close_open(end.reason.clone()).map(drop);
        }
        self.append(end)?;
        self.0.log.lock().set_closed();
        Ok(())
    }

    /// Whether the caller is an observer or a store that is told of an event of this session. It can't append, and must
    /// not wait for anyone who does.
    pub fn is_telling(&self) -> bool {
        self.0.gate.is_owned_by_current_thread()
    }

    /// What a new session would take over from this one, up to the event `boundary` or to the last (spec 03 §5).
    pub fn fork(&self, boundary: Option<u64>) -> Result<Fork, ForkError> {
        Fork::of(self.header(), &self.events(), boundary)
    }

    /// Tells `observer` of each event from now on, until the registration is dropped. One that is being told while it
    /// is taken away may hear of one event more.
    pub fn observe(&self, observer: Arc<dyn SessionObserver>) -> Registration {
        self.0.observers.add(observer)
    }

    /// Waits until everything appended so far is on the device. Without a store there is nothing to wait for.
    pub async fn flush(&self) -> Result<(), SinkError> {
        match &self.0.spec.sink {
            Some(sink) => sink.flush().await,
            None => Ok(()),
        }
    }

    /// The events so far; the list does not grow.
    pub fn events(&self) -> Vec<Arc<Event>> {
        self.0.log.lock().events().to_vec()
    }

    /// The events from `seq` on.
    pub fn events_from(&self, seq: u64) -> Vec<Arc<Event>> {
        let from = usize::try_from(seq).unwrap_or(usize::MAX);
        self.0.log.lock().events().get(from..).unwrap_or_default().to_vec()
    }

    /// One event.
    pub fn event(&self, seq: u64) -> Option<Arc<Event>> {
        self.0.log.lock().events().get(usize::try_from(seq).ok()?).cloned()
    }

    /// How many events there are; the seq of the next.
    pub fn len(&self) -> u64 {
        self.0.log.lock().next_seq()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The history that the model sees, derived from the log (spec 03 §4); the list does not grow, its messages are
    /// shared.
    pub fn messages(&self) -> Vec<Arc<Message>> {
        self.0.log.lock().surface().messages().cloned().collect()
    }

    /// The seqs of the visible events, in the model's order, and how often something was replaced.
    pub fn surface(&self) -> (Vec<u64>, u64) {
        let log = self.0.log.lock();
        let surface = log.surface();
        (surface.nodes().iter().map(|node| node.event.seq).collect(), surface.generation())
    }

    /// The number of the next turn: one more than the highest in the log.
    pub fn next_turn(&self) -> u32 {
        self.0.log.lock().last_turn().saturating_add(1)
    }

    /// The turn that is open now, if one is.
    pub fn open_turn(&self) -> Option<u32> {
        self.0.log.lock().open_turn()
    }

    /// The last `request/header` and the last `request/context` of the log.
    pub fn last_request(&self) -> [Option<Arc<Event>>; 2] {
        self.0.log.lock().last_request().map(Option::<&Arc<Event>>::cloned)
    }

    /// Whether a tool call of this id is in the log (design §5: a repeated one is replaced before it is logged).
    pub fn call_id_used(&self, id: &str) -> bool {
        self.0.log.lock().call_id_used(id)
    }

    /// How many events an earlier life of the session left; 0 for a fresh one.
    pub fn first_live_seq(&self) -> u64 {
        self.0.first_live
    }

    /// The session's id.
    pub fn id(&self) -> &Arc<str> {
        self.0.spec.header.id()
    }

    /// What was known before the first event.
    pub fn header(&self) -> &Header {
        &self.0.spec.header
    }

    /// The event types that may occur.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.0.spec.vocabulary
    }

    /// What no other living session has.
    pub(crate) fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    fn over(spec: SessionSpec, log: Log, first_live: u64) -> Self {
        let gate = ReentrantMutex::new(Cell::new(false));
        Self(Arc::new(Inner {
            spec,
            gate,
            log: Mutex::new(log),
            first_live,
            observers: Observers::default(),
        }))
    }

    fn write<P: Payload>(
        &self,
        payload: &P,
        op: SurfaceOp,
        sources: Option<Arc<[u64]>>,
    ) -> Result<Arc<Event>, AppendError> {
        let draft = Draft::of(payload, op, sources, &self.0.spec.vocabulary)?;
        self.publish(draft)
    }

    fn close(&self, closer: Closer) -> Result<Arc<Event>, AppendError> {
        let event = closer.into_event(0, 0);
        let message = self.0.spec.vocabulary.read(&event)?;
        self.publish(Draft { event, message })
    }

    /// The one way into the log of a living session. Seq and time are set here.
    fn publish(&self, draft: Draft) -> Result<Arc<Event>, AppendError> {
        let inner = &*self.0;
        let gate = inner.gate.lock();
        let _open = Open::enter(&gate)?;
        let Draft { mut event, message } = draft;
        event.time = inner.spec.clock.now_ms();
        let plan = {
            let log = inner.log.lock();
            event.seq = log.next_seq();
            event.check().map_err(Refusal::from)?;
            log.admit(&event)?
        };
        let event = Arc::new(event);
        // The gate keeps the plan true while the log can be read by others.
        if let Some(sink) = &inner.spec.sink {
            sink.write(&event)?;
        }
        inner.log.lock().commit(Arc::clone(&event), message, plan);
        inner.observers.tell(&event);
        Ok(event)
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("id", self.id()).field("events", &self.len()).finish_non_exhaustive()
    }
}

/// An event that has met the vocabulary's rules, without its seq and time.
struct Draft {
    event: Event,
    message: Option<Arc<Message>>,
}

impl Draft {
    fn of<P: Payload>(
        payload: &P,
        op: SurfaceOp,
        sources: Option<Arc<[u64]>>,
        vocabulary: &Vocabulary,
    ) -> Result<Self, AppendError> {
        let rule = vocabulary.rule(P::TYPE);
        if rule.is_none() && !P::IGNORABLE {
            return Err(Refusal::UnknownType { kind: P::TYPE.into() }.into());
        }
        let kind = rule.map_or_else(|| P::TYPE.into(), |rule| Arc::clone(&rule.kind));
        let refuse = |source: ShapeError| Refusal::Payload { kind: P::TYPE.into(), source };
        payload.check().map_err(refuse)?;
        let data = to_json(payload)?;
        let message = match rule {
            None => None,
            Some(rule) if P::EXACT && rule.payload == TypeId::of::<P>() => {
                if P::SURFACE {
                    payload.message()
                } else {
                    None
                }
            }
            Some(rule) => rule.read(&data)?,
        };
        let surface = rule.is_some_and(|rule| rule.surface);
        // An event outside of the surface has no operation; asking for a replacement there is refused below.
        let surface_op = (surface || op != SurfaceOp::Append).then_some(op);
        let event = Event {
            kind,
            seq: 0,
            time: 0,
            data,
            surface_op,
            source_event_seqs: sources,
            ignorable: P::IGNORABLE,
        };
        check_surface_fields(&event, surface)?;
        Ok(Self { event, message })
    }
}

/// Marks an append as running, until it is dropped.
struct Open<'a>(&'a Cell<bool>);

impl<'a> Open<'a> {
    fn enter(flag: &'a Cell<bool>) -> Result<Self, AppendError> {
        if flag.replace(true) { Err(AppendError::Reentrant) } else { Ok(Self(flag)) }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// Stores and takes in an event of a session that nobody can observe yet.
fn store(log: &mut Log, spec: &SessionSpec, event: Event) -> Result<(), AppendError> {
    let message = spec.vocabulary.read(&event)?;
    let plan = log.admit(&event)?;
    if let Some(sink) = &spec.sink {
        sink.write(&event)?;
    }
    log.commit(Arc::new(event), message, plan);
    Ok(())
}

fn to_json<P: Payload>(payload: &P) -> Result<Json, AppendError> {
    payload.to_json().map_err(|source| AppendError::Json { kind: P::TYPE, source })
}
