/**
 * Makes the record that describes revision 2026-07-28 (the modern era) to the shared server code. The record contains the methods that only
 * this revision has, the checks of the headers and the `_meta` of a request, the rounds of a request, and the functions with which a
 * handler sends to its client. A request has several rounds when its handler asks questions: after each round, the client sends the request
 * again with the answers. The server stores nothing about a client between two requests.
 *
 * `Questions` ends a request with questions, `ServerSide` makes the record, and `runtime/Serve` reads the record.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as JsonRpcError from "../../jsonrpc/JsonRpcError.js"
import type { Params, Request } from "../../jsonrpc/Message.js"
import { none } from "../../jsonrpc/Outbound.js"
import type { Outcome } from "../../jsonrpc/Outcome.js"
import * as Capabilities from "../../protocol/Capabilities.js"
import { ExtendedResult } from "../../protocol/Extension.js"
import * as ExtensionTable from "../../protocol/extension/ExtensionTable.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as Logging from "../../protocol/Logging.js"
import * as McpError from "../../protocol/McpError.js"
import * as Caching from "../../protocol/modern/Caching.js"
import type { DiscoverResult } from "../../protocol/modern/Discover.js"
import * as Headers from "../../protocol/modern/Headers.js"
import * as InputRequired from "../../protocol/modern/InputRequired.js"
import * as Methods from "../../protocol/modern/Methods.js"
import * as ParamHeaders from "../../protocol/modern/ParamHeaders.js"
import * as Stamp from "../../protocol/modern/Stamp.js"
import * as ResultMeta from "../../protocol/rules/ResultMeta.js"
import type { ModernVersion } from "../../protocol/Version.js"
import type { Refuses } from "../Authenticator.js"
import * as AdvertisedCapabilities from "../features/AdvertisedCapabilities.js"
import type * as HttpExchange from "../http/HttpExchange.js"
import type { Kind } from "../Registry.js"
import type { HandlerContext, Speech } from "../runtime/HandlerContext.js"
import * as HandlerName from "../runtime/HandlerName.js"
import * as HandlerOutcome from "../runtime/HandlerOutcome.js"
import * as MethodHints from "../runtime/MethodHints.js"
import * as QuestionCapability from "../runtime/QuestionCapability.js"
import * as Route from "../runtime/Route.js"
import type { Vocabulary } from "../runtime/Routes.js"
import * as Serve from "../runtime/Serve.js"
import type { Server } from "../runtime/Server.js"
import * as Questions from "./Questions.js"
import type { RequestFacts } from "./RequestFacts.js"
import * as Status from "./Status.js"
import type { Subscriptions } from "./Subscriptions.js"
import { resultOf } from "./Subscriptions.js"
import type { Wire } from "./TaskWire.js"

/** Makes the record. `subscriptions` contains the open subscriptions of all clients. */
export const make = (server: Server, subscriptions: Subscriptions, wire: Wire | undefined): Serve.Era<RequestFacts> => {
  const rounds = Questions.make(server)
  return {
    vocabulary: vocabulary(server, subscriptions),
    serving: serving(server, rounds),
    speech: speech(server, subscriptions, rounds, wire)
  }
}

const vocabulary = (server: Server, subscriptions: Subscriptions): Vocabulary<RequestFacts> => ({
  methods: Methods.table,
  own: [
    {
      method: Methods.discover,
      isTrusted: true,
      isStable: false,
      serve: (_, { version }) => Route.served(Effect.sync(() => discover(server, version)))
    },
    {
      method: Methods.listen,
      isTrusted: true,
      isStable: false,
      serve: (params, handler) => Route.served(subscriptions.listen(params, handler)),
      closing: ({ id }) => resultOf(id!)
    }
  ],
  capabilities: server.capabilities,
  stamp: (method) =>
    Stamp.make(method, {
      serverInfo: server.info,
      hints: MethodHints.ofMethod(server.cache, method) as {},
      isCacheable: isCacheable(server, method)
    }) as (result: Params) => Params
})

const serving = (server: Server, rounds: Questions.Rounds): Serve.Serving<RequestFacts> => {
  const mismatchOf = paramHeaders(server)
  return {
    gate: (facts, request, route) => {
      const mismatch = facts.headers === undefined ? undefined : mismatchOf(request, facts.headers, route.seen)
      if (mismatch === undefined) return route.requires && Serve.lacking(facts, route.requires)
      const unseen = server.unseenTool(String(request.params?.name))
      return unseen === undefined
        ? mismatch
        : Route.served(Effect.flatMap(unseen, (unknown) => Effect.fail(unknown ?? mismatch)))
    },
    // SHOULD ignore unexpected responses. The handler reads a response only when it asks a question with the key of the response.
    mend: ({ method: name, params = {} }, method) => {
      const { inputResponses } = params
      if (!InputRequired.methods.has(name) || !Predicate.isRecord(inputResponses)) return undefined
      const decoded = method.decodeParams({ ...params, inputResponses: undefined })
      return Either.map(decoded, (read: {}) => ({ ...read, inputResponses }))
    },
    resume: (handler, params, served) => {
      handler.facts.hints = served.hints
      // For other methods, an extension may use these members with a different meaning.
      if (!InputRequired.methods.has(handler.method)) return served
      const { inputResponses, requestState } = params
      if (inputResponses === undefined && requestState === undefined) return served
      const resumed = roundOf(handler, rounds).resume({ inputResponses, requestState })
      return resumed === undefined ? served : { ...served, effect: Effect.zipRight(resumed, served.effect) }
    },
    released: (facts, released) => {
      facts.hasEnded = true
      const sealed = facts.round?.seal
      return released === undefined || sealed === undefined ? released ?? sealed : Effect.ensuring(released, sealed)
    },
    refused: (exit, error) => withStatus(HandlerOutcome.fromExit(exit, "modern", HandlerOutcome.passedOn), error),
    closing: (handler, route) =>
      handler === undefined || route?.closing === undefined
        ? { error: { code: unavailableCode(), message: "Connection closed" } }
        : route.encode(route.closing(handler), undefined, handler.facts)
  }
}

const speech = (
  server: Server,
  subscriptions: Subscriptions,
  rounds: Questions.Rounds,
  wire: Wire | undefined
): Speech<RequestFacts> => {
  const { extensions, logging } = server
  const hasTasks = wire?.isGiven(extensions) === true
  return {
    extensions,
    notifications: Methods,
    // MUST NOT send log messages for a request that names no level.
    receives: ({ logLevel }, level) => logging && logLevel !== undefined && Logging.isAtLeast(level, logLevel),
    allows: () => true,
    standalone: () => none,
    changed: ({ facts }) => {
      const changed = (kind: Kind) => Effect.suspend(() => subscriptions.changedFor(facts.subscriber, kind))
      return {
        tools: changed("tools"),
        resources: changed("resources"),
        prompts: changed("prompts"),
        // `Dispatch` announces updates to the clients that have subscribed to a resource.
        resource: () => Effect.void
      }
    },
    elicitationComplete: () => Effect.void,
    asker: (handler) => ({
      ask: (questions) => roundOf(handler, rounds).ask(questions),
      askAsTask: (question) =>
        Effect.fail(new McpError.MissingClientCapability({ required: QuestionCapability.asTask(question) })),
      request: none.request,
      get round() {
        return InputRequired.methods.has(handler.method) ? roundOf(handler, rounds).passed : undefined
      },
      get endsRequest() {
        return handler.facts.round?.hasQuestions === true
      }
    }),
    tasks: (handler) => hasTasks ? wire?.dialect(handler) : undefined,
    outcome: outcomeOf(server)
  }
}

/**
 * Makes the outcome of a request from the end of its handler: a question has interrupted the handler, or the handler gives a result or an
 * error that only this era has, or the handler ends in any other way.
 */
const outcomeOf = ({ extensions, info }: Server): Speech<RequestFacts>["outcome"] => {
  const stamp = Stamp.make("", { serverInfo: info })
  /** Adds the members that every result of this era has, to a result that no route has encoded. */
  const stamped = (outcome: Outcome): Outcome =>
    outcome.result === undefined ? outcome : { ...outcome, result: stamp(outcome.result) }
  return (handler, exit, refused) => {
    const { facts: { round }, received } = handler
    if (round?.failure !== undefined) return { error: McpError.toWire(round.failure, "modern") }
    if (round?.hasQuestions === true) {
      // The question has interrupted the handler. After that, a finalizer may have died.
      const bug = exit._tag === "Failure" && Cause.isDie(exit.cause)
        ? { died: exit.cause, subject: HandlerName.of(received) }
        : undefined
      return stamped({ result: round.result as {}, ...bug })
    }
    const failure = exit._tag === "Success" ? undefined : Option.getOrUndefined(Cause.failureOption(exit.cause))
    const special = failure instanceof ExtendedResult
      ? extended(handler, extensions, failure)
      : failure instanceof McpError.UrlElicitationRequired
      ? urlsOf(handler, failure)
      : undefined
    const replied = special === undefined
      ? HandlerOutcome.ofRequest(handler, exit, "modern")
      : McpError.isMcpError(special)
      ? { error: McpError.toWire(special, "modern") }
      : { ...ResultMeta.outcome(special as {}), subject: HandlerName.of(received) }
    // No route has encoded the result of a tool that died, or the result of an extension.
    const outcome = special !== undefined || replied.died !== undefined ? stamped(replied) : replied
    return refused === undefined ? outcome : withStatus(outcome, refused)
  }
}

// SHOULD NOT send a code from -32000 to -32019.
export const unavailableCode = (): number => JsonRpcError.INTERNAL_ERROR

/**
 * Makes the outcome of a refused request, with the HTTP status of the refusal. Does not add the status when middleware has died, or has
 * given a status itself.
 */
const withStatus = (outcome: Outcome, refused: Refuses): Outcome =>
  outcome.error === undefined || outcome.notes !== undefined || outcome.died !== undefined
    ? outcome
    : { ...outcome, notes: { status: Status.of(refused) } }

/**
 * Makes questions from the URLs in the failure of a handler, because this era has no error with URLs for a person to open. Gives
 * `undefined` when the method cannot ask questions, or when a URL is not valid.
 */
const urlsOf = (
  { client, method }: HandlerContext<RequestFacts>,
  failure: McpError.UrlElicitationRequired
): InputRequired.InputRequiredResult | McpError.MissingClientCapability | undefined => {
  // `HandlerOutcome` reports an invalid URL.
  if (!InputRequired.methods.has(method) || HandlerOutcome.invalidUrl(failure) !== undefined) return undefined
  const required = { elicitation: { url: {} } }
  return client.supports(required)
    ? InputRequired.ofUrlElicitations(failure.elicitations)
    : new McpError.MissingClientCapability({ required })
}

/**
 * Makes the check of the headers that depend on the tools and extensions of the server. These are the headers that repeat arguments of a
 * tool (keyword `x-mcp-header` in the schema of the tool), and `Mcp-Name` for methods of extensions. The check gives an error when the
 * headers differ from the arguments, and otherwise `undefined`. The check computes the headers of a tool once for each schema. `seen` gives
 * the arguments as the handler of the tool gets them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-headers-from-tool-parameters
 */
const paramHeaders = (
  { extensions: { nameParameters }, inputSchema }: Pick<Server, "extensions" | "inputSchema">
): (request: Request, sent: HttpExchange.Headers, seen: Route.Route["seen"]) => McpError.HeaderMismatch | undefined => {
  const headers = new WeakMap<JsonObject, ReadonlyArray<ParamHeaders.ParamHeader>>()
  const headersOf = (schema: JsonObject): ReadonlyArray<ParamHeaders.ParamHeader> => {
    let found = headers.get(schema)
    if (found === undefined) headers.set(schema, found = Either.getOrElse(ParamHeaders.of(schema), () => []))
    return found
  }
  return (request, sent, seen) => {
    const { method, params } = request
    if (nameParameters.has(method)) {
      return Option.getOrUndefined(Either.getLeft(Headers.check(request, (name) => sent[name], nameParameters)))
    }
    if (method !== Methods.callTool.name) return undefined
    const schema = typeof params?.name === "string" ? inputSchema(params.name) : undefined
    const marked = schema === undefined ? [] : headersOf(schema)
    if (marked.length === 0) return undefined
    const args = (seen === undefined ? params : seen(params))?.arguments as JsonObject | undefined
    const checked = ParamHeaders.check(marked, args, (name) => sent[name])
    return Either.isLeft(checked) ? checked.left : undefined
  }
}

/**
 * Gives the result of an extension for the client, or the error for a client that has not declared the extension. Gives `undefined` for two
 * mistakes of the handler: the server does not have this type of result for the method, or the value does not conform to its schema.
 */
const extended = (
  { facts: { clientCapabilities, version }, method }: HandlerContext<RequestFacts>,
  extensions: ExtensionTable.ExtensionTable,
  { resultType, value }: ExtendedResult
): JsonObject | McpError.MissingClientCapability | undefined => {
  const { extension, type, value: schema } = resultType
  const known = extensions.resultTypes.get(method)?.get(type)
  if (known?.extension !== extension || !ExtensionTable.isIn(known, version)) return undefined
  const required = Capabilities.missing(clientCapabilities, ExtensionTable.capability(extension))
  if (required !== undefined) return new McpError.MissingClientCapability({ required })
  const encoded = Schema.encodeUnknownEither(schema)(value)
  return Either.isLeft(encoded) ? undefined : { ...encoded.right, resultType: type }
}

/**
 * Answers `server/discover` with the revisions that the server supports, and its capabilities. A client may send this request before other
 * requests, but does not need to.
 */
const discover = (
  { capabilities, extensions, instructions, versions }: Server,
  version: ModernVersion
): DiscoverResult => {
  const text = instructions()
  return {
    supportedVersions: versions,
    capabilities: AdvertisedCapabilities.withExtensions(capabilities(), extensions.declared(version)),
    ...(text === undefined ? undefined : { instructions: text })
  }
}

const isCacheable = ({ extensions }: Server, method: string): boolean => {
  const added = extensions.methods.get(method)
  return added?.kind === "request" ? added.isCacheable : Caching.isCacheable(method)
}

const roundOf = (handler: HandlerContext<RequestFacts>, rounds: Questions.Rounds): Questions.Round =>
  handler.facts.round ??= new Questions.Round(rounds, handler)
