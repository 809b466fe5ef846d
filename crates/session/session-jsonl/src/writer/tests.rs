use std::io;

use dsh_json::Json;
use dsh_session::Vocabulary;

use super::*;
use crate::device::Look;

/// A file in memory, with room for so many bytes, whose parts can fail.
#[derive(Default)]
struct Disk(Mutex<State>);

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    room: usize,
    can_truncate: bool,
    can_sync: bool,
    syncs: u32,
    unnamed: bool,
}

impl Device for Disk {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.0.lock();
        let fits = bytes.len().min(state.room - state.bytes.len());
        state.bytes.extend(&bytes[..fits]);
        if fits < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        let mut state = self.0.lock();
        if !state.can_truncate {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        state.bytes.truncate(usize::try_from(length).unwrap());
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.0.lock();
        state.syncs += 1;
        if state.can_sync { Ok(()) } else { Err(io::Error::from_raw_os_error(5)) }
    }

    fn look(&self) -> io::Result<Look> {
        let state = self.0.lock();
        Ok(Look { length: state.bytes.len() as u64, named: !state.unnamed })
    }

    fn copy_to(&self, to: &mut dyn io::Write, length: u64) -> io::Result<()> {
        to.write_all(&self.0.lock().bytes[..usize::try_from(length).unwrap()])
    }
}

fn disk(room: usize) -> Arc<Disk> {
    let state = State { room, can_truncate: true, can_sync: true, ..State::default() };
    Arc::new(Disk(Mutex::new(state)))
}

fn writer(disk: &Arc<Disk>) -> Writer {
    let device: Arc<dyn Device> = disk.clone();
    Writer::start(Path::new("s.jsonl"), device, &Header::new("s", 0).unwrap(), Vec::new()).unwrap()
}

fn event(seq: u64) -> Event {
    let text = format!(r#"{{"type":"note","seq":{seq},"time":0,"data":"0123456789","ignorable":true}}"#);
    Event::from_json(&Json::parse(&text).unwrap()).unwrap()
}

fn lines(disk: &Disk) -> usize {
    String::from_utf8(disk.0.lock().bytes.clone()).unwrap().lines().count()
}

#[test]
fn a_failed_write_is_taken_back_and_the_next_one_works() {
    let disk = disk(1_000);
    let writer = writer(&disk);
    writer.put(&event(0)).unwrap();
    let before = disk.0.lock().bytes.clone();
    disk.0.lock().room = before.len() + 10;
    for _ in 0..2 {
        let error = writer.put(&event(1)).unwrap_err();
        assert!(matches!(error, WriteError::Io(_)));
        assert_eq!(error.to_string(), "can't write s.jsonl: no storage space");
        assert_eq!(disk.0.lock().bytes, before);
    }
    disk.0.lock().room = 1_000;
    writer.put(&event(1)).unwrap();
    assert_eq!(lines(&disk), 3);
}

#[test]
fn after_a_failure_that_can_not_be_undone_nothing_more_is_taken() {
    let disk = disk(150);
    let writer = writer(&disk);
    disk.0.lock().can_truncate = false;
    assert_eq!(writer.put(&event(0)).unwrap_err().to_string(), "can't write s.jsonl: no storage space");
    disk.0.lock().room = 1_000;
    let broken = "s.jsonl takes no more events after an earlier failure: \
                  can't take back a failed write to s.jsonl: permission denied";
    assert_eq!(writer.put(&event(0)).unwrap_err().to_string(), broken);
    assert_eq!(writer.flush_blocking().unwrap_err().to_string(), broken);
}

#[test]
fn a_full_disk_refuses_the_header_and_leaves_nothing() {
    let disk = disk(20);
    let device: Arc<dyn Device> = disk.clone();
    let header = Header::new("s", 0).unwrap();
    let started = Writer::start(Path::new("s.jsonl"), device, &header, Vec::new());
    assert_eq!(started.err().unwrap().to_string(), "can't write s.jsonl: no storage space");
    assert!(disk.0.lock().bytes.is_empty());
}

#[test]
fn events_come_in_order() {
    let disk = disk(1_000);
    let writer = writer(&disk);
    assert_eq!(writer.put(&event(1)).unwrap_err().to_string(), "s.jsonl expects event 0, not 1");
    writer.put(&event(0)).unwrap();
    assert_eq!(writer.put(&event(0)).unwrap_err().to_string(), "s.jsonl expects event 1, not 0");
    assert_eq!(lines(&disk), 2);
}

#[test]
fn a_flush_waits_for_what_was_written_and_for_nothing_twice() {
    let disk = disk(1_000);
    let writer = writer(&disk);
    writer.flush_blocking().unwrap();
    writer.flush_blocking().unwrap();
    assert_eq!(disk.0.lock().syncs, 1);
    writer.put(&event(0)).unwrap();
    writer.flush_blocking().unwrap();
    assert_eq!(disk.0.lock().syncs, 2);
}

#[test]
fn what_is_written_during_a_flush_needs_another() {
    let disk = disk(1_000);
    let writer = writer(&disk);
    let flush = writer.begin_flush().unwrap().unwrap();
    writer.put(&event(0)).unwrap();
    writer.end_flush(&flush, writer.run(&flush)).unwrap();
    assert!(!writer.is_flushed().unwrap());
    writer.flush_blocking().unwrap();
    assert!(writer.is_flushed().unwrap());
}

#[test]
fn after_a_failed_flush_nothing_more_is_taken() {
    let disk = disk(1_000);
    let writer = writer(&disk);
    disk.0.lock().can_sync = false;
    let failed = writer.flush_blocking().unwrap_err().to_string();
    assert!(failed.starts_with("can't flush s.jsonl: "), "{failed}");
    disk.0.lock().can_sync = true;
    assert!(matches!(writer.put(&event(0)), Err(WriteError::Broken { .. })));
    assert!(matches!(writer.flush_blocking(), Err(WriteError::Broken { .. })));
}

#[test]
fn an_event_that_could_not_be_read_again_is_refused() {
    let disk = disk(1_000);
    let writer = writer(&disk);
    let deep = (0..10_100).fold(Json::Null, |inner, _| vec![inner].into());
    let error = writer.put(&Event { data: deep, ..event(0) }).unwrap_err();
    assert_eq!(error.to_string(), "event 0 nests 10101 levels deep, more than a log line's 10064");
    assert_eq!(lines(&disk), 1);
    Vocabulary::core().check(&event(0)).unwrap();
}

#[test]
fn a_line_at_the_deepest_is_read_again() {
    let deep = (0..10_063).fold(Json::Null, |inner, _| vec![inner].into());
    let mut out = String::new();
    line::encode_event(&Event { data: deep, ..event(0) }, &mut out).unwrap();
    let mut bytes = out.into_bytes();
    bytes.pop();
    assert!(line::unwrap(&mut bytes));
    line::parse(&bytes).unwrap();
}
