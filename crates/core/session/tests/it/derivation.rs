//! What the model reads is derived from the log, and nothing else is (spec 03 §4).

use dsh_llm::{Chunk, Finish, Message, Role, Source, text};
use dsh_session::{AssistantChunk, UserMessage};

use crate::talk::*;

#[test]
fn messages_are_what_was_said_verbatim_and_chunks_are_none() {
    const ODD: &str = "  \u{0}\u{2028}{{model}}\r\n\t\"é\" ";
    let session = session();
    let chunk = |chunk| AssistantChunk { turn: 1, step: 1, chunk };
    put(&session, &start(1));
    put(&session, &step(1, 1));
    let asked_of_it = user("u1", ODD);
    put(&session, &asked_of_it);
    put(&session, &chunk(Chunk::TextDelta { index: 0, text: "never shown".into() }));
    put(&session, &chunk(Chunk::Finish { reason: Finish::Stop, replay_state: None }));
    let said = answer(1, 1, ODD, &[]);
    session.append_from(&said, &[3, 4]).unwrap();
    let source = Source::plugin_form("hooks", "note");
    let injected = UserMessage(Message { id: "p1".into(), role: Role::User, content: text(ODD), source });
    put(&session, &injected);
    put(&session, &step_end(1, 1));

    let messages: Vec<Message> = session.messages().iter().map(|message| Message::clone(message)).collect();
    assert_eq!(messages, [asked_of_it.0, said.message, injected.0]);
    let roles: Vec<_> = messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::User]);
}
