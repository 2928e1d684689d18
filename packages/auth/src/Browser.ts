/**
 * The user's browser, for logging in: opens a URL, and receives the response that the authorization server sends the browser back with. A
 * desktop program uses `node/LoopbackBrowser`; a web application provides its own with `layer`.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { AuthorizationError } from "./AuthorizationError.js"

/** @category models */
export interface Login {
  /** Where the response is received: https, or http on a loopback address. Registered clients must have registered it. */
  readonly redirectUri: string
  /**
   * Opens the URL, and gives the parameters of the response with this `state`. Responses with another state belong to another
   * login, or are forged, and do not end this one. Interrupting it ends the waiting.
   */
  readonly open: (url: URL, state: string) => Effect.Effect<URLSearchParams, AuthorizationError>
}

/** @category models */
export interface BrowserService {
  /**
   * Begins to listen for one response, until the scope closes. `registered` are the redirect URIs that this client has registered before:
   * with another redirect URI it has to register again.
   */
  readonly login: (registered: ReadonlyArray<string>) => Effect.Effect<Login, AuthorizationError, Scope.Scope>
}

/** @category tags */
export class Browser extends Context.Tag("@effect-mcp/auth/Browser")<Browser, BrowserService>() {}

/**
 * A browser that is always ready.
 *
 * @category layers
 */
export const layer = (login: Login): Layer.Layer<Browser> =>
  Layer.succeed(Browser, { login: () => Effect.succeed(login) })
