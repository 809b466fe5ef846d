const own = "!{target,dist,build,out,_build,DerivedData,vendor,Pods,site-packages,.*," +
  "**/{node_modules,bower_components,__pycache__,.venv,venv,.tox,.nox,.gradle}}/**";
const found = await tools.glob({ pattern: own }).catch((error: Error) => error);
if (found instanceof Error) return { error: found.message };

type Counts = Map<string, number>;
const add = (counts: Counts, name: string, more = 1) => counts.set(name, (counts.get(name) ?? 0) + more);
const largest = (counts: Counts, most: number) => Object.fromEntries(
  [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, most));
const kindOf = (path: string) => /[^/]\.([^./]*)$/.exec(path)?.[1] ?? "";

const kinds: Counts = new Map(), directories: Counts = new Map();
for (const path of found.paths) {
  add(kinds, kindOf(path));
  if (path.includes("/")) add(directories, path.split("/", 1)[0]);
}

// Of more than 2,000 sources it reads an even sample, and lines are an estimate.
const sourceKinds = new Set(("c cc cpp cs css dart ex exs go h hpp hs html java jl js jsx kt lua md mjs ml php pl py " +
  "r rb rs scala sh sql svelte swift tex ts tsx vue zig").split(" "));
const sources = found.paths.filter((path) => sourceKinds.has(kindOf(path)));
const most = Math.min(sources.length, 2000);
const sample = Array.from({ length: most }, (_, n) => sources[Math.floor(n * sources.length / most)]);

const tried: Counts = new Map(), lines: Counts = new Map(), longest: Counts = new Map();
let unreadable = 0;
const read = async (file_path: string) => {
  add(tried, kindOf(file_path));
  const file = await tools.read({ file_path, limit: 1 }).catch(() => null);
  if (file === null) return unreadable += 1;
  longest.set(file_path, file.totalLines);
  add(lines, kindOf(file_path), file.totalLines);
};
for (let at = 0; at < most; at += 50) await Promise.all(sample.slice(at, at + 50).map(read));
for (const [kind, sum] of lines) lines.set(kind, Math.round(sum / tried.get(kind)! * kinds.get(kind)!));

return { files: found.paths.length, kinds: largest(kinds, 6), directories: largest(directories, 6),
  lines: largest(lines, 6), longest: largest(longest, 3), sources: sources.length, tried: most, unreadable };
