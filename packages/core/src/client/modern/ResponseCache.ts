/**
 * Keeps results for as long as the server's caching hints allow, for the methods that may be cached. `ModernCalls` looks here before it
 * sends a request. A notification that a list or a resource has changed removes what it makes stale, also where the result is still on
 * its way.
 *
 * A result that is not `public` is used only while requests have the credentials that it was requested with; the `Transport` numbers the
 * credentials. Renewed tokens are other credentials. Requests are never shared. The `Cache` of Effect does not fit: it is bounded by the
 * number of entries alone, and cannot tell which of them a notification makes stale.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Notification, Params } from "../../jsonrpc/Message.js"
import * as JsonText from "../../jsonrpc/runtime/JsonText.js"
import type { Credentials } from "../../jsonrpc/Transport.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import * as Caching from "../../protocol/modern/Caching.js"
import * as Subscriptions from "../../protocol/modern/Subscriptions.js"
import * as UriKey from "../../protocol/rules/UriKey.js"

export interface Options {
  /** Default: every request has the same credentials. */
  readonly credentials: Credentials | undefined
  /** How long finding the present credentials may take; then the request is sent. */
  readonly timeout: Duration.DurationInput
}

/** The oldest entries go first. */
const MAX_ENTRIES = 256

/** In characters of JSON. */
const MAX_SIZE = 16 * 1024 * 1024

interface Entry {
  readonly method: string
  /** The key of the URI. */
  readonly uri: string | undefined
  /** The result as JSON: each caller gets an object of its own, which the caller may change. */
  readonly text: string
  /** From then on it is stale, in milliseconds. */
  readonly until: number
  /** The number of the credentials that it belongs to; `undefined` when it is public. */
  readonly credentials: number | undefined
}

/** The methods whose results a notification makes stale. */
const staleAfter: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["notifications/tools/list_changed", ["tools/list"]],
  ["notifications/prompts/list_changed", ["prompts/list"]],
  ["notifications/resources/list_changed", ["resources/list", "resources/templates/list", "resources/read"]],
  ["notifications/resources/updated", ["resources/read"]]
])

/**
 * Its mutable fields: the entries, the oldest first; `changes` counts what made entries stale; `size` is the size of all entries together.
 */
export class ResponseCache {
  private readonly entries = new Map<string, Entry>()
  // How often each method's results have become stale: a result that was requested before is not kept.
  private readonly changes = new Map<string, number>()
  private size = 0

  constructor(private readonly options: Options) {}

  /** The fresh result of a request; without one, the result of `call`, which is kept if its hints allow. */
  through<E>(method: string, params: Params | undefined, call: Effect.Effect<Params, E>): Effect.Effect<Params, E> {
    const cacheable = Caching.key(method, params ?? {})
    if (Option.isNone(cacheable)) return call
    const key = cacheable.value
    return Effect.flatMap(Effect.clock, (clock) => {
      const { credentials, timeout } = this.options
      const requesting = Effect.suspend(() => {
        const before = this.changes.get(method) ?? 0
        const credentialsBefore = this.present()
        const cursor = params?.cursor
        // SHOULD discard the cached pages of a list when the server refuses a cursor (2026-07-28 server/utilities/caching)
        const calling = cursor === undefined
          ? call
          : Effect.tapError(call, () => Effect.sync(() => this.makeStale([method])))
        return Effect.map(calling, (result) => {
          const { cacheScope, ttlMs } = result
          const isPublic = cacheScope === "public"
          // MUST NOT share a private result (2026-07-28 server/utilities/caching): when another request had other credentials meanwhile, it
          // is not sure whose result it is.
          const isMine = isPublic || this.present() === credentialsBefore
          const isKept = typeof ttlMs === "number" && ttlMs > 0 && (this.changes.get(method) ?? 0) === before && isMine
          const text = isKept ? JsonText.stringify(result) : undefined
          if (text !== undefined) {
            this.keep(key, {
              method,
              uri: typeof params?.uri === "string" ? UriKey.of(params.uri) : undefined,
              text,
              until: EffectInternals.millis(clock) + (ttlMs as number),
              credentials: isPublic ? undefined : credentialsBefore
            })
          }
          return result
        })
      })
      const isFresh = (entry: Entry): boolean => EffectInternals.millis(clock) < entry.until
      const entry = this.entries.get(key)
      if (entry === undefined) return requesting
      if (!isFresh(entry)) {
        this.remove(key, entry)
        return requesting
      }
      if (entry.credentials === undefined || credentials === undefined) return copyOf(entry)
      return Effect.flatMap(
        TimeLimit.call(Effect.option(credentials.now), timeout, () => Effect.succeedNone),
        (now) => {
          const isValid = Option.contains(now, entry.credentials) && this.entries.get(key) === entry && isFresh(entry)
          return isValid ? copyOf(entry) : requesting
        }
      )
    })
  }

  /** Removes what a notification of the server makes stale. */
  onNotification({ method, params }: Notification): void {
    this.makeStale(staleAfter.get(method) ?? [], params?.uri)
  }

  /** The number of the credentials that were sent last. */
  private present(): number {
    return this.options.credentials?.last() ?? 0
  }

  private remove(key: string, entry: Entry): void {
    this.entries.delete(key)
    this.size -= entry.text.length
  }

  private keep(key: string, entry: Entry): void {
    const old = this.entries.get(key)
    if (old !== undefined) this.remove(key, old)
    if (entry.text.length > MAX_SIZE) return
    this.entries.set(key, entry)
    this.size += entry.text.length
    for (const [key, oldest] of this.entries) {
      if (this.entries.size <= MAX_ENTRIES && this.size <= MAX_SIZE) break
      this.remove(key, oldest)
    }
  }

  /** Removes the results of methods: of reading at or above a URI if one is given. */
  private makeStale(methods: ReadonlyArray<string>, uri?: unknown): void {
    for (const method of methods) this.changes.set(method, (this.changes.get(method) ?? 0) + 1)
    const changed = typeof uri === "string" ? UriKey.of(uri) : undefined
    for (const [key, entry] of this.entries) {
      const isMeant = changed === undefined || entry.uri === undefined || Subscriptions.isAtOrBelow(changed, entry.uri)
      if (methods.includes(entry.method) && isMeant) this.remove(key, entry)
    }
  }
}

const copyOf = ({ text }: Entry): Effect.Effect<Params> => Effect.sync(() => JSON.parse(text) as Params)
