/**
 * The tools of MCP servers as the tool list of a model. Names are unique and accepted by every model API, descriptions have a limited
 * length, schemas are in the dialect of the model, and `call` takes the arguments that the model wrote and gives the output that the
 * model reads. The list has the tools of one session or of a group, read once or after each change.
 *
 * The module is for programs that call a model's API themselves; `ClientToolkit` makes a toolkit of `@effect/ai`.
 *
 * @since 0.1.0
 */
import type { ClientError } from "@effect-mcp/core/ClientError"
import type { CallToolOptions, ClientSessionService } from "@effect-mcp/core/ClientSession"
import type { ClientSessionGroupService } from "@effect-mcp/core/ClientSessionGroup"
import type * as Definition from "@effect-mcp/core/Definition"
import * as Diagnostic from "@effect-mcp/core/Diagnostic"
import type { UnknownEntry } from "@effect-mcp/core/GroupError"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type * as Tools from "@effect-mcp/core/protocol/Tools"
import { raceFirst } from "@effect-mcp/core/unstable/kit/Race"
import * as Apps from "@effect-mcp/extensions/Apps"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
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
 * A tool as a model sees the tool.
 *
 * @category models
 */
export interface ModelTool {
  /** Unique in the list: letters, digits, "_" and "-", at most 64. */
  readonly name: string
  readonly description: string
  /** The schema of the arguments, in the dialect of the list. */
  readonly inputSchema: JsonObject
  /** Whether `inputSchema` is in the strict form of OpenAI. */
  readonly isStrict: boolean
  /** The server that has the tool: its name in the group, or the name that the server of the session gave itself. */
  readonly server: string
  /** The tool as the server lists it. */
  readonly tool: Tools.Tool
}

/** @category models */
export interface ToolList {
  readonly tools: ReadonlyArray<ModelTool>
  /** The tools that the model does not get, each with the reason. */
  readonly skipped: ReadonlyArray<{ readonly server: string; readonly tool: string; readonly reason: string }>
  readonly get: (name: string) => ModelTool | undefined
  /**
   * Calls a tool by its name in this list. `args` are the arguments that the model wrote: an object, or the JSON text of an object.
   * Each error becomes an output with `isError` that the model reads: an unknown name, arguments that are no object, a failure of the
   * tool, a time-out, a server that is not connected.
   *
   * Interrupting the effect cancels the call at the server.
   */
  readonly call: (name: string, args: unknown, options?: CallToolOptions) => Effect.Effect<ToolOutput.ToolOutput>
}

/** @category models */
export interface Options extends ToolOutput.Options {
  /** The subset of JSON Schema that the model accepts. Default: `json-schema`, valid schemas as they are. */
  readonly dialect?: ModelSchema.Dialect | undefined
  /**
   * Gives a tool its name for the model; `undefined` leaves the tool out. Characters that models do not accept are replaced, and a
   * name that another tool has gets a number. A tool for which this function throws is skipped, with a warning in the log. Default:
   * the name in the session or the group.
   */
  readonly name?: ((name: string, server: string, tool: Tools.Tool) => string | undefined) | undefined
  /** The list has only tools of this definition. Default: all tools that the servers list. */
  readonly definition?: Definition.Definition.Any | undefined
  /**
   * Whether tools without a strict form are skipped, for `openai-strict`: the OpenAI provider of `@effect/ai` declares every tool
   * strict, unless its configuration has `strict: false`. Default: false.
   */
  readonly onlyStrict?: boolean | undefined
  /**
   * Whether `call` mends arguments that the schema of the tool does not accept, where there is one reading: a text that is JSON is read as
   * an array or an object, a text as a number or a boolean, and null in an optional member is left out. Nothing is mended where two
   * branches of a union would accept. The log says what was mended. Default: true.
   */
  readonly mendArguments?: boolean | undefined
  /**
   * What becomes of arguments that the schema of a tool neither names nor allows: `report` writes their names to the log, each with the
   * nearest name that the tool has; `refuse` also refuses the call, and the model reads the names; `accept` says nothing. Default: `report`.
   */
  readonly unknownArguments?: "accept" | "report" | "refuse" | undefined
  /** The most characters of a description; a longer one is cut. Default: 1,024 for OpenAI's dialects, else 10,000. */
  readonly maxDescription?: number | undefined
  /** The most tools; others are skipped. Default: 128 for OpenAI's dialects, else 512. */
  readonly maxTools?: number | undefined
}

/**
 * Reads the tools that the server, or all servers of a group, list now.
 *
 * @category constructors
 */
export const make = (
  source: ClientSessionService | ClientSessionGroupService,
  options: Options = {}
): Effect.Effect<ToolList, ClientError> => {
  const from = sourceOf(source)
  return Effect.flatMap(from.list, (listed) => Effect.map(build(from, listed, options, new Map()), ({ list }) => list))
}

/**
 * A list that follows the changes of its servers.
 *
 * @category models
 */
export interface Following {
  /** The present list. */
  readonly current: Effect.Effect<ToolList>
  /** The present list, and the list after each change. */
  readonly changes: Stream.Stream<ToolList>
}

/**
 * Reads the tools, and reads them again after each change that a server notifies, until the scope closes. A tool that stays listed keeps
 * its name. When reading again fails, the list does not change, and the error is logged.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#list-changed-notification
 * @category utils
 */
export const follow = (
  source: ClientSessionService | ClientSessionGroupService,
  options: Options = {}
): Effect.Effect<Following, ClientError, Scope.Scope> =>
  Effect.gen(function*() {
    const from = sourceOf(source)
    const changes = yield* from.changes
    const names = yield* Ref.make<ReadonlyMap<string, string>>(new Map())
    const read = Effect.gen(function*() {
      const listed = yield* from.list
      const built = yield* build(from, listed, options, yield* Ref.get(names))
      yield* Ref.set(names, built.names)
      return built.list
    })
    const current = yield* SubscriptionRef.make(yield* read)
    yield* Effect.forkScoped(Stream.runForEach(changes, () =>
      Effect.matchEffect(read, {
        onFailure: (error) =>
          Effect.logWarning(`The tools of a server have changed and could not be read again: ${error.message}`),
        onSuccess: (list) => SubscriptionRef.set(current, list)
      })))
    return { current: SubscriptionRef.get(current), changes: current.changes }
  })

/** Builds the list. Logs one warning for all tools for which the option `name` threw, because a server chooses how many there are. */
const build = (
  source: Source,
  listed: ReadonlyArray<Listed>,
  options: Options,
  before: ReadonlyMap<string, string>
) =>
  Effect.suspend(() => {
    const { failed, ...built } = unsafeBuild(source, listed, options, before)
    const [first] = failed
    if (first === undefined) return Effect.succeed(built)
    const more = failed.length === 1 ? "" : `; ${failed.length - 1} more tools have none`
    const tool = `The tool ${ModelText.quoted(first.tool)} of ${ModelText.quoted(first.server)}`
    return Effect.as(Effect.logWarning(`${tool} ${first.reason}${more}`), built)
  })

const unsafeBuild = (
  { call }: Source,
  listed: ReadonlyArray<Listed>,
  options: Options,
  before: ReadonlyMap<string, string>
) => {
  const { dialect = "json-schema", name: naming = (name: string) => name } = options
  const { limits } = Dialects.rules[dialect]
  const { maxDescription = limits.description, maxTools = limits.tools } = options
  const failed: Array<ToolList["skipped"][number]> = []
  const chosen: Array<ModelNames.Named & Listed & ModelSchema.ModelSchema> = []
  const keys = new Set<string>()
  const counts = new Map<string, number>()
  const eligible = listed.flatMap((one) => {
    const { name, server, tool } = one
    const key = `${server}\n${name}`
    if (keys.has(key) || options.definition?.tools.has(tool.name) === false) return []
    keys.add(key)
    const attempt = Either.try({ try: () => naming(name, server, tool), catch: unnamed })
    if (Either.isLeft(attempt)) failed.push({ server, tool: tool.name, reason: attempt.left })
    const wanted = Either.getOrUndefined(attempt)
    if (wanted === undefined) return []
    counts.set(server, (counts.get(server) ?? 0) + 1)
    return [{ ...one, key, wanted }]
  })
  // Each server has its own budget, so that large schemas of one server do not leave out tools of another.
  const budgets = new Map(Array.from(counts, ([server, count]) => [server, Inlining.budget(count)]))
  const skipped = [...failed]
  for (const one of eligible) {
    const { server, tool } = one
    // MUST NOT be in the list of the model (io.modelcontextprotocol/ui).
    const schema = !Apps.isForModel(tool)
      ? Either.left("is for the views of the server only")
      : chosen.length < maxTools
      ? Either.filterOrLeft(
        Conversion.make(tool.inputSchema, dialect, budgets.get(server)),
        ({ isStrict }) => isStrict || options.onlyStrict !== true,
        ({ notStrict = "has arguments without a strict form" }) => notStrict
      )
      : Either.left(`is over the limit of ${maxTools} tools`)
    if (Either.isLeft(schema)) skipped.push({ server, tool: tool.name, reason: schema.left })
    else chosen.push({ ...one, ...schema.right })
  }
  const names = ModelNames.assign(chosen, before)
  const reading = { ...options, report: Diagnostic.logger() }
  const byName = new Map(chosen.map(({ isStrict, key, name: routed, schema, server, tool }) => {
    const name = names.get(key)!
    const description = ModelText.shortened(
      tool.description ?? tool.title ?? tool.annotations?.title ?? "",
      maxDescription
    )
    const seen: ModelTool = { name, description, inputSchema: schema, isStrict, server, tool }
    return [name, { seen, routed, read: ModelArguments.make(seen, reading) }] as const
  }))
  const tools = [...byName.values()].map(({ seen }) => seen)
  const list: ToolList = {
    tools,
    skipped,
    get: (name) => byName.get(name)?.seen,
    call: (name, args, callOptions) => {
      const found = byName.get(name)
      if (found === undefined) return Effect.succeed(ToolOutput.failure(`There is no tool ${ModelText.quoted(name)}.`))
      const given = objectOf(args)
      if (given === undefined) {
        return Effect.succeed(ToolOutput.failure(`The arguments of ${ModelText.quoted(name)} must be a JSON object.`))
      }
      const { read, routed, seen } = found
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
  return { list, names, failed }
}

const unnamed = (fault: unknown): string =>
  `has no name for the model: the option \`name\` threw ${
    ModelText.quoted(fault instanceof Error ? fault.message : String(fault))
  }`

/** The arguments that a model wrote, as an object. Absent arguments and an empty text are an object without members. */
const objectOf = (args: unknown): JsonObject | undefined => {
  if (args === undefined || args === null || args === "") return {}
  const value = typeof args === "string"
    ? Either.getOrUndefined(Either.try((): unknown => JSON.parse(args)))
    : args
  return Predicate.isRecord(value) ? value as JsonObject : undefined
}

/**
 * The `tools` of OpenAI's chat completions.
 *
 * @category utils
 */
export const openai = ({ tools }: ToolList): ReadonlyArray<JsonObject> =>
  tools.map(({ description, inputSchema, isStrict, name }) => ({
    type: "function",
    function: { name, ...described(description), parameters: inputSchema, ...(isStrict ? { strict: true } : undefined) }
  }))

/**
 * The `tools` of OpenAI's responses.
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
 * The `tools` of Anthropic's messages.
 *
 * @category utils
 */
export const anthropic = ({ tools }: ToolList): ReadonlyArray<JsonObject> =>
  tools.map(({ description, inputSchema, name }) => ({ name, ...described(description), input_schema: inputSchema }))

/**
 * The `tools` of Gemini. A tool without arguments has no `parameters`.
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
}

interface Source {
  readonly list: Effect.Effect<ReadonlyArray<Listed>, ClientError>
  readonly call: (
    name: string,
    args: JsonObject,
    options?: CallToolOptions
  ) => Effect.Effect<Tools.CallToolResult, ClientError | UnknownEntry>
  /** Begins to listen. The stream has a value after each change; several changes may give one value. */
  readonly changes: Effect.Effect<Stream.Stream<unknown>, never, Scope.Scope>
}

const sourceOf = (source: ClientSessionService | ClientSessionGroupService): Source =>
  "entries" in source ? ofGroup(source) : ofSession(source)

const ofGroup = ({ callTool, changes, entries }: ClientSessionGroupService): Source => ({
  list: Effect.map(
    entries,
    ({ tools }) => [...tools].map(([name, { server, value }]) => ({ name, server, tool: value }))
  ),
  call: callTool,
  // The first value has the entries that are listed already.
  changes: latest(Stream.drop(changes, 1))
})

const ofSession = (session: ClientSessionService): Source => ({
  list: session.serverCapabilities.tools === undefined
    ? Effect.succeed([])
    : Effect.map(
      Stream.runCollect(session.tools),
      (tools) =>
        Chunk.toReadonlyArray(tools).map((tool) => ({ name: tool.name, server: session.serverInfo.name, tool }))
    ),
  call: session.callTool,
  changes: Effect.zipLeft(
    latest(Stream.filter(session.listChanges, (change) => change === "tools")),
    raceFirst(session.awaitSubscription, Effect.sleep(SUBSCRIPTION_WAIT))
  )
})

/** How long the list waits for the subscription that reports its changes. */
const SUBSCRIPTION_WAIT = "5 seconds"

/** Keeps the newest value that was not read: all changes that come while the list is read cause one more reading. */
const latest = <A>(changes: Stream.Stream<A>): Effect.Effect<Stream.Stream<A>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const queue = yield* Effect.acquireRelease(Queue.sliding<A>(1), Queue.shutdown)
    yield* Effect.forkScoped(Stream.runForEach(changes, (change) => Queue.offer(queue, change)))
    // Lets the listener start before the list is read.
    yield* Effect.yieldNow()
    return Stream.fromQueue(queue)
  })
