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
  const isGiven = ({ extension }: RegisteredHandler): boolean =>
    extension === undefined || extensions.byId.has(extension)
  const handler = (name: string): RequestHandler | undefined => {
    const found = handlers.get(name)
    return found?.method.kind === "request" && isGiven(found) ? found as RequestHandler : undefined
  }
  return {
    routes,
    handler,
    fallback: () => handler(ANY),
    listener: (name) => {
      const found = handlers.get(name)
      return found?.method.kind === "notification" && isGiven(found) ? found as NotificationHandler : undefined
    },
    filter: (name) => filters.get(name)
  }
}

/** The registry key of the handler of all requests that nothing else serves. */
export const ANY = "*"
