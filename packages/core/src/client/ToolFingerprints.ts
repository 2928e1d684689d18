/**
 * Finds tools that change after an application has agreed to them. A fingerprint is a digest of what a server says about a tool: its name,
 * title, description, schemas and annotations, as the server sent them. An application stores the fingerprints to which it has agreed, and
 * gives them to `make` in its next run. Then the application learns which tools have changed. With the option `refuse`, calls of changed
 * tools are refused.
 *
 * An application makes one `ToolFingerprints`. It gives this value to its group of servers (`ClientSessionGroup`), its lists of tools for
 * models (`ToolList` of package `ai`) and its proxies (`Proxy` of package `proxy`).
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
 * A tool to which the application has agreed. `server` is the name that the application uses for the server.
 *
 * @category models
 */
export interface Agreement extends Schema.Schema.Type<typeof Agreement> {}

/** @category schemas */
export const Agreement = Schema.Struct({
  server: Schema.String,
  tool: Schema.String,
  /** The fingerprint that `of` returns. */
  fingerprint: Schema.String
})

/**
 * A tool that waits for the agreement of the application: it has changed since the application agreed to it, or the application has never
 * agreed to it.
 *
 * @category models
 */
export interface ToolChange extends Agreement {
  /** The fingerprint to which the application has agreed; `undefined` when it has never agreed to the tool. */
  readonly before: string | undefined
  /** The tool as the server lists it now. */
  readonly listed: Tools.Tool
}

/** @category models */
export interface Options {
  /** The agreements that `agreed` returned in an earlier run. Default: none. */
  readonly agreed?: Iterable<Agreement> | undefined
  /**
   * Which tools are hidden from models, and whose calls are refused, until the application agrees to them. `changed`: tools that have
   * changed since the application agreed to them. `unagreed`: these tools, and tools to which the application has never agreed. `nothing`:
   * no tools; changes are only reported. With `nothing` and `changed`, the first listing of a tool counts as the agreement of the
   * application. Default: `nothing`.
   */
  readonly refuse?: "nothing" | "changed" | "unagreed" | undefined
  /**
   * How many tools of one server are remembered. Beyond this number, listing a tool for the first time does not count as agreement, so the
   * tool waits for the agreement of the application. Default: 10,000.
   */
  readonly maxTools?: number | undefined
}

/** @category models */
export interface ToolFingerprints {
  /** All tools to which the application has agreed. The application stores them, and gives them to `make` in the next run. */
  readonly agreed: Effect.Effect<ReadonlyArray<Agreement>>
  /** The tools that wait for the agreement of the application. */
  readonly pending: Effect.Effect<ReadonlyArray<ToolChange>>
  /**
   * The tools that wait for the agreement of the application, now and each time that these tools change. A slow reader misses older values,
   * but never the newest.
   */
  readonly changes: Stream.Stream<ReadonlyArray<ToolChange>>
  /**
   * Agrees to a tool with this fingerprint. If the tool has changed again meanwhile, it still waits for agreement. When the effect ends,
   * groups, lists and proxies offer the tool.
   */
  readonly agree: (tool: Agreement) => Effect.Effect<void>
  /**
   * Compares all tools that a server lists now with the agreements, and returns their fingerprints, by the names of the tools. Groups,
   * lists and proxies run this function.
   */
  readonly see: (server: string, tools: ReadonlyArray<Tools.Tool>) => Effect.Effect<ReadonlyMap<string, string>>
  /**
   * Runs `renew` each time that the waiting tools change, until the scope closes. `agree` waits for the end of `renew`. Groups, lists and
   * proxies use this.
   */
  readonly renewing: (renew: Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
  /**
   * Returns why calls of a tool are refused, as the end of a sentence whose subject is the tool; `undefined` when they are not refused.
   * `fingerprint` is the fingerprint of the tool as the caller knows it. It is `undefined` for a tool that the server does not list.
   */
  readonly refusal: (server: string, tool: string, fingerprint: string | undefined) => string | undefined
}

/**
 * Computes the fingerprint of a tool: `sha256:` and the digest of the tool in hexadecimal digits. The digest is made of JSON with sorted
 * names (RFC 8785).
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

/** Writes JSON in which the members of each object are sorted by name. */
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
  /** The fingerprints to which the application has agreed, by server and then by tool. `agree` and `see` change them. */
  readonly servers: Map<string, Map<string, string>>
  /** The tools that wait for agreement, by server and then by tool. `agree` and `see` change them. */
  readonly waiting: Map<string, ReadonlyMap<string, ToolChange>>
  /** By server: how many lists `see` has received, and the number of the list that it compared last. `see` changes them. */
  readonly seen: Map<string, { readonly last: number; readonly compared: number }>
  readonly listeners: Set<Outbox.Outbox<ReadonlyArray<ToolChange>>>
  readonly renewals: Set<Renewal>
}

interface Renewal {
  readonly renew: Effect.Effect<void>
  /**
   * A reader of this outbox runs `renew` later. `see` does not run `renew` itself, because the caller of `see` may hold a lock for which
   * `renew` waits.
   */
  readonly later: Outbox.Outbox<void>
}

/**
 * Makes the fingerprints of one application.
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

/**
 * Makes the stream of the waiting tools. Its outbox stores only the newest value for a slow reader, because each value has all waiting
 * tools.
 */
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

/**
 * Sets which tools of a server wait for agreement. Returns whether these tools have changed. The state is set before the readers get the
 * new tools.
 */
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
  // A later list may have been compared already.
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

/** How many names a sentence has. `MAX_NAME` is how many characters of each it has. */
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
    ? "is not a tool to which the application has agreed"
    : "has changed since the application agreed to it"
}
