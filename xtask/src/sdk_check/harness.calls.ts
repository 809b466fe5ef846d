const page = await tools.read({ file_path: "a.txt", limit: 20 });
const numbers: number[] = page.lines.map((line) => line.number);
const found = await tools.grep({ pattern: "x", include: "*.rs" });
const places: [string, number][] = found.matches.map((match) => [match.path, match.lineNumber]);
const [some, all] = await Promise.all([tools.glob({ pattern: "*.md", path: "docs" }), tools.glob({ pattern: "*" })]);
const missed: string[] = some.warnings ?? all.paths;
const written = await tools.write({ file_path: "b.txt", content: missed.join("\n") });
const before: string | null = written.before;
const edited = await tools.edit({ file_path: "b.txt", old_string: "a", new_string: "b", replace_all: true });
const after: string = edited.after + numbers.length + places.length + before;

// @ts-expect-error: a required argument is missing
await tools.read({ limit: 20 });
// @ts-expect-error: an argument has another type
await tools.read({ file_path: 1 });
// @ts-expect-error: an argument has another type
await tools.edit({ file_path: "b.txt", old_string: "a", new_string: "b", replace_all: "yes" });
// @ts-expect-error: null is no path
await tools.glob({ pattern: "*", path: null });
// @ts-expect-error: the arguments are one object
await tools.grep("x");
// @ts-expect-error: there is none without arguments
await tools.write();
// @ts-expect-error: no such tool
await tools.remove({ file_path: "b.txt" });
// @ts-expect-error: no such field
page.text;
// @ts-expect-error: it may be null
written.before.length;
// @ts-expect-error: no such operation
const operation: "delete" = written.operation;
// @ts-expect-error: the result is not text
const text: string = found;
