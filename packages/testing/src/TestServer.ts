/**
 * A server and a client in one process, for tests that call a server through all its layers but the network. The transport
 * is in memory, and all messages are checked against the official schema.
 *
 * @since 0.1.0
 */
import * as Client from "@effect-mcp/client/Client"
import type { ClientError, ConnectError } from "@effect-mcp/client/ClientError"
import type * as ClientSession from "@effect-mcp/client/ClientSession"
import type * as Definition from "@effect-mcp/definition/Definition"
import * as Connector from "@effect-mcp/jsonrpc/Connector"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import { Dispatcher } from "@effect-mcp/server/Dispatcher"
import * as InProcess from "@effect-mcp/server/InProcess"
import * as McpServer from "@effect-mcp/server/McpServer"
import type { Registry } from "@effect-mcp/server/Registry"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestTransport from "./TestTransport.js"

export interface Options extends TestTransport.Options {
  /**
   * `wire`: JSON text, checked against the official schema. `direct`: values, unchecked and faster. Default: `wire`.
   */
  readonly transport?: "wire" | "direct" | undefined
  /** Default: name "test", version "0.0.0". */
  readonly info?: Implementation | undefined
  readonly server?: McpServer.Options | undefined
  /**
   * Whether the layer, when it closes, dies with the causes of all handlers that died: a test then fails with the bug and
   * not with "Internal error" only. Default: false.
   */
  readonly raiseDefects?: boolean | undefined
  readonly client?: ClientSession.Options | undefined
}

/** Connects to the server in the context over a checked transport in memory, a new one for each connection. */
export const connector = (
  options?: TestTransport.Options
): Effect.Effect<Connector.Connector, never, Dispatcher> =>
  Effect.map(Dispatcher, (dispatcher) =>
    Connector.make(
      "a server under test",
      Effect.gen(function*() {
        const pair = yield* TestTransport.pair(options)
        yield* Effect.forkScoped(dispatcher.accept(pair.server))
        return pair.client
      })
    ))

/**
 * A client and its server with these features. Dies when the server does not list every tool, resource, resource template
 * and prompt of `definition`.
 */
export const layer = <D extends Definition.Definition.Any, E = never, R = never>(
  definition: D,
  features: Layer.Layer<never, E, R>,
  options: Options = {}
): Layer.Layer<Client.Client | Dispatcher, E | ConnectError, Exclude<R, Registry>> => {
  const serve = (server: McpServer.Options | undefined) =>
    McpServer.layer(options.info ?? { name: "test", version: "0.0.0" }, features, server)
  const server = options.raiseDefects === true
    ? Layer.unwrapScoped(Effect.map(raising(options.server), serve))
    : serve(options.server)
  const client = Layer.scoped(
    Client.Client,
    Effect.gen(function*() {
      const connectTo = options.transport === "direct"
        ? yield* InProcess.connector
        : yield* connector({ extensions: options.server?.extensions, ...options })
      const session = yield* Client.make(connectTo, options.client)
      const unlisted = yield* Effect.all([
        missing(definition.tools, session.tools, ({ name }) => name),
        missing(byUri(definition.resources), session.resources, ({ uri }) => uri),
        missing(byTemplate(definition.templates), session.resourceTemplates, ({ uriTemplate }) => uriTemplate),
        missing(definition.prompts, session.prompts, ({ name }) => name)
      ])
      if (unlisted.flat().length > 0) {
        return yield* Effect.dieMessage(`The server does not list: ${unlisted.flat().join(", ")}`)
      }
      return session
    })
  )
  return Layer.provideMerge(client, server)
}

/** The options of a server whose defects end the current scope with their causes. */
const raising = (options: McpServer.Options | undefined): Effect.Effect<McpServer.Options, never, Scope.Scope> =>
  Effect.gen(function*() {
    const causes: Array<Cause.Cause<unknown>> = []
    yield* Effect.addFinalizer(() =>
      Effect.failCause(Cause.flatMap(causes.reduce(Cause.sequential, Cause.empty), Cause.die)).pipe(
        Effect.when(() => causes.length > 0)
      )
    )
    return {
      ...options,
      onDefect: (defect) =>
        Effect.zipRight(Effect.sync(() => causes.push(defect.cause)), options?.onDefect?.(defect) ?? Effect.void)
    }
  })

/** The keys that the definition has and the server does not list. Lists nothing for an empty definition. */
const missing = <A>(
  defined: ReadonlyMap<string, unknown>,
  listed: Stream.Stream<A, ClientError>,
  key: (listed: A) => string
): Effect.Effect<ReadonlyArray<string>, ClientError> =>
  defined.size === 0 ? Effect.succeed([]) : Effect.map(Stream.runCollect(listed), (found) => {
    const keys = new Set(Array.from(found, key))
    return [...defined.keys()].filter((one) => !keys.has(one))
  })

const byUri = (resources: Definition.Definition.Any["resources"]): ReadonlyMap<string, unknown> =>
  new Map([...resources.values()].map((resource) => [resource.uri, resource]))

const byTemplate = (templates: Definition.Definition.Any["templates"]): ReadonlyMap<string, unknown> =>
  new Map([...templates.values()].map((template) => [template.template.template, template]))
