//! What every provider keeps.

use std::sync::Arc;

use dsh_code_runtime::{CodeRuntime as _, Isolation, Limits, contract};
use dsh_quickjs::QuickJs;

#[tokio::test]
async fn every_clause_holds() {
    contract::run_all(&|limits| Arc::new(QuickJs::new(limits))).await;
}

#[test]
fn the_provider_says_what_it_is() {
    let provider = QuickJs::new(Limits::default());
    assert_eq!((provider.language(), provider.isolation()), ("typescript", Isolation::Thread));
    assert_eq!(provider.isolation().to_string(), "thread");
}
