//! Time that a worker may use, watched from outside, because a busy program does not look at a clock.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::process::Process;

/// How much time a worker may use. `None` is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budgets {
    /// `maxWallMs`: from the beginning of the watch.
    pub max_wall: Option<Duration>,
    /// `maxComputeMs`: CPU time of all its threads, from the beginning of the watch. Waiting is free. It can be read on
    /// Linux alone; elsewhere `max_cpu_seconds` of [`Limits`](crate::Limits) is what there is.
    pub max_compute: Option<Duration>,
}

/// A budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// The time that passes.
    Wall,
    /// The time that it computes.
    Compute,
}

/// A budget that is used up. `Display` says `ran for 1010 ms, 1000 ms are allowed (maxWallMs)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expired {
    /// Which.
    pub budget: Budget,
    /// What was allowed.
    pub allowed: Duration,
    /// What was used.
    pub used: Duration,
}

/// Watches one worker. It costs nothing while nobody awaits it.
pub struct BudgetWatch {
    process: Arc<Process>,
    budgets: Budgets,
    started: Instant,
    cpu_before: Duration,
}

impl BudgetWatch {
    /// How often the CPU time is looked at, which is also how late its end is noticed.
    pub const POLL: Duration = Duration::from_millis(25);

    pub(crate) fn new(process: Arc<Process>, budgets: Budgets) -> Self {
        let cpu_before = process.cpu().unwrap_or_default();
        Self { process, budgets, started: Instant::now(), cpu_before }
    }

    /// Waits until a budget is used up, kills the worker, and says which it was. Never, when it has ended before.
    /// Dropping the future forgets nothing.
    pub async fn expired(&self) -> Expired {
        loop {
            if let Some(expired) = self.look() {
                self.process.kill();
                return expired;
            }
            if !self.process.is_alive() {
                return std::future::pending().await;
            }
            let left = self.budgets.max_wall.map(|wall| wall.saturating_sub(self.started.elapsed()));
            match (left, self.budgets.max_compute) {
                (None, None) => return std::future::pending().await,
                (Some(left), None) => sleep(left).await,
                (None, Some(_)) => sleep(Self::POLL).await,
                (Some(left), Some(_)) => sleep(left.min(Self::POLL)).await,
            }
        }
    }

    fn look(&self) -> Option<Expired> {
        let spent = |budget, allowed: Option<Duration>, used: Option<Duration>| {
            let (allowed, used) = (allowed?, used?);
            (used >= allowed).then_some(Expired { budget, allowed, used })
        };
        spent(Budget::Wall, self.budgets.max_wall, Some(self.started.elapsed())).or_else(|| {
            let allowed = self.budgets.max_compute?;
            let used = self.process.cpu().map(|cpu| cpu.saturating_sub(self.cpu_before));
            spent(Budget::Compute, Some(allowed), used)
        })
    }
}

impl Budget {
    /// The name of its configuration (spec 12 §3).
    pub fn name(self) -> &'static str {
        match self {
            Self::Wall => "maxWallMs",
            Self::Compute => "maxComputeMs",
        }
    }
}

impl fmt::Display for Expired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let did = match self.budget {
            Budget::Wall => "ran",
            Budget::Compute => "computed",
        };
        let (used, allowed) = (self.used.as_millis(), self.allowed.as_millis());
        write!(f, "{did} for {used} ms, {allowed} ms are allowed ({})", self.budget.name())
    }
}
