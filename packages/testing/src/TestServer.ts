/**
 * Connects a server under test to a real client in one process. A test calls the server through all parts of the library except the
 * network. The transport is in memory, and checks all messages against the official schema. `mock` and `mockTools` are for tests of code
 * that uses a client: they make a server whose handlers the test provides.
 *
 * To script single messages, use `TestPeer`. To answer the requests that a server sends to its client, use `TestFeatures`.
 *
 * @since 0.1.0
 */
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as Client from "@effect-mcp/core/Client"
import type { ClientError, ConnectError } from "@effect-mcp/core/ClientError"
import type { ClientFeatures } from "@effect-mcp/core/ClientFeatures"
import * as Connector from "@effect-mcp/core/Connector"
import * as Definition from "@effect-mcp/core/Definition"
import type * as DefinitionHandlers from "@effect-mcp/core/DefinitionHandlers"
import * as Dispatcher from "@effect-mcp/core/Dispatcher"
import type * as Feature from "@effect-mcp/core/Feature"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import type { Middleware } from "@effect-mcp/core/Middleware"
import type { Implementation } from "@effect-mcp/core/protocol/Implementation"
import { JsonObject } from "@effect-mcp/core/protocol/Json"
import { InternalError } from "@effect-mcp/core/protocol/McpError"
import { type Entries, Running } from "@effect-mcp/core/Registry"
import * as Tool from "@effect-mcp/core/Tool"
import { isToolResult, type ToolResult } from "@effect-mcp/core/ToolResult"
import * as StreamArrays from "@effect-mcp/core/unstable/kit/StreamArrays"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as TestTransport from "./TestTransport.js"

/**
 * The options of `McpServer.layer` for the server, and the options of the test.
 *
 * @category models
 */
export interface Options<
  CE = never,
  CR = never,
  Session extends Layer.Layer.Any | undefined = Layer.Layer<never>,
  Around extends Middleware.Any | undefined = Middleware<never, never>,
  InSession extends Middleware.Any | undefined = Middleware<never, never>,
  Users extends Authenticator.Authenticator.Any | undefined = Authenticator.Authenticator<never>
> extends McpServer.Options<Session, Around, InSession, Users>, ClientOptions<CE, CR> {
  /** The name and the version of the server. Default: name "test", version "0.0.0". */
  readonly info?: Implementation | undefined
  /**
   * The revisions that the server supports. The client supports the same revisions, except when `client` has `versions`. `["2026-07-28"]`
   * tests the revision without a handshake. Default: all revisions of the server, and the default revisions of the client.
   */
  readonly versions?: McpServer.Options["versions"]
  /**
   * The user of the client, for example `Context.make(User, ada)`. To test the authenticator as well, pass the data that a transport passes
   * to the authenticator: `Authenticator.http({ headers: { authorization: "Bearer ada" } })` or `Authenticator.stdio({ USER: "ada" })`.
   * Default: the data of a client in the process of the server.
   */
  readonly as?: Context.Context<Authenticator.Authenticator.Provides<Users>> | Authenticator.Caller | undefined
  /**
   * Whether the layer dies at its end with the causes of all handlers that have died. With `true`, a test fails with the bug itself and not
   * only with "Internal error". Default: false.
   */
  readonly raiseDefects?: boolean | undefined
}

/** @category models */
export interface ClientOptions<E = never, R = ClientFeatures> extends TestTransport.Options {
  /**
   * How client and server exchange messages. `wire`: as JSON text, with checks against the official schema. `direct`: as values, which is
   * faster but without checks. Default: `wire`.
   */
  readonly transport?: "wire" | "direct" | undefined
  /**
   * The options of the client. The option `features` answers requests of the server, and `TestFeatures` makes features with scripted
   * answers.
   */
  readonly client?: Client.Options<E, R> | undefined
  /** The user of the client, or the data of the client for the authenticator. See `as` of `Options`. */
  readonly as?: Asker | undefined
}

/**
 * A user as a service, or the data of a client that a transport passes to the authenticator.
 *
 * @category models
 */
export type Asker = Context.Context<any> | Authenticator.Caller

const callerOf = (as: Asker = Authenticator.inProcess): Authenticator.Caller =>
  Context.isContext(as) ? Authenticator.given(as) : as

/**
 * Makes a connector to the server in the context. Each connection has a separate transport in memory, with checks.
 *
 * @category constructors
 */
export const connector = (
  options: TestTransport.Options & Pick<ClientOptions, "as"> = {}
): Effect.Effect<Connector.Connector, never, Dispatcher.Dispatcher> =>
  Effect.map(Dispatcher.Dispatcher, (dispatcher) =>
    Connector.make(
      "a server under test",
      Effect.gen(function*() {
        const pair = yield* TestTransport.pair(options)
        yield* Effect.forkScoped(dispatcher.accept(pair.server, callerOf(options.as)))
        return pair.client
      })
    ))

/**
 * Provides a client of the server in the context, for example of the application's server. Dies when a tool, resource, resource template or
 * prompt of `definition` is missing from the server. An entry that the server has only for other users is not missing.
 *
 * @category utils
 */
export const client = <D extends Definition.Definition.Any, E = never, R = never>(
  definition: D,
  options: ClientOptions<E, R> = {}
): Layer.Layer<
  Client.Client,
  E | ConnectError,
  Exclude<Exclude<R, ClientFeatures>, Scope.Scope> | Dispatcher.Dispatcher
> =>
  Layer.scoped(
    Client.Client,
    Effect.gen(function*() {
      const connectTo = options.transport === "direct"
        ? yield* InProcess.connectorAs(callerOf(options.as))
        : yield* connector(options)
      const session = yield* Client.make(connectTo, options.client)
      const running = Option.getOrUndefined(yield* Effect.serviceOption(Running))
      const { prompts, resources, templates, tools } = definition
      const unlisted = yield* Effect.all([
        missing(tools, running?.tools, session.tools, ({ name }) => name),
        missing(byUri(resources), running?.resources, session.resources, ({ uri }) => uri),
        missing(byTemplate(templates), running?.templates, session.resourceTemplates, ({ uriTemplate }) => uriTemplate),
        missing(prompts, running?.prompts, session.prompts, ({ name }) => name)
      ])
      if (unlisted.flat().length > 0) {
        return yield* Effect.dieMessage(
          `The server does not list: ${
            unlisted.flat().join(", ")
          }. Give the server features for all entries of the definition`
        )
      }
      return session
    })
  )

/**
 * Provides a client of a server with these features. `McpServer.layer` makes the server, and `client` makes the client. The options provide
 * the user and the services of the session layer and the middleware. The layer requires all other services of the features, and a missing
 * service is a type error that names the service.
 *
 * @example
 * ```ts
 * import * as Definition from "@effect-mcp/core/Definition"
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import * as TestFeatures from "@effect-mcp/testing/TestFeatures"
 * import * as TestServer from "@effect-mcp/testing/TestServer"
 * import { Effect } from "effect"
 *
 * const Ping = Tool.make("ping")
 *
 * export const Test = TestServer.layer(Definition.make(Ping), McpServer.tool(Ping, () => Effect.succeed("pong")), {
 *   versions: ["2026-07-28"],
 *   client: { features: TestFeatures.roots(["file:///home/ada"]) }
 * })
 * ```
 * @category layers
 */
export const layer = <
  D extends Definition.Definition.Any,
  E = never,
  R = never,
  CE = never,
  CR = never,
  Session extends Layer.Layer.Any | undefined = Layer.Layer<never>,
  Around extends Middleware.Any | undefined = Middleware<never, never>,
  InSession extends Middleware.Any | undefined = Middleware<never, never>,
  Users extends Authenticator.Authenticator.Any | undefined = Authenticator.Authenticator<never>
>(
  definition: D,
  features: Layer.Layer<never, E, R>,
  options: Options<CE, CR, Session, Around, InSession, Users> = {}
): Layer.Layer<
  Client.Client | Dispatcher.Dispatcher | Running,
  E | CE | ConnectError,
  ServerContext<E, R, Session, Around, InSession, Users> | Exclude<Exclude<CR, ClientFeatures>, Scope.Scope>
> => {
  const { client: clientOptions, info = { name: "test", version: "0.0.0" }, versions, ...rest } = options
  const serve = (server: McpServer.Options<Session, Around, InSession, Users>) =>
    McpServer.layer(info, features, { ...server, versions })
  const server = options.raiseDefects === true ? Layer.unwrapScoped(Effect.map(raising(rest), serve)) : serve(rest)
  return Layer.provideMerge(client(definition, { ...rest, client: { versions, ...clientOptions } }), server)
}

/** The services that a server with these features and options requires. */
type ServerContext<
  E,
  R,
  Session extends Layer.Layer.Any | undefined,
  Around extends Middleware.Any | undefined,
  InSession extends Middleware.Any | undefined,
  Users extends Authenticator.Authenticator.Any | undefined
> = Layer.Layer.Context<ReturnType<typeof McpServer.layer<E, R, Session, Around, InSession, Users>>>

/**
 * The handlers of a mocked server, by the names of a definition, as for `McpServer.implement`. All handlers are optional.
 *
 * @category models
 */
export type MockHandlers<D extends Definition.Definition.Any> = {
  readonly [K in keyof DefinitionHandlers.Handlers<D>]?: DefinitionHandlers.Handlers<D>[K] extends
    (...args: never) => unknown ? DefinitionHandlers.Handlers<D>[K]
    : Partial<DefinitionHandlers.Handlers<D>[K]>
}

/**
 * Provides a client of a mocked server, for tests of code that uses the client. The server also lists a tool, resource or prompt that has
 * no handler. A call of such an entry fails with an `InternalError` that contains the name of the entry.
 *
 * @example
 * ```ts
 * import * as Definition from "@effect-mcp/core/Definition"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import * as TestServer from "@effect-mcp/testing/TestServer"
 * import { Effect, Schema } from "effect"
 *
 * const Forecast = Tool.make("forecast", { parameters: { city: Schema.String }, success: Schema.String })
 * const Warnings = Tool.make("warnings", { success: Schema.String })
 * const Weather = Definition.make(Forecast, Warnings)
 *
 * export const Test = TestServer.mock(Weather, { forecast: ({ city }) => Effect.succeed(`rain in ${city}`) })
 * ```
 * @category utils
 */
export const mock = <
  D extends Definition.Definition.Any,
  const H extends MockHandlers<D>,
  E = never,
  R = never,
  U = never,
  UR = never
>(
  definition: D,
  handlers: H & DefinitionHandlers.Checked<D, NoInfer<H>>,
  options?: MockOptions<E, R, U, UR>
): Mocked<H, E, R, U, UR> => {
  const given: { readonly [name: string]: any } = handlers
  const all = (
    entries: ReadonlyMap<string, unknown>,
    mocks: { readonly [name: string]: unknown } | undefined,
    otherwise: (name: string) => unknown
  ) =>
    Object.fromEntries(
      Array.from(
        entries.keys(),
        (name) => [name, mocks !== undefined && Object.hasOwn(mocks, name) ? mocks[name] : otherwise(name)]
      )
    )
  const { prompts, resources, templates, tools } = definition
  const features = McpServer.implement(definition, {
    ...all(tools, given, (name) => () => notMocked("tool", name)),
    ...(resources.size === 0
      ? undefined
      : { resources: all(resources, given.resources, (name) => notMocked("resource", name)) }),
    ...(templates.size === 0
      ? undefined
      : { templates: all(templates, given.templates, (name) => () => notMocked("resource template", name)) }),
    ...(prompts.size === 0
      ? undefined
      : { prompts: all(prompts, given.prompts, (name) => () => notMocked("prompt", name)) })
  } as never)
  return layer(definition, features, options) as Mocked<H, E, R, U, UR>
}

/**
 * Provides a client of a server with mocked tools, for tests of code that calls tools by name without a definition. A handler gets the
 * arguments that the client has sent. If a handler returns an object, the object becomes structured content.
 *
 * @category utils
 */
export const mockTools = <const H extends MockTools, E = never, R = never, U = never, UR = never>(
  tools: H,
  options?: MockOptions<E, R, U, UR>
): Mocked<H, E, R, U, UR> => {
  const features = Object.entries(tools).map(([name, handler]) => {
    const { codec, ...tool } = Tool.make(name, { parameters: JsonObject })
    const mocked: Tool.Tool<string, JsonObject, JsonObject, any, never> = {
      ...tool,
      codec: {
        ...codec,
        encodeSuccess: (value) =>
          Predicate.isRecord(value) && !isToolResult(value)
            ? Effect.succeed({ content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value })
            : codec.encodeSuccess(value)
      }
    }
    return McpServer.tool(mocked, handler)
  })
  return layer(Definition.make(), Layer.mergeAll(Layer.empty, ...features), options) as Mocked<H, E, R, U, UR>
}

/**
 * The handlers of `mockTools`, by the names of the tools.
 *
 * @category models
 */
export interface MockTools {
  readonly [name: string]: (
    args: JsonObject
  ) => Effect.Effect<string | void | JsonObject | ToolResult<unknown>, Feature.Fails, any>
}

/** @category models */
export interface MockOptions<E = never, R = never, U = never, UR = never>
  extends Options<E, R, never, never, never, Authenticator.Authenticator<U, UR>>
{}

/**
 * The layer of a mocked server and its client. It requires the services of the handlers and of the client's features.
 *
 * @category models
 */
export type Mocked<H, E = never, R = never, U = never, UR = never> = Layer.Layer<
  Client.Client | Dispatcher.Dispatcher,
  E | ConnectError,
  | Exclude<DefinitionHandlers.Context<H>, Feature.RequestServices | U>
  | UR
  | Exclude<Exclude<R, ClientFeatures>, Scope.Scope>
>

const notMocked = (kind: string, name: string) =>
  new InternalError({
    message: `The test has no handler for the ${kind} "${name}": give TestServer.mock a handler with this name`
  })

/** Changes the options of a server so that the current scope dies with the causes of all defects when it closes. */
const raising = <O extends Pick<Dispatcher.Options, "onDefect">>(options: O): Effect.Effect<O, never, Scope.Scope> =>
  Effect.gen(function*() {
    const causes: Array<Cause.Cause<unknown>> = []
    yield* Effect.addFinalizer(() =>
      Effect.failCause(Cause.flatMap(causes.reduce(Cause.sequential, Cause.empty), Cause.die)).pipe(
        Effect.when(() => causes.length > 0)
      )
    )
    return {
      ...options,
      onDefect: (defect: Dispatcher.Defect) =>
        Effect.zipRight(Effect.sync(() => causes.push(defect.cause)), options.onDefect?.(defect) ?? Effect.void)
    }
  })

/**
 * Returns the keys of a definition that the server does not list, and that no user of the server has. For an empty definition, sends no
 * request for a list.
 */
const missing = <A>(
  defined: ReadonlyMap<string, unknown>,
  registered: Pick<Entries<unknown>, "has"> | undefined,
  listed: Stream.Stream<A, ClientError>,
  key: (listed: A) => string
): Effect.Effect<ReadonlyArray<string>, ClientError> =>
  defined.size === 0 ? Effect.succeed([]) : Effect.map(StreamArrays.collect(listed), (found) => {
    const keys = new Set(found.map(key))
    return [...defined.keys()].filter((one) => !keys.has(one) && registered?.has(one) !== true)
  }).pipe(
    // A server that does not declare tools, for example, has no list of tools.
    Effect.catchTag("NotNegotiated", () => Effect.succeed([...defined.keys()]))
  )

const byUri = (resources: Definition.Definition.Any["resources"]): ReadonlyMap<string, unknown> =>
  new Map([...resources.values()].map((resource) => [resource.uri, resource]))

const byTemplate = (templates: Definition.Definition.Any["templates"]): ReadonlyMap<string, unknown> =>
  new Map([...templates.values()].map((template) => [template.template.template, template]))
