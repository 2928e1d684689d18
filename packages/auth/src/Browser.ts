/**
 * The user's browser, for a login. The service opens the URL of the login. At the end of the login the authorization server redirects the
 * browser to the redirect URI of the program, and the service reads the response from that URI. A desktop program uses
 * `node/LoopbackBrowser`. A web application provides its own service with `layer`.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { AuthorizationError } from "./AuthorizationError.js"

/**
 * One login: its redirect URI, and the function that opens the browser.
 *
 * @category models
 */
export interface Login {
  /**
   * The URI at which the program receives the response. It must be an https URI, or an http URI on a loopback address. If the client was
   * registered manually, the registration must contain this URI.
   */
  readonly redirectUri: string
  /**
   * Opens the URL, waits for the response with this `state`, and returns the parameters of this response. Ignores a response with another
   * `state`, because that response belongs to another login or is forged. An interruption ends the wait.
   */
  readonly open: (url: URL, state: string) => Effect.Effect<URLSearchParams, AuthorizationError>
}

/** @category models */
export interface BrowserService {
  /**
   * Begins to listen for one response, until the scope closes. `registered` are the redirect URIs that this client has registered before.
   * Use one of these URIs if possible, because with another redirect URI the client has to register again.
   */
  readonly login: (registered: ReadonlyArray<string>) => Effect.Effect<Login, AuthorizationError, Scope.Scope>
}

/** @category tags */
export class Browser extends Context.Tag("@effect-mcp/auth/Browser")<Browser, BrowserService>() {}

/**
 * Provides a browser whose redirect URI never changes, such as the browser of a web application.
 *
 * @category layers
 */
export const layer = (login: Login): Layer.Layer<Browser> =>
  Layer.succeed(Browser, { login: () => Effect.succeed(login) })
