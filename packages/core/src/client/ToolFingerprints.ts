/**
 * Notices tools that change after an application has agreed to them. A fingerprint is a digest of what a server says of a tool: its name,
 * title, description, schemas and annotations, as the server sent them. An application stores the fingerprints to which it has agreed, gives
 * them back at its next run, and learns which tools are not the same; by option, calls of such a tool are refused.
 *
 * An application makes the fingerprints once and gives the same value to its group of servers (`ClientSessionGroup`), its lists of tools
 * for models (`ToolList` of package `ai`) and its proxies (`Proxy` of package `proxy`).
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Outbox from "../kit/Outbox.js"
import * as HiddenCharacters from "../protocol/rules/HiddenCharacters.js"
import type * as Tools from "../protocol/Tools.js"

/**
 * A tool to which the application has agreed. `server` is the application's name for the server.
 *
 * @category models
 */
export interface Agreement extends Schema.Schema.Type<typeof Agreement> {}

/** @category schemas */
export const Agreement = Schema.Struct({
  server: Schema.String,
  tool: Schema.String,
  /** As `of` gives it. */
  fingerprint: Schema.String
})

/**
 * A tool that is not as the application has agreed to it, or to which it has not agreed at all.
 *
 * @category models
 */
export interface ToolChange extends Agreement {
  /** The fingerprint to which the application has agreed; `undefined` for a tool to which it has not agreed. */
  readonly before: string | undefined
  /** The tool as the server lists it now. */
  readonly listed: Tools.Tool
}

/** @category models */
export interface Options {
  /** What `agreed` gave at an earlier run. Default: none. */
  readonly agreed?: Iterable<Agreement> | undefined
  /**
   * Which tools models do not get, and whose calls are refused, until the application agrees: `changed`, tools that have changed since the
   * application agreed to them; `unagreed`, also tools to which it never agreed. Without `unagreed`, a tool counts as agreed to when it is
   * listed for the first time. Default: `nothing`; changes are reported only.
   */
  readonly refuse?: "nothing" | "changed" | "unagreed" | undefined
  /**
   * How many tools of one server are remembered. Further tools are never agreed to by being listed. Default: 10,000.
   */
  readonly maxTools?: number | undefined
}

/** @category models */
export interface ToolFingerprints {
  /** Everything to which the application has agreed: to be stored, and given to `make` at the next run. */
  readonly agreed: Effect.Effect<ReadonlyArray<Agreement>>
  /** The tools that wait for the agreement of the application. */
  readonly pending: Effect.Effect<ReadonlyArray<ToolChange>>
  /**
   * The tools that wait for the agreement of the application, now and each time that other tools wait. A slow reader misses older values,
   * never the newest.
   */
  readonly changes: Stream.Stream<ReadonlyArray<ToolChange>>
  /**
   * Agrees to a tool with this fingerprint. When the tool has changed once more meanwhile, it goes on waiting. Groups, lists and proxies
   * have the tool when the effect ends.
   */
  readonly agree: (tool: Agreement) => Effect.Effect<void>
  /**
   * Compares all tools that a server lists now with the agreements, and gives their fingerprints by their names. Groups, lists and proxies
   * run this.
   */
  readonly see: (server: string, tools: ReadonlyArray<Tools.Tool>) => Effect.Effect<ReadonlyMap<string, string>>
  /**
   * Runs an effect each time that other tools wait, until the scope closes. `agree` ends after the effect. Groups, lists and proxies run
   * this.
   */
  readonly renewing: (renew: Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
  /**
   * Why calls of a tool are refused, as the end of a sentence that begins with the tool; `undefined` when they are not. `fingerprint` is
   * that of the tool as the caller knows the tool; `undefined` for a tool that the server does not list.
   */
  readonly refusal: (server: string, tool: string, fingerprint: string | undefined) => string | undefined
}

/**
 * The fingerprint of a tool: `sha256:` and the digest of the tool as JSON with sorted names (RFC 8785), in hexadecimal digits.
 *
 * @category utils
 */
export const of = ({ annotations, description, inputSchema, name, outputSchema, title }: Tools.Tool): Effect.Effect<
  string
> =>
  Effect.suspend(() => {
    const text = canonical({ annotations, description, inputSchema, name, outputSchema, title })
    return Effect.map(
      Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))),
      (digest) => `sha256:${Encoding.encodeHex(new Uint8Array(digest))}`
    )
  })

/** JSON with the members of each object in the order of their names. */
const canonical = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  const object = value as Readonly<Record<string, unknown>>
  const names = Object.keys(object).sort().filter((name) => object[name] !== undefined)
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(object[name])}`).join(",")}}`
}

interface Self {
  readonly refuse: NonNullable<Options["refuse"]>
  readonly maxTools: number
  /** By server and tool. `agree` and `see` write them. */
  readonly servers: Map<string, Map<string, string>>
  /** By server and tool. `agree` and `see` write them. */
  readonly waiting: Map<string, ReadonlyMap<string, ToolChange>>
  /** How many lists of each server `see` got, and which of them it compared last; `see` writes them. */
  readonly seen: Map<string, { readonly last: number; readonly compared: number }>
  readonly listeners: Set<Outbox.Outbox<ReadonlyArray<ToolChange>>>
  readonly renewals: Set<Renewal>
}

interface Renewal {
  readonly renew: Effect.Effect<void>
  /** `see` wakes its reader, who renews later: the caller of `see` may hold a lock for which `renew` waits. */
  readonly later: Outbox.Outbox<void>
}

/**
 * Fingerprints for one application.
 *
 * @example
 * ```ts
 * import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
 * import * as ToolFingerprints from "@effect-mcp/core/ToolFingerprints"
 * import { Effect } from "effect"
 *
 * export const program = (stored: ReadonlyArray<ToolFingerprints.Agreement>) =>
 *   Effect.gen(function*() {
 *     const fingerprints = yield* ToolFingerprints.make({ agreed: stored, refuse: "changed" })
 *     const group = yield* ClientSessionGroup.make({ fingerprints })
 *     // … connect servers, ask a person about each tool in `fingerprints.pending`, then:
 *     return yield* fingerprints.agreed
 *   })
 * ```
 * @category constructors
 */
export const make = (options: Options = {}): Effect.Effect<ToolFingerprints> =>
  Effect.sync(() => {
    const { agreed = [], maxTools = 10_000, refuse = "nothing" } = options
    const self: Self = {
      maxTools,
      refuse,
      servers: new Map(),
      waiting: new Map(),
      seen: new Map(),
      listeners: new Set(),
      renewals: new Set()
    }
    for (const { fingerprint, server, tool } of agreed) agreementsOf(self, server).set(tool, fingerprint)
    return {
      agreed: Effect.sync(() => agreements(self)),
      pending: Effect.sync(() => pending(self)),
      changes: changes(self),
      agree: (tool) => agree(self, tool),
      see: (server, tools) => see(self, server, tools),
      renewing: (renew) => renewing(self, renew),
      refusal: (server, tool, fingerprint) => refusal(self, server, tool, fingerprint)
    }
  })

const agreementsOf = ({ servers }: Self, server: string): Map<string, string> => {
  const known = servers.get(server)
  if (known !== undefined) return known
  const none = new Map<string, string>()
  servers.set(server, none)
  return none
}

const agreements = ({ servers }: Self): ReadonlyArray<Agreement> =>
  [...servers].flatMap(([server, tools]) => Array.from(tools, ([tool, fingerprint]) => ({ server, tool, fingerprint })))

const pending = ({ waiting }: Self): ReadonlyArray<ToolChange> =>
  [...waiting.values()].flatMap((tools) => [...tools.values()])

/** Only the newest value waits for a slow reader: it has all that wait. */
const changes = (self: Self): Stream.Stream<ReadonlyArray<ToolChange>> =>
  Stream.unwrapScoped(Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const listener = Outbox.make<ReadonlyArray<ToolChange>>(1)
        self.listeners.add(listener)
        listener.unsafeOffer(pending(self))
        return listener
      }),
      (listener) =>
        Effect.sync(() => {
          self.listeners.delete(listener)
          listener.end(Exit.void)
        })
    ),
    ({ stream }) => stream
  ))

const renewing = (self: Self, renew: Effect.Effect<void>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { later } = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const renewal: Renewal = { renew, later: Outbox.make<void>(1) }
        self.renewals.add(renewal)
        return renewal
      }),
      (renewal) => Effect.sync(() => self.renewals.delete(renewal))
    )
    yield* Effect.forkScoped(Stream.runForEach(later.stream, () => renew))
  })

/** Sets which tools of a server wait, and gives whether others wait than before. State is set before a reader is woken. */
const wait = (self: Self, server: string, tools: ReadonlyMap<string, ToolChange>): boolean => {
  const before = self.waiting.get(server)
  const isSame = tools.size === (before?.size ?? 0) &&
    [...tools].every(([tool, { fingerprint }]) => before?.get(tool)?.fingerprint === fingerprint)
  if (tools.size === 0) self.waiting.delete(server)
  else self.waiting.set(server, tools)
  if (isSame) return false
  const all = pending(self)
  for (const listener of self.listeners) listener.unsafeSlide(all)
  return true
}

const agree = (self: Self, { fingerprint, server, tool }: Agreement): Effect.Effect<void> =>
  Effect.suspend(() => {
    agreementsOf(self, server).set(tool, fingerprint)
    const tools = new Map(self.waiting.get(server))
    const waiting = tools.get(tool)
    if (waiting?.fingerprint === fingerprint) tools.delete(tool)
    else if (waiting !== undefined) tools.set(tool, { ...waiting, before: fingerprint })
    wait(self, server, tools)
    return Effect.forEach([...self.renewals], ({ renew }) => renew, { discard: true })
  })

const see = Effect.fnUntraced(function*(self: Self, server: string, tools: ReadonlyArray<Tools.Tool>) {
  const { compared, last } = self.seen.get(server) ?? { last: 0, compared: 0 }
  const number = last + 1
  self.seen.set(server, { last: number, compared })
  const listed = new Map(tools.map((tool) => [tool.name, tool]))
  const fingerprints = new Map<string, string>()
  for (const [name, tool] of listed) fingerprints.set(name, yield* of(tool))
  const now = self.seen.get(server)!
  // A list that came later may have been compared before.
  if (now.compared > number) return fingerprints
  self.seen.set(server, { ...now, compared: number })
  yield* compare(self, server, listed, fingerprints)
  return fingerprints
})

const compare = (
  self: Self,
  server: string,
  listed: ReadonlyMap<string, Tools.Tool>,
  fingerprints: ReadonlyMap<string, string>
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const agreed = agreementsOf(self, server)
    const before = self.waiting.get(server)
    const waiting = new Map<string, ToolChange>()
    for (const [tool, fingerprint] of fingerprints) {
      const known = agreed.get(tool)
      if (known === fingerprint) continue
      if (known === undefined && self.refuse !== "unagreed" && agreed.size < self.maxTools) {
        agreed.set(tool, fingerprint)
      } else waiting.set(tool, { server, tool, fingerprint, before: known, listed: listed.get(tool)! })
    }
    if (wait(self, server, waiting)) { for (const { later } of self.renewals) later.unsafeSlide() }
    const changed = [...waiting.values()].filter(({ before: known, fingerprint, tool }) =>
      known !== undefined && before?.get(tool)?.fingerprint !== fingerprint
    )
    return changed.length === 0 ? Effect.void : Effect.logWarning(sentence(server, changed.map(({ tool }) => tool)))
  })

/** How many names a sentence has, and how many characters of each. */
const MAX_NAMES = 5
const MAX_NAME = 100

const quoted = (name: string): string => `"${HiddenCharacters.escaped(name.slice(0, MAX_NAME))}"`

const sentence = (server: string, tools: ReadonlyArray<string>): string => {
  const more = tools.length > MAX_NAMES ? ` and ${tools.length - MAX_NAMES} more` : ""
  const names = tools.slice(0, MAX_NAMES).map(quoted).join(", ")
  return `Tools of ${quoted(server)} have changed since the application agreed to them: ${names}${more}`
}

const refusal = (
  { refuse, servers, waiting }: Self,
  server: string,
  tool: string,
  fingerprint: string | undefined
): string | undefined => {
  if (refuse === "nothing") return undefined
  const agreed = servers.get(server)?.get(tool)
  const isUnknown = agreed === undefined && refuse === "unagreed"
  if (!isUnknown && agreed === fingerprint && waiting.get(server)?.has(tool) !== true) return undefined
  return agreed === undefined
    ? "has not been agreed to by the application"
    : "has changed since the application agreed to it"
}
