/**
 * A table of entries of one kind, by key. An entry is registered in a scope, and removed when the scope closes. It does
 * not know what the entries mean. A result that was made from entries is valid until `revision` changes.
 *
 * The fields change together: each change of `byKey` increments `revision` and then calls the listeners.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export class EntryTable<in out A> {
  private readonly byKey = new Map<string, A>()
  private readonly listeners = new Set<() => void>()
  revision = 0

  constructor(
    /** The kind of the entries, as the error message of a duplicate names it: `tools named`. */
    private readonly kind: string,
    private readonly keyOf: (entry: A) => string
  ) {}

  get size(): number {
    return this.byKey.size
  }

  get wasUsed(): boolean {
    return this.revision > 0
  }

  get(key: string): A | undefined {
    return this.byKey.get(key)
  }

  has(key: string): boolean {
    return this.byKey.has(key)
  }

  keys(): IterableIterator<string> {
    return this.byKey.keys()
  }

  values(): IterableIterator<A> {
    return this.byKey.values()
  }

  [Symbol.iterator](): IterableIterator<[string, A]> {
    return this.byKey.entries()
  }

  register(entry: A): Effect.Effect<void, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.suspend(() => {
        const key = this.keyOf(entry)
        if (this.byKey.has(key)) return Effect.dieMessage(`Two features of this server are ${this.kind} "${key}"`)
        this.byKey.set(key, entry)
        this.changed()
        return Effect.void
      }),
      () =>
        Effect.sync(() => {
          this.byKey.delete(this.keyOf(entry))
          this.changed()
        })
    )
  }

  onChange(listener: () => void): Effect.Effect<void, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.sync(() => this.listeners.add(listener)),
      () => Effect.sync(() => this.listeners.delete(listener))
    )
  }

  private changed(): void {
    this.revision++
    for (const listener of this.listeners) listener()
  }
}
