const calls: [ToolName, any][] = [/* tool, arguments */];

// What an overview needs of a result; of many paths, one for each entry at the top.
const cut = (text: string) => text.slice(0, 240).replace(/[\ud800-\udbff]$/, "");
const some = (paths: string[]) => paths.length <= 100
  ? paths
  : [...new Map(paths.map((path) => [path.split("/", 1)[0], path])).values()].slice(0, 100);
const brief = ({ paths, matches, lines, ...rest }: any) => ({
  ...rest,
  ...(paths && { total: paths.length, paths: some(paths) }),
  ...(matches && { total: matches.length, matches: matches.slice(0, 100).map(first) }),
  ...(lines && { lines: lines.slice(0, 60).map((row: any) => cut(row.text)) }),
});
const first = ({ line, ...place }: any) => ({ ...place, line: cut(line) });

return await Promise.all(calls.map(([tool, args]) =>
  tools[tool](args).then(brief, (error: Error) => ({ error: error.message }))));
