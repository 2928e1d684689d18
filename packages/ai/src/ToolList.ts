/**
 * Makes the tool list of a model from the tools of MCP servers. In the list the names are unique, and every model API accepts them.
 * Descriptions have a limited length, and schemas are in the dialect of the model. A list has the tools of one session (`ClientSession`) or
 * of a group of sessions (`ClientSessionGroup`). `make` reads the tools of the servers once. `follow` reads the tools again after each
 * change. `call` of a list calls a tool with the arguments that the model has written, and returns the output for the model.
 *
 * This module is for programs that call the API of a model themselves. Programs that use `@effect/ai` use `ClientToolkit`.
 *
 * @since 0.1.0
 */
import type { ClientError } from "@effect-mcp/core/ClientError"
import type { CallToolOptions, ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { ClientSessionGroupService } from "@effect-mcp/core/ClientSessionGroup"
import type * as Definition from "@effect-mcp/core/Definition"
import * as Diagnostic from "@effect-mcp/core/Diagnostic"
import type { Entries } from "@effect-mcp/core/GroupEntries"
import { ToolRefused, type UnknownEntry } from "@effect-mcp/core/GroupError"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type * as Tools from "@effect-mcp/core/protocol/Tools"
import type { ToolFingerprints } from "@effect-mcp/core/ToolFingerprints"
import * as ListPace from "@effect-mcp/core/unstable/client/ListPace"
import * as ListReport from "@effect-mcp/core/unstable/client/ListReport"
import * as ServerLists from "@effect-mcp/core/unstable/client/ServerLists"
import { raceFirst } from "@effect-mcp/core/unstable/kit/Race"
import * as Semaphore from "@effect-mcp/core/unstable/kit/Semaphore"
import * as HiddenCharacters from "@effect-mcp/core/unstable/protocol/HiddenCharacters"
import * as Apps from "@effect-mcp/extensions/Apps"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as Failures from "./list/Failures.js"
import * as ModelArguments from "./list/ModelArguments.js"
import * as ModelNames from "./list/ModelNames.js"
import * as ModelSchema from "./ModelSchema.js"
import * as Conversion from "./schema/Conversion.js"
import * as Dialects from "./schema/Dialects.js"
import * as Inlining from "./schema/Inlining.js"
import * as ModelText from "./text/ModelText.js"
import * as ToolOutput from "./ToolOutput.js"

/**
 * A tool in the form that a model gets.
 *
 * @category models
 */
export interface ModelTool {
  /** The name, which is unique in the list. It has at most 64 characters, which are letters, digits, "_" and "-". */
  readonly name: string
  readonly description: string
  /** The schema of the arguments, in the dialect of the list. */
  readonly inputSchema: JsonObject
  /** Whether `inputSchema` has the strict form of OpenAI. */
  readonly isStrict: boolean
  /**
   * The name of the server that has the tool. In a list of a group this is the name of the server in the group. In a list of a session this
   * is the option `server`, or the name that the server gives itself.
   */
  readonly server: string
  /** The tool exactly as the server lists it. Invisible characters are removed only in the other members of `ModelTool`. */
  readonly tool: Tools.Tool
}

/**
 * The tools that a model gets, and a function that calls them.
 *
 * @category models
 */
export interface ToolList {
  readonly tools: ReadonlyArray<ModelTool>
  /** The tools that the model does not get, each with the reason. */
  readonly skipped: ReadonlyArray<{ readonly server: string; readonly tool: string; readonly reason: string }>
  readonly get: (name: string) => ModelTool | undefined
  /**
   * Calls a tool by its name in this list. `args` are the arguments that the model has written: an object, or the JSON text of an object.
   * The effect never fails. For each error, the result is an output with `isError` that tells the model about the error. Such errors are an
   * unknown name, arguments that are not an object, a failure of the tool, a timeout, and a server that is not connected.
   *
   * An interruption cancels the call at the server.
   */
  readonly call: (name: string, args: unknown, options?: CallToolOptions) => Effect.Effect<ToolOutput.ToolOutput>
}

/**
 * The options of `make` and `follow`.
 *
 * @category models
 */
export interface Options extends ToolOutput.Options {
  /** The subset of JSON Schema that the model accepts. With `json-schema`, valid schemas are not changed. Default: `json-schema`. */
  readonly dialect?: ModelSchema.Dialect | undefined
  /**
   * Returns the name of a tool for the model. The function gets the name of the tool in the session or group, the name of the server, and
   * the tool. When it returns `undefined`, the list does not have the tool. The list replaces characters that models do not accept, and
   * adds a number to a name that another tool already has. When the function throws, the list skips the tool and logs a warning. Default:
   * the name in the session or group.
   */
  readonly name?: ((name: string, server: string, tool: Tools.Tool) => string | undefined) | undefined
  /**
   * A definition that selects tools: the list has only the tools whose names are in the definition. Default: the list has all tools of the
   * servers.
   */
  readonly definition?: Definition.Definition.Any | undefined
  /**
   * Whether the list skips tools without a strict form. This option is for the dialect `openai-strict`. Use `true` with the OpenAI provider
   * of `@effect/ai`, which declares every tool strict unless its configuration has `strict: false`. Default: false.
   */
  readonly onlyStrict?: boolean | undefined
  /**
   * Whether `call` corrects arguments that the schema of the tool does not accept, if their meaning is clear. For example, the text `"5"`
   * becomes a number, the text of a JSON array becomes an array, and null in an optional member is removed. `call` does not correct
   * arguments when several branches of a union would accept the result. `call` logs its corrections. Default: true.
   */
  readonly mendArguments?: boolean | undefined
  /**
   * What `call` does when the schema of a tool does not allow an argument of this name. With `report`, `call` logs the name together with
   * the most similar name in the schema, and sends the call. With `refuse`, `call` logs the names and does not send the call, and the model
   * reads the names. With `accept`, `call` does not check the names. Default: `report`.
   */
  readonly unknownArguments?: "accept" | "report" | "refuse" | undefined
  /**
   * The fingerprints with which the list detects tools that have changed since the user agreed to them. The list skips a tool that the
   * fingerprints refuse. When the model calls such a tool, the output says why the call was refused. A group with its own fingerprints does
   * not need this option. Default: the list does not detect changes.
   */
  readonly fingerprints?: ToolFingerprints | undefined
  /**
   * The name of the server, for a list of a session. This name becomes the member `server` of each tool, and the fingerprints use it.
   * Default: the name that the server gives itself.
   */
  readonly server?: string | undefined
  /**
   * The most characters of a description. The list cuts a longer description. Default: 1,024 for OpenAI's dialects, 10,000 for other
   * dialects.
   */
  readonly maxDescription?: number | undefined
  /**
   * The most tools of the list. The list skips further tools and logs a warning. Set a larger number for a list that `ToolSearch` searches.
   * Default: 128 for OpenAI's dialects, 512 for other dialects.
   */
  readonly maxTools?: number | undefined
}

/**
 * Makes a list of the present tools of a session or of a group. The list does not change later.
 *
 * @category constructors
 */
export const make = (
  source: ClientSessionService | ClientSessionGroupService,
  options: Options = {}
): Effect.Effect<ToolList, ClientError> => {
  const from = sourceOf(source, options)
  return Effect.gen(function*() {
    const building = yield* buildingOf(from, options)
    const { listed } = yield* from.list
    return (yield* build(building, listed, new Map())).list
  })
}

/**
 * A list that changes together with the tools of its servers, as `follow` returns it.
 *
 * @category models
 */
export interface Following {
  /** The present list. */
  readonly current: Effect.Effect<ToolList>
  /** A stream that begins with the present list and then has the list after each change. */
  readonly changes: Stream.Stream<ToolList>
}

/**
 * Makes a list that changes together with the tools of its servers, until the scope closes. The function reads the tools now, and again
 * after each notification of a server about a change. A tool keeps its name in the list while its server lists the tool. When a later read
 * fails, the function logs the error, and the list stays unchanged.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#list-changed-notification
 * @category utils
 */
export const follow = (
  source: ClientSessionService | ClientSessionGroupService,
  options: Options = {}
): Effect.Effect<Following, ClientError, Scope.Scope> =>
  Effect.gen(function*() {
    const from = sourceOf(source, options)
    const building = yield* buildingOf(from, options)
    const following = yield* from.follow
    const { listed } = yield* from.list
    const { list, names } = yield* build(building, listed, new Map())
    const last = yield* Ref.make<Last>({ listed, names })
    const current = yield* SubscriptionRef.make(list)
    const lock = Semaphore.make()
    const renew = Effect.fnUntraced(function*(listed: ReadonlyArray<Listed>) {
      const { list, names } = yield* build(building, listed, (yield* Ref.get(last)).names)
      yield* Ref.set(last, { listed, names })
      yield* SubscriptionRef.set(current, list)
    })
    const update = Effect.fnUntraced(function*({ listed, pages }: Listing) {
      if (listed !== (yield* Ref.get(last)).listed) yield* renew(listed)
      return { isComplete: true, pages }
    })
    // The list of a session is read outside of the lock, because a server may be slow and `agree` of the fingerprints waits for the lock.
    const refresh = from.isGroup
      ? lock.run(Effect.flatMap(from.list, update))
      : Effect.flatMap(from.list, (listing) => lock.run(update(listing)))
    yield* Effect.forkScoped(following(refresh))
    if (options.fingerprints !== undefined) {
      yield* options.fingerprints.renewing(lock.run(Effect.flatMap(Ref.get(last), ({ listed }) => renew(listed))))
    }
    const present = SubscriptionRef.get(current)
    return {
      current: from.isGroup ? Effect.zipRight(Effect.ignore(refresh), present) : present,
      changes: current.changes
    }
  })

/** The data of the list that was built last: the tools that the servers list, and the names of the tools for the model. */
interface Last {
  readonly listed: ReadonlyArray<Listed>
  readonly names: ReadonlyMap<string, string>
}

/** The values that all lists of one source share. */
interface Building {
  readonly from: Source
  readonly options: Options
  readonly report: ListReport.ListReport
  /** The number of tools over the limit in the last warning. `warnOfLimit` writes this value. */
  readonly over: Ref.Ref<number>
}

const buildingOf = (from: Source, options: Options): Effect.Effect<Building> =>
  Effect.map(
    Effect.all({ report: ListReport.make, over: Ref.make(0) }),
    (shared) => ({ from, options, ...shared })
  )

/** Logs how many tools are over the limit, whenever this number changes. */
const warnOfLimit = Effect.fnUntraced(function*({ over }: Building, count: number, maxTools: number, all: number) {
  if (count === (yield* Ref.getAndSet(over, count)) || count === 0) return
  const [skipped, listed] = [count, all].map((number) => number.toLocaleString("en-US"))
  yield* Effect.logWarning(
    `${skipped} of ${listed} tools are skipped, because \`maxTools\` of the list is ${maxTools}: set it, also for a list that only ` +
      "ToolSearch searches"
  )
})

/**
 * Builds the list. When the option `name` throws for several tools, the function logs only one warning for all of them. Otherwise a server
 * with many tools could cause many warnings.
 */
const build = Effect.fnUntraced(function*(
  building: Building,
  listed: ReadonlyArray<Listed>,
  before: ReadonlyMap<string, string>
) {
  const { from, options, report } = building
  const fingerprints = yield* seen(listed, options)
  const cleaned = listed.map((one): Clean => ({
    ...one,
    name: HiddenCharacters.removed(one.name),
    routed: one.name,
    clean: HiddenCharacters.removedFrom(one.tool)
  }))
  if (!from.isGroup) yield* report.report(listings(cleaned))
  const refusal: Refusal = ({ refusal, server, tool }) =>
    refusal ?? options.fingerprints?.refusal(server, tool.name, fingerprints.get(keyOf(server, tool.name)))
  const { failed, maxTools, over, ...built } = unsafeBuild(from, cleaned, options, before, refusal)
  yield* warnOfLimit(building, over, maxTools, listed.length)
  const [first] = failed
  if (first === undefined) return built
  const more = failed.length === 1 ? "" : `; ${failed.length - 1} more tools have no name`
  const tool = `The tool ${ModelText.quoted(first.tool)} of ${ModelText.quoted(first.server)}`
  yield* Effect.logWarning(`${tool} ${first.reason}${more}`)
  return built
})

/** A tool without invisible characters. */
interface Clean extends Listed {
  /** The name that `call` of the source takes. */
  readonly routed: string
  readonly clean: Tools.Tool
}

/** Returns why the group or the fingerprints refuse a tool; `undefined` when the model gets the tool. */
type Refusal = (listed: Pick<Listed, "refusal" | "server" | "tool">) => string | undefined

const keyOf = (server: string, name: string): string => `${server}\n${name}`

/** Passes the tools of each server to the option `fingerprints`, and returns the fingerprint of each tool. */
const seen = Effect.fnUntraced(function*(listed: ReadonlyArray<Listed>, { fingerprints }: Options) {
  const found = new Map<string, string>()
  if (fingerprints === undefined) return found
  for (const [server, tools] of byServer(listed)) {
    const ofServer = yield* fingerprints.see(server, tools.map(({ tool }) => tool))
    for (const [name, fingerprint] of ofServer) found.set(keyOf(server, name), fingerprint)
  }
  return found
})

const byServer = <A extends { readonly server: string }>(listed: ReadonlyArray<A>): ReadonlyMap<string, Array<A>> => {
  const found = new Map<string, Array<A>>()
  for (const one of listed) {
    const others = found.get(one.server)
    if (others === undefined) found.set(one.server, [one])
    else others.push(one)
  }
  return found
}

const listings = (cleaned: ReadonlyArray<Clean>): ReadonlyArray<ListReport.Listing> =>
  Array.from(byServer(cleaned), ([server, tools]) => ({
    subject: `the tools of ${ModelText.quoted(server)}`,
    isNamed: true,
    entries: tools.map(({ clean, tool }) => ({ server, name: tool.name, isChanged: clean !== tool }))
  }))

const unsafeBuild = (
  { call }: Source,
  listed: ReadonlyArray<Clean>,
  options: Options,
  before: ReadonlyMap<string, string>,
  refusal: Refusal
) => {
  const { dialect = "json-schema", name: naming = (name: string) => name } = options
  const { limits } = Dialects.rules[dialect]
  const { maxDescription = limits.description, maxTools = limits.tools } = options
  const failed: Array<ToolList["skipped"][number]> = []
  const chosen: Array<ModelNames.Named & Clean & ModelSchema.ModelSchema> = []
  const keys = new Set<string>()
  const counts = new Map<string, number>()
  const eligible = listed.flatMap((one) => {
    const { name, routed, server, tool } = one
    const key = keyOf(server, routed)
    if (keys.has(key) || options.definition?.tools.has(tool.name) === false) return []
    keys.add(key)
    const attempt = Either.try({ try: () => naming(name, server, tool), catch: unnamed })
    if (Either.isLeft(attempt)) failed.push({ server, tool: tool.name, reason: attempt.left })
    const wanted = Either.getOrUndefined(attempt)
    if (wanted === undefined) return []
    counts.set(server, (counts.get(server) ?? 0) + 1)
    return [{ ...one, key, wanted }]
  })
  // Each server has its own budget, so that large schemas of one server do not cause tools of another server to be left out.
  const budgets = new Map(Array.from(counts, ([server, count]) => [server, Inlining.budget(count)]))
  const skipped = [...failed]
  const limit = `is over the limit of ${maxTools} tools`
  for (const one of eligible) {
    const { clean, server, tool } = one
    // The extension `io.modelcontextprotocol/ui` says that a tool that is only for views MUST NOT be in the list of the model.
    const schema = !Apps.isForModel(tool)
      ? Either.left("is for the views of the server only")
      : chosen.length < maxTools
      ? Either.filterOrLeft(
        Conversion.make(clean.inputSchema, dialect, budgets.get(server)),
        ({ isStrict }) => isStrict || options.onlyStrict !== true,
        ({ notStrict = "has arguments without a strict form" }) => notStrict
      )
      : Either.left(limit)
    if (Either.isLeft(schema)) skipped.push({ server, tool: tool.name, reason: schema.left })
    else chosen.push({ ...one, ...schema.right })
  }
  for (const one of chosen) {
    const reason = refusal(one)
    if (reason !== undefined) skipped.push({ server: one.server, tool: one.tool.name, reason })
  }
  const names = ModelNames.assign(chosen, before)
  const reading = { ...options, report: Diagnostic.logger() }
  const byName = new Map(chosen.map((one) => {
    const { clean, isStrict, key, routed, schema, server, tool } = one
    const name = names.get(key)!
    const description = ModelText.shortened(
      clean.description ?? clean.title ?? clean.annotations?.title ?? "",
      maxDescription
    )
    const seen: ModelTool = { name, description, inputSchema: schema, isStrict, server, tool }
    return [name, {
      seen,
      routed,
      isRefused: refusal(one) !== undefined,
      refusal: () => refusal({ server, tool, refusal: undefined }),
      read: ModelArguments.make(seen, reading)
    }] as const
  }))
  const tools = [...byName.values()].flatMap(({ isRefused, seen }) => isRefused ? [] : [seen])
  const list: ToolList = {
    tools,
    skipped,
    get: (name) => {
      const found = byName.get(name)
      return found?.isRefused === false ? found.seen : undefined
    },
    call: (name, args, callOptions) => {
      const found = byName.get(name)
      if (found === undefined) return Effect.succeed(ToolOutput.failure(`There is no tool ${ModelText.quoted(name)}.`))
      const given = objectOf(args)
      if (given === undefined) {
        return Effect.succeed(ToolOutput.failure(`The arguments of ${ModelText.quoted(name)} must be a JSON object.`))
      }
      const { read, refusal, routed, seen } = found
      const reason = refusal()
      if (reason !== undefined) {
        const { server, tool } = seen
        return Effect.succeed(ToolOutput.failure(new ToolRefused({ server, tool: tool.name, reason }).message))
      }
      const exact = seen.isStrict ? ModelSchema.withoutNulls(given, seen.tool.inputSchema) : given
      return Effect.matchEffect(read(exact), {
        onFailure: (refusal) => Effect.succeed(ToolOutput.failure(refusal)),
        onSuccess: (mended) =>
          Effect.matchEffect(call(routed, mended, callOptions), {
            onFailure: (error) =>
              Effect.map(
                Failures.text(name, error),
                (text = `The tool ${ModelText.quoted(name)} could not be called.`) => ToolOutput.failure(text)
              ),
            onSuccess: (result) => Effect.succeed(ToolOutput.make(result, options))
          })
      })
    }
  }
  return { list, names, failed, maxTools, over: skipped.filter(({ reason }) => reason === limit).length }
}

const unnamed = (fault: unknown): string =>
  `has no name for the model: the option \`name\` threw ${
    ModelText.quoted(fault instanceof Error ? fault.message : String(fault))
  }`

/**
 * Returns the arguments that a model has written, as an object; `undefined` when they are not an object. Absent arguments and an empty text
 * become an empty object.
 */
const objectOf = (args: unknown): JsonObject | undefined => {
  if (args === undefined || args === null || args === "") return {}
  const value = typeof args === "string"
    ? Either.getOrUndefined(Either.try((): unknown => JSON.parse(args)))
    : args
  return Predicate.isRecord(value) ? value as JsonObject : undefined
}

/**
 * Returns the tools in the form of the member `tools` in a request of OpenAI's Chat Completions API.
 *
 * @category utils
 */
export const openai = ({ tools }: ToolList): ReadonlyArray<JsonObject> =>
  tools.map(({ description, inputSchema, isStrict, name }) => ({
    type: "function",
    function: { name, ...described(description), parameters: inputSchema, ...(isStrict ? { strict: true } : undefined) }
  }))

/**
 * Returns the tools in the form of the member `tools` in a request of OpenAI's Responses API.
 *
 * @category utils
 */
export const openaiResponses = ({ tools }: ToolList): ReadonlyArray<JsonObject> =>
  tools.map(({ description, inputSchema, isStrict, name }) => ({
    type: "function",
    name,
    ...described(description),
    parameters: inputSchema,
    strict: isStrict
  }))

/**
 * Returns the tools in the form of the member `tools` in a request of Anthropic's Messages API.
 *
 * @category utils
 */
export const anthropic = ({ tools }: ToolList): ReadonlyArray<JsonObject> =>
  tools.map(({ description, inputSchema, name }) => ({ name, ...described(description), input_schema: inputSchema }))

/**
 * Returns the tools in the form of the member `tools` in a request of the Gemini API. A tool without arguments has no `parameters`.
 *
 * @category utils
 */
export const gemini = ({ tools }: ToolList): ReadonlyArray<JsonObject> =>
  tools.length === 0 ? [] : [{
    functionDeclarations: tools.map(({ description, inputSchema, name }) => ({
      name,
      description: description === "" ? name : description,
      ...(inputSchema.properties === undefined ? undefined : { parameters: inputSchema })
    }))
  }]

const described = (description: string) => description === "" ? undefined : { description }

/** A tool, its server, and its name for `call`. */
interface Listed {
  readonly name: string
  readonly server: string
  readonly tool: Tools.Tool
  /** Why the group refuses calls of the tool; `undefined` when the group accepts calls. */
  readonly refusal: string | undefined
}

interface Listing {
  readonly listed: ReadonlyArray<Listed>
  readonly pages: number
}

interface Source {
  /** Reads the tools. A group gives the same array until an entry changes. */
  readonly list: Effect.Effect<Listing, ClientError>
  readonly call: (
    name: string,
    args: JsonObject,
    options?: CallToolOptions
  ) => Effect.Effect<Tools.CallToolResult, ClientError | ToolRefused | UnknownEntry>
  /**
   * Whether the source is a group. A group has already reported problems of names and texts. Reading the list of a group sends no request.
   */
  readonly isGroup: boolean
  /**
   * Begins to listen for changes. The result is a function that runs `refresh` after each change. Several changes may cause only one run of
   * `refresh`.
   */
  readonly follow: Effect.Effect<
    (refresh: Effect.Effect<ServerLists.Listing, ClientError>) => Effect.Effect<void>,
    never,
    Scope.Scope
  >
}

const sourceOf = (source: ClientSessionService | ClientSessionGroupService, { server }: Options): Source =>
  "entries" in source ? ofGroup(source) : ofSession(source, server ?? source.serverInfo.name)

const ofGroup = ({ callTool, changes, entries }: ClientSessionGroupService): Source => ({
  list: Effect.map(entries, ({ tools }) => ({ listed: listedOf(tools), pages: 0 })),
  isGroup: true,
  call: callTool,
  // The first value has the entries that are already in the list, so this value is dropped. Reading the list of a group sends no request.
  follow: Effect.map(
    ServerLists.changes({ listChanges: Stream.as(Stream.drop(changes, 1), "tools" as const) }),
    (change) => (refresh) => Effect.forever(Effect.zipRight(change, Effect.ignore(refresh)))
  )
})

const listedTools = new WeakMap<Entries["tools"], ReadonlyArray<Listed>>()

const listedOf = (tools: Entries["tools"]): ReadonlyArray<Listed> => {
  const known = listedTools.get(tools)
  if (known !== undefined) return known
  const listed = [...tools].map(([name, { listed, refusal, server }]) => ({ name, server, tool: listed, refusal }))
  listedTools.set(tools, listed)
  return listed
}

const ofSession = (session: ClientSessionService, server: string): Source => {
  const calls = new ListPace.OwnCalls()
  const { callTool, serverCapabilities } = session
  return {
    list: serverCapabilities.tools === undefined
      ? Effect.succeed({ listed: [], pages: 0 })
      : Effect.map(ServerLists.collect(session.tools), ({ entries, pages }) => ({
        listed: entries.map((tool) => ({ name: tool.name, server, tool, refusal: undefined })),
        pages
      })),
    isGroup: false,
    call: (name, args, options) => calls.around(callTool(name, args, options)),
    follow: Effect.zipLeft(
      Effect.map(
        ServerLists.changes({ listChanges: Stream.filter(session.listChanges, (change) => change === "tools") }),
        (change) => (refresh) => ServerLists.follow(session, true, change, refresh, calls)
      ),
      raceFirst(session.awaitSubscription, Effect.sleep(SUBSCRIPTION_WAIT))
    )
  }
}

/** How long the first read waits for the subscription that reports changes. */
const SUBSCRIPTION_WAIT = "5 seconds"
