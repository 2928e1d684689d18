/**
 * One side of a legacy conversation, as the server: which request may be made now, what serves it, in which context, and
 * how its result is said to a peer of this revision. What the methods do is behind `Router`; what only this era has
 * (`initialize`, `ping`, `logging/setLevel`) is here.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 * @since 0.1.0
 */
import type { Side } from "@effect-mcp/jsonrpc/Conversation"
import type { Exchange, Work } from "@effect-mcp/jsonrpc/InFlight"
import type { Notification, Request } from "@effect-mcp/jsonrpc/Message"
import type { Outbound } from "@effect-mcp/jsonrpc/Outbound"
import * as Issue from "@effect-mcp/protocol/Issue"
import * as Methods from "@effect-mcp/protocol/legacy/Methods"
import * as Narrow from "@effect-mcp/protocol/legacy/Narrow"
import type { McpError } from "@effect-mcp/protocol/McpError"
import { InvalidParams, MethodNotFound } from "@effect-mcp/protocol/McpError"
import type * as Method from "@effect-mcp/protocol/Method"
import type { LegacyVersion } from "@effect-mcp/protocol/Version"
import * as Version from "@effect-mcp/protocol/Version"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Scope from "effect/Scope"
import * as Reply from "../Reply.js"
import { RequestContext } from "../RequestContext.js"
import { RequestScope } from "../RequestScope.js"
import type { Route, Router } from "../Router.js"
import { ServerSession } from "../ServerSession.js"
import { Connection } from "./Connection.js"
import * as Initialize from "./Initialize.js"
import { Session } from "./Session.js"

/**
 * What a server needs to serve a conversation.
 *
 * @since 0.1.0
 * @category models
 */
export interface Server extends Initialize.Identity {
  readonly router: Router
  /** Whether handlers' logs reach clients. */
  readonly logging: boolean
}

/**
 * The server's side of one conversation, and what it knows of the client.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (server: Server, outbound: Outbound): Side & { readonly connection: Connection } => {
  const connection = new Connection(outbound)
  const own = routes(server, connection)
  return {
    connection,
    request: (request, exchange) => {
      const route = own.get(request.method) ?? server.router.find(request.method)
      if (route === undefined || !Version.isAtLeast(connection.version, route.method.since)) {
        return refuse(new MethodNotFound({ method: Reply.quotable(request.method) }))
      }
      if (!connection.accepted && route.early !== true) return refuse(tooEarly(request))
      const params = route.method.decodeParams(request.params)
      if (Either.isLeft(params)) return refuse(invalid(params.left))
      return work(route, params.right, connection, request, exchange, server.logging)
    },
    notification: (notification) => told(connection, notification)
  }
}

const routes = (server: Server, connection: Connection): ReadonlyMap<string, Route> => {
  const own = <P, A>(
    method: Method.Request<string, P, A>,
    serve: (params: P) => Effect.Effect<A, McpError>,
    rules?: Pick<Route, "cancellable" | "early">
  ): [string, Route] => [
    method.name,
    {
      method,
      trusted: true,
      serve: (params) => ({ effect: Effect.suspend(() => serve(params)), context: Context.empty() }),
      ...rules
    }
  ]
  return new Map([
    // MUST NOT be cancelled by the client (2025-11-25 basic/utilities/cancellation#behavior-requirements)
    own(Methods.initialize, (params) => Initialize.serve(server, connection, params), {
      early: true,
      cancellable: false
    }),
    own(Methods.ping, () => Effect.succeed({}), { early: true }),
    ...(server.logging
      ? [own(Methods.setLevel, ({ level }) => {
        connection.level = level
        return Effect.succeed({})
      })]
      : [])
  ])
}

const work = (
  route: Route,
  params: unknown,
  connection: Connection,
  request: Request,
  exchange: Exchange,
  logging: boolean
): Work => {
  const session = new Session(connection, request, exchange, logging)
  const scope = new RequestScope()
  const { context, effect } = route.serve(params, session)
  const { kept, method, trusted } = route
  return {
    effect: effect as Effect.Effect<unknown, unknown>,
    context: within(context, session, scope),
    cancellable: route.cancellable,
    release: (exit) => scope.release(exit),
    reply: (exit) =>
      Reply.fromExit(exit, "legacy", (value) => {
        const reply = trusted ? { result: value as {} } : Reply.result(value, method)
        if (reply.result === undefined) return reply
        const say = kept === true ? narrowOnce : narrow
        return { result: say(method, connection.version, reply.result) }
      })
  }
}

const narrow = (method: Method.Request, version: LegacyVersion, result: {}): {} =>
  Narrow.compile(method.result, version)(result) as {}

const narrowed = new WeakMap<{}, Map<LegacyVersion, {}>>()

/** The same for a result that is given many times, and is as large as a list: worked out once for each revision. */
const narrowOnce = (method: Method.Request, version: LegacyVersion, result: {}): {} => {
  let versions = narrowed.get(result)
  if (versions === undefined) narrowed.set(result, versions = new Map())
  let told = versions.get(version)
  if (told === undefined) versions.set(version, told = narrow(method, version, result))
  return told
}

/** The captured context with the services of this request, which come before any of the same name in it. */
const within = (
  context: Context.Context<never>,
  session: Session,
  scope: RequestScope
): Context.Context<never> => {
  const services = new Map(context.unsafeMap)
  services.set(RequestContext.key, session)
  services.set(ServerSession.key, session)
  services.set(Scope.Scope.key, scope)
  return Context.unsafeMake(services)
}

const told = (connection: Connection, { method, params }: Notification): Effect.Effect<void> | undefined => {
  // Dropped before `initialize`, and when it is malformed: a notification is never answered.
  if (
    method === Methods.initialized.name && connection.accepted &&
    Either.isRight(Methods.initialized.decodeParams(params))
  ) {
    connection.initialized = true
  }
  return undefined
}

const refuse = (error: McpError): Work => ({
  effect: Effect.fail(error),
  reply: (exit) => Reply.fromExit(exit, "legacy", () => ({ result: {} }))
})

const tooEarly = ({ method }: Request): InvalidParams =>
  new InvalidParams({ message: `Invalid request parameters: "${Reply.quotable(method)}" was sent before "initialize"` })

const invalid = (error: { readonly issue: Parameters<typeof Issue.sentence>[0] }): InvalidParams =>
  new InvalidParams({
    message: `Invalid params: ${Issue.sentence(error.issue)}`,
    data: { issues: Issue.places(error.issue) }
  })
