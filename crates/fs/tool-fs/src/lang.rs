//! The language of a file, for colours.

/// The language that the last extension of a path stands for; none for names that only begin with a dot, for no
/// extension and for unknown ones (spec 07 §6.2).
pub(crate) fn lang_of(path: &str) -> Option<&'static str> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let (stem, extension) = name.rsplit_once('.')?;
    if stem.is_empty() {
        return None;
    }
    Some(match extension.to_ascii_lowercase().as_str() {
        "ts" | "mts" | "cts" => "ts",
        "tsx" => "tsx",
        "js" | "mjs" | "cjs" => "js",
        "jsx" => "jsx",
        "json" | "jsonc" => "json",
        "py" => "py",
        "rb" => "rb",
        "go" => "go",
        "rs" => "rs",
        "java" => "java",
        "c" | "h" => "c",
        "cpp" | "cc" | "hpp" | "cxx" => "cpp",
        "cs" => "cs",
        "kotlin" | "kt" => "kotlin",
        "swift" => "swift",
        "php" => "php",
        "sh" | "bash" | "zsh" => "sh",
        "yaml" | "yml" => "yaml",
        "toml" => "toml",
        "ini" => "ini",
        "md" | "markdown" => "md",
        "mdx" => "mdx",
        "html" | "htm" => "html",
        "css" => "css",
        "scss" => "scss",
        "less" => "less",
        "sql" => "sql",
        "xml" => "xml",
        "lua" => "lua",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::lang_of;

    #[test]
    fn the_last_extension_decides() {
        let rows = [
            ("/w/a.rs", Some("rs")),
            ("A.MTS", Some("ts")),
            ("a.d.ts", Some("ts")),
            (r"c:\src\a.Kt", Some("kotlin")),
            ("dir.py/file", None),
            (".gitignore", None),
            (".rs", None),
            ("a.", None),
            ("a", None),
            ("x.constructor", None),
            ("", None),
        ];
        for (path, lang) in rows {
            assert_eq!(lang_of(path), lang, "{path}");
        }
    }
}
