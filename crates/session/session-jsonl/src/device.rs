//! The few things that a log does with its file, so that tests can make them fail.

use std::fs::File;
use std::io::{self, Write as _};

/// A file that grows at its end. Blocking.
pub(crate) trait Device: Send + Sync {
    /// Adds bytes at the end, in one write where the system allows it. After an error some of them may be there.
    fn append(&self, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file.
    fn truncate(&self, length: u64) -> io::Result<()>;

    /// Waits until the contents are on the device.
    fn sync(&self) -> io::Result<()>;
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
}
