//! What the types promise.

use dsh_tools_core::{
    Answer, CallInput, Definition, Execution, Finished, PostDecision, Prepared, Ready, Settled, ToolResult,
    Tools, View,
};

#[test]
fn everything_can_cross_threads() {
    fn both<T: Send + Sync>() {}
    fn sendable<T: Send>(_: T) {}
    both::<(Tools, View, Definition, Execution, ToolResult, CallInput)>();
    both::<(Prepared, Ready, Settled, Finished, Answer, PostDecision)>();
    let tools = Tools::new();
    sendable(async move { tools.execute(crate::kit::call("t")).await });
}
