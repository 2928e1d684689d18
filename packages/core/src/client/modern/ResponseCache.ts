/**
 * Stores the results of the methods whose results may be cached, for the time that the cache hints of the server allow. `ModernCalls` looks
 * here before it sends a request. When a notification says that a list or a resource has changed, the cache removes the results that are
 * stale now. Then it also does not store a result that was requested before the notification.
 *
 * A result that is not `public` is used only while requests have the same credentials as the request that fetched the result. The
 * `Transport` numbers the credentials; renewed tokens count as other credentials. Several callers never share one request. Effect's `Cache`
 * is not used here: it limits only the number of its entries, and cannot tell which entries a notification makes stale.
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
  /** The credentials of the requests; `undefined` when all requests have the same credentials. */
  readonly credentials: Credentials | undefined
  /** How long finding the current credentials may take. When it takes longer, the request is sent. */
  readonly timeout: Duration.DurationInput
}

/** How many results are kept. The oldest are removed first. */
const MAX_ENTRIES = 256

/** How many characters of JSON all results may have together. */
const MAX_SIZE = 16 * 1024 * 1024

interface Entry {
  readonly method: string
  /** The key of the URI of the request; `undefined` when the request has no URI. */
  readonly uri: string | undefined
  /** The result as JSON. Each caller gets an object of its own, which the caller may change. */
  readonly text: string
  /** When the result becomes stale, in milliseconds since 1970. */
  readonly until: number
  /** The number of the credentials to which the result belongs; `undefined` when the result is public. */
  readonly credentials: number | undefined
}

/** The methods whose results a notification makes stale, by the name of the notification. */
const staleAfter: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["notifications/tools/list_changed", ["tools/list"]],
  ["notifications/prompts/list_changed", ["prompts/list"]],
  ["notifications/resources/list_changed", ["resources/list", "resources/templates/list", "resources/read"]],
  ["notifications/resources/updated", ["resources/read"]]
])

/**
 * The mutable fields: `entries` has the results, the oldest first. `changes` counts, for each method, how often its results have become
 * stale. `size` is how many characters all results have together.
 */
export class ResponseCache {
  private readonly entries = new Map<string, Entry>()
  // A result is not stored when this number has changed since its request was sent.
  private readonly changes = new Map<string, number>()
  private size = 0

  constructor(private readonly options: Options) {}

  /**
   * Returns the cached result of a request if it is fresh. Otherwise runs `call`, and stores its result if the hints of the result allow
   * it.
   */
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
        // The client SHOULD discard the cached pages of a list when the server refuses a cursor (2026-07-28 server/utilities/caching).
        const calling = cursor === undefined
          ? call
          : Effect.tapError(call, () => Effect.sync(() => this.makeStale([method])))
        return Effect.map(calling, (result) => {
          const { cacheScope, ttlMs } = result
          const isPublic = cacheScope === "public"
          // A private result MUST NOT be shared (2026-07-28 server/utilities/caching). When another request had other credentials
          // meanwhile, the client cannot tell to which credentials this result belongs.
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

  /** Removes the results that a notification of the server makes stale. */
  onNotification({ method, params }: Notification): void {
    this.makeStale(staleAfter.get(method) ?? [], params?.uri)
  }

  /** The number of the credentials of the last request. */
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

  /** Removes the results of these methods. With a URI, removes only results of reading that URI or a URI above it. */
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
