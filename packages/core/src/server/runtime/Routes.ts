/**
 * Finds the route of a request, for `Serve`, by the name of the method and the client. There is one lookup for legacy revisions (up to
 * 2025-11-25), and one for modern revisions (2026-07-28). A lookup is made from the routes of the features, and from a `Vocabulary`: the
 * methods of these revisions. For each revision, the lookup has a table that joins each route with the definition of its method, and with
 * the encoder of the method's results. When the application has registered a handler for a method, this handler replaces the route of the
 * feature.
 */
import * as Effect from "effect/Effect"
import type { Params } from "../../jsonrpc/Message.js"
import type { Outcome } from "../../jsonrpc/Outcome.js"
import * as Capabilities from "../../protocol/Capabilities.js"
import type { JsonObject } from "../../protocol/Json.js"
import * as Method from "../../protocol/Method.js"
import type { Version } from "../../protocol/Version.js"
import type { Hints } from "../CacheHints.js"
import type { RegisteredHandler } from "../Registry.js"
import type { ClientFacts, HandlerContext } from "./HandlerContext.js"
import * as HandlerOutcome from "./HandlerOutcome.js"
import * as Pipeline from "./Pipeline.js"
import * as Route from "./Route.js"
import type { Server } from "./Server.js"

/** A registered handler of requests. */
export type RequestHandler = RegisteredHandler & { readonly method: Method.Request }

/** A registered handler of notifications. */
export type NotificationHandler = RegisteredHandler & { readonly method: Method.Notification }

type Registered = Pick<Server, "extensions" | "registry">

/**
 * Finds the application's handler of the requests of a method. This handler replaces the route of a feature. Gives `undefined` when there
 * is no such handler. Ignores a handler of an extension that is not in the option `extensions` of the server.
 */
export const handlerOf = (server: Registered, method: string): RequestHandler | undefined => {
  const found = server.registry.handlers.get(method)
  return found?.method.kind === "request" && isGiven(server, found) ? found as RequestHandler : undefined
}

/** Finds the application's handler of the notifications of a method; `undefined` when there is none. */
export const listenerOf = (server: Registered, method: string): NotificationHandler | undefined => {
  const found = server.registry.handlers.get(method)
  return found?.method.kind === "notification" && isGiven(server, found) ? found as NotificationHandler : undefined
}

const isGiven = ({ extensions }: Registered, { extension }: RegisteredHandler): boolean =>
  extension === undefined || extensions.byId.has(extension)

/** A route for clients of one revision. */
export interface EraRoute<F extends ClientFacts> {
  readonly method: Method.Request
  readonly serve: (params: any, handler: HandlerContext<F>, raw: JsonObject | undefined) => Route.Served
  /** See `Route.seen`. */
  readonly seen?: Route.Route["seen"]
  /** Whether the server offers the capability of the method to a client. */
  readonly isOffered: (client: F) => boolean
  /** The capabilities that a client must have declared; `undefined` when a client needs no capability. */
  readonly requires?: Capabilities.ClientCapabilities | undefined
  /** Whether the server serves a request of this method before `initialize` has succeeded, like `ping`. Default: `false`. */
  readonly isEarly?: boolean | undefined
  /** Whether a client may cancel a request of this method. Default: `true`. */
  readonly isCancellable?: boolean | undefined
  /** Gives the result of a request that the server ends before the handler has ended. Default: the request gets an error. */
  readonly closing?: ((handler: HandlerContext<F>) => unknown) | undefined
  /** Encodes a result for a client, with the cache hints of this result. */
  readonly encode: (result: unknown, hints: Hints | undefined, client: F) => Outcome
}

/** A route, together with the method that the route serves. */
export type Joined<F extends ClientFacts> =
  & Omit<EraRoute<F>, "isOffered" | "encode">
  & Partial<Pick<EraRoute<F>, "encode">>
  & Pick<Route.Route, "isTrusted" | "isStable" | "problem">

/** The methods of legacy revisions, or of modern revisions. */
export interface Vocabulary<F extends ClientFacts> {
  readonly methods: ReadonlyMap<string, Method.Method>
  /** The routes of the methods that only these revisions have. */
  readonly own: ReadonlyArray<Joined<F>>
  /** The capabilities that the server offers to a client. */
  readonly capabilities: (client: F) => Capabilities.ServerCapabilities
  /** Makes a function that adds the members that every result of these revisions must have. */
  readonly stamp?: (method: string) => (result: Params) => Params
}

/** Finds the route of a method for a client; `undefined` when the server does not offer the method to the client. */
export type Routes<F extends ClientFacts> = (method: string, client: F) => EraRoute<F> | undefined

interface Table<F extends ClientFacts> {
  readonly routes: ReadonlyMap<string, EraRoute<F>>
  readonly ofHandler: (handler: RequestHandler) => EraRoute<F> | undefined
}

export const make = <F extends ClientFacts>(
  server: Server,
  { capabilities, methods, own, stamp }: Vocabulary<F>
): Routes<F> => {
  const features = server.features.flatMap(({ method: name, ...route }): ReadonlyArray<Joined<F>> => {
    const method = methods.get(name)
    return method?.kind === "request" ? [{ ...route, method }] : []
  })

  const makeTable = (version: Version): Table<F> => {
    const join = ({ isStable, isTrusted, problem, ...joined }: Joined<F>): EraRoute<F> => {
      const { method } = joined
      // Middleware may replace a result, so with middleware the encoder checks each result.
      const options = { isTrusted: isTrusted && Pipeline.leavesResults(server), isStable, problem }
      return {
        ...joined,
        isOffered: gate(method, version, capabilities),
        encode: joined.encode ?? HandlerOutcome.encoder(method, version, options, stamp?.(method.name))
      }
    }
    const handlers = new WeakMap<RequestHandler, EraRoute<F>>()
    return {
      routes: new Map(
        [...own, ...features].flatMap((joined) =>
          Method.isIn(joined.method, version) ? [[joined.method.name, join(joined)] as const] : []
        )
      ),
      ofHandler: (handler) => {
        if (!Method.isIn(handler.method, version)) return undefined
        let route = handlers.get(handler)
        if (route === undefined) {
          handlers.set(
            handler,
            route = join(joinedOf(handler))
          )
        }
        return route
      }
    }
  }

  const tables = new Map<Version, Table<F>>()
  return (name, client) => {
    let table = tables.get(client.version)
    if (table === undefined) tables.set(client.version, table = makeTable(client.version))
    const own = handlerOf(server, name)
    const route = (own && table.ofHandler(own)) ?? table.routes.get(name)
    if (route?.isOffered(client) === true) return route
    const fallback = handlerOf(server, Route.ANY)
    return fallback && table.ofHandler(fallback)
  }
}

const joinedOf = <F extends ClientFacts>({ context, method, requires, run }: RequestHandler): Joined<F> => ({
  method,
  isTrusted: false,
  isStable: false,
  requires,
  serve: (params, handler, raw) => ({ effect: Effect.suspend(() => run(params, raw, handler.method)), context })
})

/**
 * Makes the function that says whether the server offers the capability of a method to a client. The function computes the answer once for
 * each value of `capabilities`.
 */
const gate = <F>(
  { capability, gatedSince }: Method.Request,
  version: Version,
  capabilities: (client: F) => Capabilities.ServerCapabilities
): (client: F) => boolean => {
  if (capability === undefined || version < gatedSince) return always
  let known: Capabilities.ServerCapabilities | undefined
  let declares = false
  return (client) => {
    const now = capabilities(client)
    if (now !== known) {
      known = now
      declares = Capabilities.declares(now, capability)
    }
    return declares
  }
}

const always = () => true
