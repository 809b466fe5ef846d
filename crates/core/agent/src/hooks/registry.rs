//! The registry of hooks.

use std::fmt;
use std::sync::Arc;

use dsh_lifecycle::{Registration, contain};
use dsh_scope::{Layers, Scope};
use parking_lot::Mutex;

use super::{PreStep, Request, RequestError, TurnStopping};
use crate::{Agent, AgentObserver, Notice};

/// The hooks of turns and the observers of agents. Clones are the same registry.
///
/// What is registered in a scope counts for its agents and for those of the scopes below it; without a scope for all.
/// They are asked in the order of their registration, whatever their layers; which of them are asked is fixed when a
/// stage begins. Dropping the [`Registration`] takes exactly that row away again.
#[derive(Clone, Default)]
pub struct Hooks(Arc<Mutex<Rows>>);

#[derive(Default)]
pub(super) struct Rows {
    pub(super) pre_step: Layers<Arc<dyn PreStep>>,
    pub(super) request: Layers<Arc<dyn Request>>,
    pub(super) request_error: Layers<Arc<dyn RequestError>>,
    pub(super) turn_stopping: Layers<Arc<dyn TurnStopping>>,
    observers: Layers<Arc<dyn AgentObserver>>,
}

impl Hooks {
    /// How many hooks and observers there are, of all kinds and for all scopes.
    pub fn rows(&self) -> usize {
        let Rows { pre_step, request, request_error, turn_stopping, observers } = &*self.0.lock();
        pre_step.len() + request.len() + request_error.len() + turn_stopping.len() + observers.len()
    }

    /// Adds a judge of steps.
    pub fn on_pre_step(&self, scope: Option<&Scope>, hook: Arc<dyn PreStep>) -> Registration {
        self.add(|rows| &mut rows.pre_step, scope, hook)
    }

    /// Adds a chooser of models and settings.
    pub fn on_request(&self, scope: Option<&Scope>, hook: Arc<dyn Request>) -> Registration {
        self.add(|rows| &mut rows.request, scope, hook)
    }

    /// Adds a judge of failed requests.
    pub fn on_request_error(&self, scope: Option<&Scope>, hook: Arc<dyn RequestError>) -> Registration {
        self.add(|rows| &mut rows.request_error, scope, hook)
    }

    /// Adds one who is asked before a turn ends.
    pub fn on_turn_stopping(&self, scope: Option<&Scope>, hook: Arc<dyn TurnStopping>) -> Registration {
        self.add(|rows| &mut rows.turn_stopping, scope, hook)
    }

    /// Adds one who is told of notices.
    pub fn observe(&self, scope: Option<&Scope>, observer: Arc<dyn AgentObserver>) -> Registration {
        self.add(|rows| &mut rows.observers, scope, observer)
    }

    pub(crate) fn tell(&self, agent: &Agent, notice: &Notice<'_>) {
        for observer in self.of(agent, |rows| &rows.observers) {
            if let Err(panic) = contain(|| observer.notice(agent, notice)) {
                tracing::warn!(%panic, "an observer of an agent panicked");
            }
        }
    }

    /// The rows that count for an agent, in order.
    pub(super) fn of<T: ?Sized>(&self, agent: &Agent, table: fn(&Rows) -> &Layers<Arc<T>>) -> Vec<Arc<T>> {
        let rows = self.0.lock();
        let table = table(&rows);
        if table.is_empty() {
            return Vec::new();
        }
        table.in_order(&agent.scope().chain()).into_iter().cloned().collect()
    }

    fn add<T: Send + Sync + ?Sized + 'static>(
        &self,
        table: fn(&mut Rows) -> &mut Layers<Arc<T>>,
        scope: Option<&Scope>,
        row: Arc<T>,
    ) -> Registration {
        let layer = scope.map(Scope::id);
        let id = table(&mut self.0.lock()).insert(layer, row);
        let rows = Arc::downgrade(&self.0);
        Registration::new(move || {
            let Some(rows) = rows.upgrade() else { return };
            let gone = table(&mut rows.lock()).remove(layer, id);
            drop(gone); // outside of the lock: its drop may come back here
        })
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hooks")
    }
}
