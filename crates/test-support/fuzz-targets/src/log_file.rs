//! Log files from lines without their checksums, which no mutation would get right.

use std::fmt::Write as _;

/// What begins a line that is taken as it is.
const BAD: u8 = b'!';

/// The file of these lines: each that ends like an object gets its checksum, but those that begin with `!`, which they lose.
pub(crate) fn sealed(lines: &[u8]) -> Vec<u8> {
    let mut file = Vec::with_capacity(2 * lines.len());
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        match line {
            [BAD, as_it_is @ ..] => file.extend(as_it_is),
            [object @ .., b'}', b'\n'] => {
                let mut end = String::new();
                // Writing into a `String` can't fail.
                let _ = writeln!(end, ",\"crc\":\"{:08x}\"}}", crc32c::crc32c(object));
                file.extend(object);
                file.extend(end.as_bytes());
            }
            other => file.extend(other),
        }
    }
    file
}

#[cfg(test)]
mod tests {
    use super::sealed;

    #[test]
    fn lines_get_their_checksums_but_those_that_are_meant_to_be_bad() {
        let file = String::from_utf8(sealed(b"{\"a\":1}\n!{\"b\":2}\nxyz\n{}")).unwrap();
        let lines: Vec<&str> = file.split('\n').collect();
        assert_eq!(lines.len(), 4);
        assert!(lines[0].starts_with("{\"a\":1,\"crc\":\"") && lines[0].ends_with("\"}"), "{file}");
        assert_eq!(&lines[1..], ["{\"b\":2}", "xyz", "{}"]);
    }
}
