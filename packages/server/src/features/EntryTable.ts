/**
 * Entries of one kind that come and go. Putting one on the shelf is acquiring: it leaves with the scope it was put there in.
 *
 * It knows neither what the entries are nor who reads them; what is worked out from them holds until `revision` changes.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/**
 * @since 0.1.0
 * @category models
 */
export class EntryTable<in out A> {
  private readonly byKey = new Map<string, A>()
  private readonly listeners = new Set<() => void>()
  /** Grows whenever an entry comes or goes. */
  revision = 0

  constructor(
    /** What stands here, for people: `tools named`. */
    private readonly what: string,
    private readonly keyOf: (entry: A) => string
  ) {}

  get size(): number {
    return this.byKey.size
  }

  /** Whether there is, or ever was, an entry. */
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

  /** Adds an entry until the scope closes. Dies when its key is taken: two features of a server promise the same. */
  register(entry: A): Effect.Effect<void, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.suspend(() => {
        const key = this.keyOf(entry)
        if (this.byKey.has(key)) return Effect.dieMessage(`Two features of this server are ${this.what} "${key}"`)
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

  /** Calls back on every change, until the scope closes. */
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
