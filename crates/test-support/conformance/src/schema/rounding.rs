//! Integers that JavaScript takes for others.

use dsh_json::Number;

use crate::oddities::{Oddities, note_number, number_at, string_length};

/// The numbers as JavaScript prints them after reading, where that is another integer than was written.
pub(super) fn rounded_integers(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) {
        rest = rest.get(at..).unwrap_or_default();
        let length = if rest.starts_with('"') {
            string_length(rest)
        } else {
            let number = number_at(rest);
            let mut odd = Oddities::default();
            note_number(number, &mut odd);
            let double = number.parse().ok().and_then(|double| Number::from_f64(double).ok());
            if let Some(double) = double.filter(|_| odd.beyond_double) {
                found.push((number.to_owned(), double.ecma()));
            }
            number.len()
        };
        rest = rest.get(length.max(1)..).unwrap_or_default();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_are_rounded() {
        let rounded =
            rounded_integers(r#"{"9007199254740993": [9007199254740993, 12, 0.1, 18446744073709551615]}"#);
        let expected =
            [("9007199254740993", "9007199254740992"), ("18446744073709551615", "18446744073709552000")];
        let expected = expected.map(|(written, printed)| (written.to_owned(), printed.to_owned()));
        assert_eq!(rounded, expected);
    }
}
