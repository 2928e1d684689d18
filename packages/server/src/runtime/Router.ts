/**
 * Finds what serves a method: a handler that the application registered for it, or the route of a feature.
 *
 * A handler of an extension that the server was not given serves nothing. Each era decides, by its method table, which methods
 * exist in which revision, and serves those that no other era has.
 */
import type * as Method from "@effect-mcp/protocol/Method"
import type { ExtensionTable } from "@effect-mcp/protocol/unstable/ExtensionTable"
import type { RegisteredFilter, RegisteredHandler, RegistryService } from "../Registry.js"
import type { Route } from "./Route.js"

/** A registered handler of requests. */
export type RequestHandler = RegisteredHandler & { readonly method: Method.Request }

/** A registered handler of notifications. */
export type NotificationHandler = RegisteredHandler & { readonly method: Method.Notification }

export interface Router {
  /** The routes of all features, whether the server has an entry of the feature or not. */
  readonly routes: ReadonlyArray<Route>
  /** The application's handler of a request method, which comes before the route of a feature. */
  readonly handler: (method: string) => RequestHandler | undefined
  /** The application's handler of all requests that nothing else serves. */
  readonly fallback: () => RequestHandler | undefined
  /** The application's handler of a notification method. */
  readonly listener: (method: string) => NotificationHandler | undefined
  /** The application's choice among the keys of a filter. */
  readonly filter: (name: string) => RegisteredFilter | undefined
}

export const make = (
  { filters, handlers }: RegistryService,
  routes: ReadonlyArray<Route>,
  extensions: Pick<ExtensionTable, "byId">
): Router => {
  const find = (name: string, kind: Method.Method["kind"]): RegisteredHandler | undefined => {
    // Most servers register no handler of their own: one comparison for each request.
    if (handlers.size === 0) return undefined
    const found = handlers.get(name)
    const isGiven = found?.extension === undefined || extensions.byId.has(found.extension)
    return isGiven && found?.method.kind === kind ? found : undefined
  }
  const handler = (name: string) => find(name, "request") as RequestHandler | undefined
  return {
    routes,
    handler,
    fallback: () => handler(ANY),
    listener: (name) => find(name, "notification") as NotificationHandler | undefined,
    filter: (name) => filters.get(name)
  }
}

/** The registry key of the handler of all requests that nothing else serves. */
export const ANY = "*"
