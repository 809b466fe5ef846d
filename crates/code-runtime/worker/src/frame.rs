//! Frames: how both ends cut a stream of bytes into messages.

use std::io;

/// What is in front of a payload: the length of what follows it, and the kind.
const HEAD: usize = 5;
/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// What a frame is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The first frame in each direction.
    Greeting = 0,
    /// The role's own.
    Message = 1,
}

/// What arrived is no frame that is accepted. There is no way back into step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    TooLarge { bytes: usize, limit: usize },
    Malformed,
}

/// A payload is longer than it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLarge {
    pub(crate) bytes: usize,
    pub(crate) limit: usize,
}

/// Adds a frame to `out`, if its payload has at most `limit` bytes.
pub(crate) fn write(
    out: &mut impl for<'a> Extend<&'a u8>,
    kind: Kind,
    payload: &[u8],
    limit: usize,
) -> Result<(), TooLarge> {
    let bytes = payload.len();
    let length =
        u32::try_from(bytes).ok().and_then(|length| length.checked_add(1)).filter(|_| bytes <= limit);
    let length = length.ok_or(TooLarge { bytes, limit })?;
    out.extend(&length.to_le_bytes());
    out.extend(&[kind as u8]);
    out.extend(payload);
    Ok(())
}

/// What has arrived and was not taken yet. A length that is announced allocates nothing; bytes that arrive do.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// Room, of which `at..end` is filled.
    bytes: Vec<u8>,
    at: usize,
    end: usize,
}

impl Inbox {
    /// Takes the next frame, once it is whole. One that is announced with more than `limit` bytes is not waited for.
    pub(crate) fn take(&mut self, limit: usize) -> Result<Option<(Kind, Vec<u8>)>, Fault> {
        let left = self.bytes.get(self.at..self.end).unwrap_or_default();
        let Some((head, rest)) = left.split_first_chunk::<4>() else { return Ok(None) };
        let length = usize::try_from(u32::from_le_bytes(*head)).unwrap_or(usize::MAX);
        let Some(bytes) = length.checked_sub(1) else { return Err(Fault::Malformed) };
        if bytes > limit {
            return Err(Fault::TooLarge { bytes, limit });
        }
        let kind = match rest.first() {
            None => return Ok(None),
            Some(0) => Kind::Greeting,
            Some(1) => Kind::Message,
            Some(_) => return Err(Fault::Malformed),
        };
        let Some(payload) = rest.get(1..length) else { return Ok(None) };
        let payload = payload.to_vec();
        self.at += HEAD + bytes;
        Ok(Some((kind, payload)))
    }

    /// How many bytes were not taken.
    pub(crate) fn len(&self) -> usize {
        self.end - self.at
    }

    /// Reads once, and says how much; 0 at the end.
    pub(crate) fn fill(&mut self, read: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        if self.bytes.len() - self.end < CHUNK && self.at > 0 {
            self.bytes.copy_within(self.at..self.end, 0);
            self.end -= self.at;
            self.at = 0;
        }
        if self.bytes.len() - self.end < CHUNK {
            self.bytes.resize((self.end + CHUNK).max(2 * self.bytes.len()), 0);
        }
        let read = read(self.bytes.get_mut(self.end..).unwrap_or_default())?;
        self.end += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::{Fault, Inbox, Kind, TooLarge, write};

    fn framed(kind: Kind, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out, kind, payload, 100).unwrap();
        out
    }

    /// What is taken of these bytes when they arrive one by one.
    fn taken(bytes: &[u8]) -> (Vec<(Kind, Vec<u8>)>, Option<Fault>) {
        let (mut inbox, mut frames) = (Inbox::default(), Vec::new());
        for byte in bytes {
            inbox.fill(|mut room| room.write(&[*byte])).unwrap();
            match inbox.take(100) {
                Ok(frame) => frames.extend(frame),
                Err(fault) => return (frames, Some(fault)),
            }
        }
        (frames, None)
    }

    #[test]
    fn a_frame_is_its_length_a_kind_and_a_payload() {
        assert_eq!(framed(Kind::Message, b"hi"), [3, 0, 0, 0, 1, b'h', b'i']);
        assert_eq!(framed(Kind::Greeting, b""), [1, 0, 0, 0, 0]);
    }

    #[test]
    fn frames_come_out_as_they_went_in_however_the_bytes_arrive() {
        let long = [7; 100];
        let sent = [
            (Kind::Greeting, b"hello".to_vec()),
            (Kind::Message, Vec::new()),
            (Kind::Message, long.to_vec()),
        ];
        let bytes: Vec<u8> = sent.iter().flat_map(|(kind, payload)| framed(*kind, payload)).collect();
        assert_eq!(taken(&bytes), (sent.to_vec(), None));
        let mut inbox = Inbox::default();
        assert_eq!(inbox.fill(|room| bytes.as_slice().read(room)).unwrap(), bytes.len());
        for frame in sent {
            assert_eq!(inbox.take(100), Ok(Some(frame)));
        }
        assert_eq!((inbox.take(100), inbox.len()), (Ok(None), 0));
    }

    #[test]
    fn half_a_frame_is_none() {
        for end in 0..7 {
            assert_eq!(taken(&framed(Kind::Message, b"hi")[..end]), (vec![], None));
        }
    }

    #[test]
    fn what_is_too_long_is_refused_before_it_arrives() {
        assert_eq!(taken(&[102, 0, 0, 0]), (vec![], Some(Fault::TooLarge { bytes: 101, limit: 100 })));
        let most = u32::MAX.to_le_bytes();
        assert_eq!(taken(&most).1, Some(Fault::TooLarge { bytes: u32::MAX as usize - 1, limit: 100 }));
        assert_eq!(
            write(&mut Vec::new(), Kind::Message, &[0; 101], 100),
            Err(TooLarge { bytes: 101, limit: 100 })
        );
    }

    #[test]
    fn an_empty_frame_and_an_unknown_kind_are_no_frames() {
        assert_eq!(taken(&[0, 0, 0, 0]), (vec![], Some(Fault::Malformed)));
        assert_eq!(taken(&[1, 0, 0, 0, 2]), (vec![], Some(Fault::Malformed)));
    }
}
