/**
 * A server and a client in one room: what a test needs to call a server through everything but the network. The wire is in
 * memory, and what crosses it is put to the official schema.
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
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestTransport from "./TestTransport.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options extends TestTransport.Options {
  /** `wire`: as text, checked against the specification. `direct`: without a wire, as fast as it gets. Default: `wire`. */
  readonly transport?: "wire" | "direct" | undefined
  readonly info?: Implementation | undefined
  readonly server?: McpServer.Options | undefined
  readonly client?: ClientSession.Options | undefined
}

/**
 * How to reach a server over a checked wire in memory. Each connection is a wire of its own.
 *
 * @since 0.1.0
 * @category constructors
 */
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
 * A client of a server that keeps `definition` with these features. Dies when something that it promises is not kept.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <D extends Definition.Definition.Any, E = never, R = never>(
  definition: D,
  features: Layer.Layer<never, E, R>,
  options: Options = {}
): Layer.Layer<Client.Client | Dispatcher, E | ConnectError, Exclude<R, Registry>> => {
  const server = McpServer.layer(options.info ?? { name: "test", version: "0.0.0" }, features, options.server)
  const client = Layer.scoped(
    Client.Client,
    Effect.gen(function*() {
      const reach = options.transport === "direct" ? yield* InProcess.connector : yield* connector(options)
      const session = yield* Client.make(reach, options.client)
      const broken = yield* Effect.all([
        missing(definition.tools, session.tools, ({ name }) => name),
        missing(byUri(definition.resources), session.resources, ({ uri }) => uri),
        missing(byTemplate(definition.templates), session.resourceTemplates, ({ uriTemplate }) => uriTemplate),
        missing(definition.prompts, session.prompts, ({ name }) => name)
      ])
      if (broken.flat().length > 0) {
        return yield* Effect.dieMessage(`The server does not keep: ${broken.flat().join(", ")}`)
      }
      return session
    })
  )
  return Layer.provideMerge(client, server)
}

/** What is promised and not listed; nothing is asked where nothing is promised. */
const missing = <A>(
  promised: ReadonlyMap<string, unknown>,
  listed: Stream.Stream<A, ClientError>,
  key: (listed: A) => string
): Effect.Effect<ReadonlyArray<string>, ClientError> =>
  promised.size === 0 ? Effect.succeed([]) : Effect.map(Stream.runCollect(listed), (kept) => {
    const keys = new Set(Array.from(kept, key))
    return [...promised.keys()].filter((one) => !keys.has(one))
  })

const byUri = (resources: Definition.Definition.Any["resources"]): ReadonlyMap<string, unknown> =>
  new Map([...resources.values()].map((resource) => [resource.uri, resource]))

const byTemplate = (templates: Definition.Definition.Any["templates"]): ReadonlyMap<string, unknown> =>
  new Map([...templates.values()].map((template) => [template.template.template, template]))
