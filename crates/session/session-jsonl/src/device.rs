//! The few things that a log does with its file, so that tests can make them fail.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};

/// A file that grows at its end. Blocking.
pub(crate) trait Device: Send + Sync {
    /// Adds bytes at the end, in one write where the system allows it. After an error some of them may be there.
    fn append(&self, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file.
    fn truncate(&self, length: u64) -> io::Result<()>;

    /// Waits until the contents are on the device.
    fn sync(&self) -> io::Result<()>;

    /// What has become of the file, whoever had a hand in it.
    fn look(&self) -> io::Result<Look>;

    /// Copies the first bytes of the file, which need not have a name any more.
    fn copy_to(&self, to: &mut dyn Write, length: u64) -> io::Result<()>;
}

/// A file as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) length: u64,
    /// Whether a directory still holds it; without a name it is gone when it is closed.
    pub(crate) named: bool,
}

impl Device for File {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = self;
        file.write_all(bytes)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn look(&self) -> io::Result<Look> {
        let found = self.metadata()?;
        #[cfg(unix)]
        let named = std::os::unix::fs::MetadataExt::nlink(&found) > 0;
        #[cfg(not(unix))]
        let named = true;
        Ok(Look { length: found.len(), named })
    }

    fn copy_to(&self, to: &mut dyn Write, length: u64) -> io::Result<()> {
        let mut file = self;
        file.seek(SeekFrom::Start(0))?;
        let copied = io::copy(&mut file.take(length), to)?;
        if copied == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}
