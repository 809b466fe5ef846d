//! What every provider keeps, in both places where programs run.

use std::sync::Arc;

use dsh_code_runtime::{CodeRuntime as _, Isolation, Limits, contract};
use dsh_quickjs::QuickJs;

use crate::kit::in_workers;

#[tokio::test]
async fn every_clause_holds_on_threads() {
    contract::run_all(&|limits| Arc::new(QuickJs::on_threads(limits))).await;
}

#[tokio::test]
async fn every_clause_holds_in_workers() {
    contract::run_all(&|limits| Arc::new(in_workers(limits))).await;
}

#[test]
fn a_provider_says_what_it_is() {
    let provider = QuickJs::on_threads(Limits::default());
    assert_eq!((provider.language(), provider.isolation()), ("typescript", Isolation::Thread));
    let provider = in_workers(Limits::default());
    assert_eq!((provider.language(), provider.isolation()), ("typescript", Isolation::Process));
}
