//! What a model is: messages, content blocks, stream chunks, requests, and the assembly of an answer.
//!
//! Everything here is plain, shared, immutable data plus one trait, [`Model`]; no provider is known. The JSON forms
//! are those of the session log (spec 03 §2): what is stored is what is sent. Content blocks and message sources are
//! open sets, so kinds that this version does not know are kept as they came ([`ContentBlock::Other`],
//! [`Source::Other`]); the kinds that it knows are closed, and a field it does not know is refused by name.
//!
//! ```
//! use dsh_llm::{Assembler, Chunk, Finish, plain_text};
//!
//! let mut answer = Assembler::default();
//! answer.push(&Chunk::TextDelta { index: 0, text: "Hel".into() });
//! answer.push(&Chunk::TextDelta { index: 0, text: "lo".into() });
//! answer.push(&Chunk::Finish { reason: Finish::Stop, replay_state: None });
//! let answer = answer.finish();
//! assert_eq!(plain_text(&answer.content), "Hello");
//! assert_eq!(answer.finish, Finish::Stop);
//! ```

mod assembler;
mod chunk;
mod content;
mod finish;
mod message;
mod model;
mod shape;

pub use assembler::{
    Assembled, Assembler, AssemblyLimits, MODEL_OUTPUT_TOO_LONG, STREAM_ENDED_EARLY, STREAM_INVALID,
};
pub use chunk::{Chunk, Usage};
pub use content::{Content, ContentBlock, content_from_json, content_to_json, plain_text, text};
pub use finish::{ErrorFacts, Finish};
pub use message::{Message, Role, Source};
pub use model::{Model, ModelRequest, ToolSchema};
pub use shape::{Fields, ShapeError};
