/**
 * The parts of a server that the modules which serve requests need: its name, its features, its session layer, its middleware and its
 * limits. `dispatch/Build` makes this object. `Serve`, and the modules in `legacy` and `modern`, read it for each request.
 */
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Message from "../../jsonrpc/Message.js"
import type { ServerCapabilities } from "../../protocol/Capabilities.js"
import type { ExtensionTable } from "../../protocol/extension/ExtensionTable.js"
import type { Implementation } from "../../protocol/Implementation.js"
import type { JsonObject } from "../../protocol/Json.js"
import type { McpError } from "../../protocol/McpError.js"
import type { Version } from "../../protocol/Version.js"
import type { ServerCacheOptions } from "../CacheHints.js"
import type { ServerLimits } from "../Limits.js"
import type * as Middleware from "../Middleware.js"
import type { ClientObserver, RegistryService } from "../Registry.js"
import type { SealKeysService } from "../SealKeys.js"
import type { ServerSessionService } from "../ServerSession.js"
import type { TaskRunner } from "../tasks/TaskRunner.js"
import type { Authentication } from "./Authentication.js"
import type { Resolved } from "./ResolvedLimits.js"
import type { Route } from "./Route.js"
import type { SessionLayer } from "./SessionLayer.js"

export interface Server {
  readonly info: Implementation
  /** The revisions that the server supports. */
  readonly versions: ReadonlyArray<Version>
  /** Gives the current instructions for the model; `undefined` when there are none. */
  readonly instructions: () => string | undefined
  /** Gives the current capabilities of the server. */
  readonly capabilities: () => ServerCapabilities
  /** The routes of the methods of all features. The server has these routes even when it has no entries, for example no tools. */
  readonly features: ReadonlyArray<Route>
  /** The handlers and filters that the application has registered. `runtime/Routes` finds a handler in them. */
  readonly registry: Pick<RegistryService, "filters" | "handlers">
  readonly extensions: ExtensionTable
  /** Whether the server sends log messages of handlers to clients. */
  readonly logging: boolean
  readonly limits: Resolved<ServerLimits>
  /** The application's session layer; `undefined` on a server without a session layer. */
  readonly session: SessionLayer | undefined
  /** The middleware around every message; `undefined` on a server without this middleware. */
  readonly middleware: ServerMiddleware | undefined
  /** The middleware around every message whose session exists. This middleware runs inside of `middleware`. */
  readonly sessionMiddleware: ServerMiddleware | undefined
  /** Finds the users; `undefined` on a server without users. */
  readonly authenticate: Authentication["authenticate"] | undefined
  /** The documents of the authenticator. */
  readonly documents: Authentication["documents"]
  /** Gives the authorization scopes that a message, or the messages of a batch, require. */
  readonly requiredScopes: (incoming: Message.Incoming) => ReadonlyArray<string>
  /** Gives the scopes of the task that a message of this owner names; `undefined` where the message names no task. */
  readonly taskScopes: (
    incoming: Message.Incoming,
    owner: string | undefined
  ) => Effect.Effect<ReadonlyArray<string>> | undefined
  /** Serves subscriptions to resources; `undefined` when clients cannot subscribe. */
  readonly subscriptions: {
    /** How many resources one client may subscribe to. */
    readonly max: number
    readonly isKnown: (uri: string) => boolean
    /** Gives the URIs in `uris` that are hidden from the current request. */
    readonly hidden: (uris: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, unknown>
    /**
     * Gives the `subscribe` effect of a resource, which runs in the scope of the subscription; `undefined` when the resource has no such
     * effect.
     */
    readonly begin: (
      uri: string,
      session: ServerSessionService
    ) => Effect.Effect<void, unknown, Scope.Scope> | undefined
  } | undefined
  /** The client observers that features have registered. */
  readonly observers: ReadonlySet<ClientObserver>
  /** Runs the tasks of the server; `undefined` on a server without tasks. */
  readonly tasks: TaskRunner | undefined
  /** The server's option `cache`, from which cache hints are made. */
  readonly cache: ServerCacheOptions | undefined
  /** The keys that encrypt the state of a request between its rounds. */
  readonly sealKeys: SealKeysService
  /** Gives the JSON Schema of the arguments of a tool; `undefined` when there is no such tool. */
  readonly inputSchema: (tool: string) => JsonObject | undefined
  /**
   * Gives `undefined` when the tool is visible to every request. Otherwise gives an effect. When the tool is hidden from the current
   * request, this effect gives the error of an unknown tool; otherwise the effect gives `undefined`.
   */
  readonly unseenTool: (tool: string) => Effect.Effect<McpError | undefined, unknown> | undefined
}

/** A middleware, and the services of its layer. */
export interface ServerMiddleware {
  readonly around: Middleware.Middleware<unknown, any>
  readonly context: Context.Context<never>
}
