/**
 * Remembers on which revision clients have agreed with a server, if they had to find out its protocol era. With this memory, `Negotiation`
 * does not find out the era again at the next connection. A remembered revision is only a hint: when the server refuses it, the client
 * probes the server again. When a server ends, its revision is forgotten. There is one exception: the revision of a server that accepts the
 * handshake only on a connection without a probe is not forgotten.
 *
 * The clients of a `ClientSessionGroup` share one memory, and so do all clients that use the same `HttpClient`. Both kinds of memory have
 * one entry for each origin. All other clients have one entry for each connector.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility
 */
import { HttpClient } from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Connector } from "../../jsonrpc/Connector.js"
import type { Version } from "../../protocol/Version.js"

export interface KnownVersionsService {
  /** Returns the revision that is remembered for the server of this connector; `undefined` when no revision is remembered. */
  readonly of: (connector: Connector<unknown>) => Version | undefined
  /** Remembers the revision of a server. With `isKept`, `forget` does not remove the revision when the server has ended. */
  readonly remember: (connector: Connector<unknown>, version: Version, isKept: boolean) => void
  /** Forgets the revision of a server that has ended, except a revision that was remembered with `isKept`. */
  readonly forget: (connector: Connector<unknown>) => void
}

interface Known {
  readonly version: Version
  readonly isKept: boolean
}

type Memory = Pick<Map<unknown, Known>, "delete" | "get" | "set">

const make = (memoryOf: (connector: Connector<unknown>) => readonly [Memory, unknown]): KnownVersionsService => ({
  of: (connector) => {
    const [known, key] = memoryOf(connector)
    return known.get(key)?.version
  },
  remember: (connector, version, isKept) => {
    const [known, key] = memoryOf(connector)
    const before = known.get(key)
    known.set(key, { version, isKept: isKept || (before?.isKept === true && before.version === version) })
  },
  forget: (connector) => {
    const [known, key] = memoryOf(connector)
    if (known.get(key)?.isKept !== true) known.delete(key)
  }
})

/** How many origins are remembered. */
const MAX_ORIGINS = 1000

/** Makes a memory in which connectors with the same `origin` share one entry. A connector without `origin` has an entry of its own. */
export const byOrigin = (): KnownVersionsService => {
  const known = new Map<string, Known>()
  return make((connector) => {
    if (connector.origin === undefined) return [ofConnectors, connector]
    if (known.size > MAX_ORIGINS) known.delete(known.keys().next().value!)
    return [known as Memory, connector.origin]
  })
}

const ofConnectors = new WeakMap<object, Known>() as unknown as Memory
const byConnector = make((connector) => [ofConnectors, connector])
const byClient = new WeakMap<HttpClient, KnownVersionsService>()

/** The memory of a client that connects in this context: the memory of its group, of its `HttpClient`, or of all other clients. */
export const current: Effect.Effect<KnownVersionsService> = Effect.gen(function*() {
  const ofGroup = yield* Effect.serviceOption(KnownVersions)
  const http = yield* Effect.serviceOption(HttpClient)
  if (Option.isSome(ofGroup)) return ofGroup.value
  if (Option.isNone(http)) return byConnector
  const known = byClient.get(http.value) ?? byOrigin()
  byClient.set(http.value, known)
  return known
})

export class KnownVersions extends Context.Tag("@effect-mcp/core/client/negotiation/KnownVersions")<
  KnownVersions,
  KnownVersionsService
>() {}
