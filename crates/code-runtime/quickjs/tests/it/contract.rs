//! What every provider keeps.

use std::sync::Arc;

use dsh_code_runtime::contract;
use dsh_quickjs::QuickJs;

#[tokio::test]
async fn every_clause_holds() {
    contract::run_all(&|limits| Arc::new(QuickJs::new(limits))).await;
}
