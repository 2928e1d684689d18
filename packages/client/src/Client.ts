/**
 * A client of one server. It is connected when its effect or layer is built, and closed with its scope. It takes any
 * `Connector`: of a subprocess, a URL, a server in the same process, or a transport of the application's own.
 *
 * @since 0.1.0
 */
import type * as Definition from "@effect-mcp/definition/Definition"
import type { Connector } from "@effect-mcp/jsonrpc/Connector"
import * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { ConnectError } from "./ClientError.js"
import type * as ClientOptions from "./ClientOptions.js"
import * as ClientSession from "./ClientSession.js"
import * as Features from "./Features.js"
import * as Typed from "./Typed.js"

/**
 * The session with the server as a service. An application with several servers uses `ClientSessionGroup`, or a `Tag` for each.
 *
 * @category tags
 */
export class Client extends Context.Tag("@effect-mcp/client/Client")<Client, ClientSession.ClientSessionService>() {}

/** @category models */
export interface Options<E = never, R = never> extends ClientOptions.Options {
  /** What the client can do for the server; see `Features`. Default: nothing. */
  readonly features?: Layer.Layer<never, E, R> | undefined
}

/**
 * Connects to a server in the era that both sides speak: without a session in the modern era, after the handshake in the
 * legacy one. Fails when the server cannot be reached, does not answer in time, or has no revision in common with the
 * client; everything that was opened is closed before this fails.
 *
 * What the client finds out about the era holds for all later connections of the same connector.
 *
 * Features are built before the client connects, with a memo map of their own, so that two clients can have the same layer.
 *
 * @category constructors
 */
export const make = <RC, E = never, R = never>(
  connector: Connector<RC>,
  options?: Options<E, R>
): Effect.Effect<
  ClientSession.ClientSessionService,
  ConnectError | E,
  Exclude<R, Features.Features> | RC | Scope.Scope
> =>
  Effect.gen(function*() {
    const scope = yield* Edition.childOf(yield* Effect.scope)
    return yield* Effect.gen(function*() {
      const features = yield* Features.make
      if (options?.features !== undefined) {
        yield* Layer.buildWithMemoMap(
          Layer.provide(
            options.features as Layer.Layer<never, E, Features.Features>,
            Layer.succeed(Features.Features, features)
          ),
          yield* Layer.makeMemoMap,
          scope
        )
      }
      return yield* ClientSession.connect(connector, options, features)
    }).pipe(
      Scope.extend(scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
  })

/**
 * What `make` does, for the life of a layer.
 *
 * @category layers
 */
export const layer = <RC, E = never, R = never>(
  connector: Connector<RC>,
  options?: Options<E, R>
): Layer.Layer<Client, ConnectError | E, Exclude<Exclude<R, Features.Features> | RC, Scope.Scope>> =>
  Layer.scoped(Client, make(connector, options))

/**
 * The server's tools as functions, typed by a definition. This sends nothing to the server: a tool that the server does not
 * have fails when it is called. `Typed.make` does the same for a client that is a value.
 *
 * @category constructors
 */
export const of = <D extends Definition.Definition.Any>(
  definition: D
): Effect.Effect<Typed.Typed<D>, never, Client> => Effect.map(Client, (client) => Typed.make(client, definition))

/**
 * A service for the client of one server among several.
 *
 * @category models
 */
export interface TagClass<Self, Id extends string>
  extends Context.TagClass<Self, Id, ClientSession.ClientSessionService>
{
  /** What `layer` of this module does, for this service. */
  readonly layer: <RC, E = never, R = never>(
    connector: Connector<RC>,
    options?: Options<E, R>
  ) => Layer.Layer<Self, ConnectError | E, Exclude<Exclude<R, Features.Features> | RC, Scope.Scope>>
  /** What `of` of this module does, for this service. */
  readonly typed: <D extends Definition.Definition.Any>(definition: D) => Effect.Effect<Typed.Typed<D>, never, Self>
}

/**
 * Makes a service for the client of one server, for an application with several.
 *
 * @example
 * ```ts
 * import * as Client from "@effect-mcp/client/Client"
 * import * as Remote from "@effect-mcp/client/Remote"
 * import { Effect, Layer } from "effect"
 *
 * class Search extends Client.Tag("Search")<Search>() {}
 * class Mail extends Client.Tag("Mail")<Mail>() {}
 *
 * export const Servers = Layer.merge(
 *   Search.layer(Remote.connector("https://search.example.com/mcp")),
 *   Mail.layer(Remote.connector("https://mail.example.com/mcp"))
 * )
 *
 * export const found = Effect.flatMap(Search, (search) => search.callTool("find", { text: "effect" }))
 * ```
 * @category utils
 */
export const Tag = <const Id extends string>(id: Id) => <Self>(): TagClass<Self, Id> => {
  const tag = Context.Tag(id)<Self, ClientSession.ClientSessionService>()
  return Object.assign(tag, {
    layer: <RC, E = never, R = never>(connector: Connector<RC>, options?: Options<E, R>) =>
      Layer.scoped(tag, make(connector, options)),
    typed: <D extends Definition.Definition.Any>(definition: D) =>
      Effect.map(tag, (client) => Typed.make(client, definition))
  })
}
