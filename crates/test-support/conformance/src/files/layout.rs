//! Files as the vectors write them: `{text | parts | hex | base64 | dir | symlink}`, and null for none.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use dsh_json::{Json, object};

use crate::Fault;

/// Whatever a vector asks for, no file gets larger.
const LARGEST: usize = 64 << 20;

/// What stands under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    File(Vec<u8>),
    Dir,
    Link(String),
    Nothing,
}

/// Files by name.
pub(super) type Tree = BTreeMap<String, Entry>;

/// The entries of an object of files, in its order.
pub(super) fn entries(files: Option<&Json>) -> Result<Vec<(String, Entry)>, Fault> {
    let files = match files {
        None | Some(Json::Null) => return Ok(Vec::new()),
        Some(files) => files.as_object().ok_or_else(|| Fault::form("files", files, "an object of files"))?,
    };
    files.iter().map(|(name, content)| Ok((name.to_string(), entry(name, content)?))).collect()
}

/// One entry.
pub(super) fn entry(name: &str, content: &Json) -> Result<Entry, Fault> {
    if content.is_null() {
        return Ok(Entry::Nothing);
    }
    let wrong = || Fault::form(name, content, "text, parts, hex, base64, dir or symlink");
    let field = |key: &str| content.get(key).map(|value| value.as_str().ok_or_else(wrong)).transpose();
    if let Some(text) = field("text")? {
        return Ok(Entry::File(text.into()));
    }
    if let Some(to) = field("symlink")? {
        return Ok(Entry::Link(to.to_owned()));
    }
    let bytes = if let Some(hex) = field("hex")? {
        unhex(hex)
    } else if let Some(text) = field("base64")? {
        unbase64(text)
    } else if let Some(parts) = content.get("parts") {
        parts.as_array().and_then(joined)
    } else if content.get("dir").is_some() {
        return Ok(Entry::Dir);
    } else {
        None
    };
    bytes.map(Entry::File).ok_or_else(wrong)
}

/// Puts an entry in its place below a directory, whatever stood there.
pub(super) fn put(dir: &Path, name: &str, entry: &Entry) -> Result<(), Fault> {
    let path = below(dir, name)?;
    let put = || {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        match entry {
            // As a program does that opens the file and writes: the file stays the same one.
            Entry::File(bytes) => std::fs::write(&path, bytes),
            Entry::Dir => std::fs::create_dir_all(&path),
            Entry::Link(to) => {
                remove(&path)?;
                std::os::unix::fs::symlink(to.replace("$DIR", &dir.to_string_lossy()), &path)
            }
            Entry::Nothing => remove(&path),
        }
    };
    put().map_err(Fault::scene)
}

/// What stands in a place, in a form of the vectors; links are followed.
pub(super) fn found(dir: &Path, name: &str) -> Result<Json, Fault> {
    let path = below(dir, name)?;
    match std::fs::read(&path) {
        Ok(bytes) => Ok(written(&bytes)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Json::Null)
        }
        Err(_) if path.is_dir() => Ok(object! { "dir": true }),
        Err(error) => Err(Fault::scene(error)),
    }
}

/// Bytes as a person can read them.
pub(super) fn written(bytes: &[u8]) -> Json {
    match std::str::from_utf8(bytes) {
        Ok(text) => object! { "text": text },
        Err(_) => {
            object! { "hex": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat() }
        }
    }
}

/// A name below a directory; nothing that could lead out of it.
fn below(dir: &Path, name: &str) -> Result<PathBuf, Fault> {
    let inside =
        Path::new(name).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !inside || name.contains('\0') || Path::new(name).file_name() == Some(OsStr::new("")) {
        return Err(Fault::form("files", &name.into(), "names below the directory"));
    }
    Ok(dir.join(name))
}

fn remove(path: &Path) -> std::io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn joined(parts: &[Json]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for part in parts {
        let times = part.get("repeat").map_or(Some(1), Json::as_u64)?;
        let text = part.get("text")?.as_str()?;
        let times = usize::try_from(times).ok()?;
        if text.len().checked_mul(times).is_none_or(|more| more > LARGEST - bytes.len().min(LARGEST)) {
            return None;
        }
        bytes.extend(text.repeat(times).into_bytes());
    }
    Some(bytes)
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |pair: &[u8; 2]| u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok();
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

fn unbase64(text: &str) -> Option<Vec<u8>> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut held, mut bytes) = (0_u32, 0, Vec::new());
    for digit in text.trim_end_matches('=').bytes() {
        let value = DIGITS.iter().position(|known| *known == digit)?;
        bits = bits << 6 | u32::try_from(value).ok()?;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).ok()?);
        }
    }
    // What is left over fills the last byte, and is nothing.
    (held < 6 && bits & ((1 << held) - 1) == 0).then_some(bytes)
}
