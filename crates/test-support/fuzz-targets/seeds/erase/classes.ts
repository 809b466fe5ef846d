abstract class A<T> extends B<T> implements C, D<T> {
  public static readonly a?: string = "x";
  declare b: number;
  private c!: T
  ['d'] = 1
  protected abstract e(): void;
  override get f(): string { return this.c as any }
  [key: string]: any;
  static { this.a! }
  #g?: number
  constructor(h: string, i?: number) { super(h) }
  async *j<U>(k: U): AsyncGenerator<U> {}
  get: number
  set = 2
}
const L = class<T> implements M {};
