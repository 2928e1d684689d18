/**
 * A table of the `Registry`: entries of one kind, by key. Each entry belongs to a scope. When the scope closes, the table removes the
 * entry. The table does not depend on the kind of its entries. Code that caches a result made from entries must make the result again when
 * `revision` changes.
 *
 * The fields change together: each change of `byKey` also changes `equals` and increments `revision`, and then the table calls the
 * listeners. `yielding` contains the entries that the application has registered with the option `yields`. Another entry with the same key
 * may replace such an entry. `behind` contains, for each key, the entries that another entry currently replaces. When the replacing entry
 * is removed, the table uses the first of the replaced entries again.
 */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { FeatureError } from "../FeatureError.js"
import * as ChangeBatch from "./ChangeBatch.js"

export class EntryTable<in out A> {
  private readonly byKey = new Map<string, A>()
  private readonly yielding = new WeakSet<object>()
  private readonly behind = new Map<string, ReadonlyArray<A>>()
  private readonly listeners = new Set<() => void>()
  revision = 0
  private isClosed = false

  /** The keys that count as equal, in the order in which their entries were added. */
  private readonly equals = new Map<string, Set<string>>()

  constructor(
    /** The kind of the entries in the error message for a duplicate, for example `tools named`. */
    private readonly kind: string,
    private readonly keyOf: (entry: A) => string,
    /** Gives the same text for two keys that count as equal. By default, different keys never count as equal. */
    private readonly normal?: (key: string) => string
  ) {}

  get size(): number {
    return this.byKey.size
  }

  get wasUsed(): boolean {
    return this.revision > 0
  }

  /** Gives the entry of this key. If there is no such entry, gives the entry of a key that counts as equal. */
  get(key: string): A | undefined {
    const found = this.byKey.get(key)
    if (found !== undefined || this.normal === undefined) return found
    const [equal] = this.equals.get(this.normal(key)) ?? []
    return equal === undefined ? undefined : this.byKey.get(equal)
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

  register(entry: A, options?: { readonly yields?: boolean }): Effect.Effect<void, never, Scope.Scope> {
    // Not `acquireRelease`, which would run the removal in the batch of the registration.
    return Effect.uninterruptible(
      Effect.flatMap(Effect.scope, (scope) =>
        Effect.zipRight(
          this.add(entry, options?.yields === true),
          Scope.addFinalizer(scope, this.remove(this.keyOf(entry), entry))
        ))
    )
  }

  /** Refuses every entry from now on. */
  close(): void {
    this.isClosed = true
  }

  /** Calls the listeners. Inside of a batch, calls the listeners when the batch has ended. */
  get announce(): Effect.Effect<void> {
    return ChangeBatch.add(this.callListeners)
  }

  private add(entry: A, yields: boolean): Effect.Effect<void> {
    return Effect.suspend(() => {
      const key = this.keyOf(entry)
      const what = `${this.kind} "${key}"`
      if (this.isClosed) {
        const message = `The server has shut down and accepts no more features: ${what} was added too late`
        return Effect.die(new FeatureError({ reason: "Closed", message }))
      }
      const present = this.byKey.get(key)
      if (yields) this.yielding.add(entry as object)
      if (present !== undefined) {
        if (yields) return Effect.sync(() => this.behind.set(key, [...this.behind.get(key) ?? [], entry]))
        if (!this.yielding.has(present as object)) {
          const message = `Two features of this server are ${what}: rename one, or remove one before you add the other`
          return Effect.die(new FeatureError({ reason: "Taken", message }))
        }
        this.behind.set(key, [present, ...this.behind.get(key) ?? []])
      }
      this.byKey.set(key, entry)
      this.addEqual(key)
      this.revision++
      return this.announce
    })
  }

  private addEqual(key: string): void {
    if (this.normal === undefined) return
    const normal = this.normal(key)
    const keys = this.equals.get(normal)
    if (keys === undefined) this.equals.set(normal, new Set([key]))
    else keys.add(key)
  }

  private removeEqual(key: string): void {
    if (this.normal === undefined) return
    const normal = this.normal(key)
    const keys = this.equals.get(normal)
    keys?.delete(key)
    if (keys?.size === 0) this.equals.delete(normal)
  }

  private remove(key: string, entry: A): Effect.Effect<void> {
    return Effect.suspend(() => {
      const [next, ...rest] = this.behind.get(key) ?? []
      const isPresent = this.byKey.get(key) === entry
      const behind = isPresent ? rest : (this.behind.get(key) ?? []).filter((one) => one !== entry)
      if (behind.length === 0) this.behind.delete(key)
      else this.behind.set(key, behind)
      if (!isPresent) return Effect.void
      if (next === undefined) {
        this.byKey.delete(key)
        this.removeEqual(key)
      } else this.byKey.set(key, next)
      this.revision++
      return this.announce
    })
  }

  onChange(listener: () => void): Effect.Effect<void, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.sync(() => this.listeners.add(listener)),
      () => Effect.sync(() => this.listeners.delete(listener))
    )
  }

  private readonly callListeners = (): void => {
    for (const listener of this.listeners) listener()
  }
}
