type A<T extends object = {}> = { [K in keyof T]?: T[K] } & { readonly a: 1 };
interface B extends A<{}> { (x: number): string; new (): B; m?(): void; }
declare const c: unique symbol; declare function d(): void; declare module "x" {}
const e = <T,>(a: T, b?: string, ...c: T[]): a is T => true;
let f!: number, g: string[] = [] as any satisfies string[];
for (const h of g as Iterable<string>) { h!.length; }
function i(this: void, j: number): asserts j is 1;
function i(this: void, j: any) { return j! as const }
const k = new Map<string, Array<number>>(); k.get<1>; f<string>`x`;
