/**
 * What a server is, for both eras: its name, what it offers at the moment, and what surrounds its handlers. `dispatch/Build` makes the
 * server; `Serve` and the modules of both eras read it for each request.
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
  /** How to use the server at the moment, for the model. */
  readonly instructions: () => string | undefined
  /** The capabilities that the server has at the moment. */
  readonly capabilities: () => ServerCapabilities
  /** The routes of all features, whether the server has an entry of the feature or not. */
  readonly features: ReadonlyArray<Route>
  /** What the application has registered: `runtime/Routes` finds a handler. */
  readonly registry: Pick<RegistryService, "filters" | "handlers">
  readonly extensions: ExtensionTable
  /** Whether log messages of handlers are sent to clients. */
  readonly logging: boolean
  readonly limits: Resolved<ServerLimits>
  /** The application's session layer. */
  readonly session: SessionLayer | undefined
  /** The middleware around every message. */
  readonly middleware: ServerMiddleware | undefined
  /** The middleware around every message whose session exists, inside of the other middleware. */
  readonly sessionMiddleware: ServerMiddleware | undefined
  /** Finds the users; `undefined` on a server without users. */
  readonly authenticate: Authentication["authenticate"] | undefined
  /** The documents of the authenticator. */
  readonly documents: Authentication["documents"]
  /** The scopes that a message, or a batch, requires of its user. */
  readonly requiredScopes: (incoming: Message.Incoming) => ReadonlyArray<string>
  /** The scopes of the task that a message of this owner is about; `undefined` where it is about no task. */
  readonly taskScopes: (
    incoming: Message.Incoming,
    owner: string | undefined
  ) => Effect.Effect<ReadonlyArray<string>> | undefined
  /** `undefined` when clients cannot subscribe to resources. */
  readonly subscriptions: {
    /** How many resources one client may subscribe to. */
    readonly max: number
    readonly isKnown: (uri: string) => boolean
    /** The URIs that the request that runs the effect does not see. */
    readonly hidden: (uris: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, unknown>
    /** What the feature of a resource does for a client that subscribes, in the scope of the subscription. */
    readonly begin: (
      uri: string,
      session: ServerSessionService
    ) => Effect.Effect<void, unknown, Scope.Scope> | undefined
  } | undefined
  /** The observers of clients that features have registered. */
  readonly observers: ReadonlySet<ClientObserver>
  /** What runs the tasks of the server; `undefined` on a server without tasks. */
  readonly tasks: TaskRunner | undefined
  /** The hints for caches of clients. */
  readonly cache: ServerCacheOptions | undefined
  /** The keys that seal the state of requests between their rounds. */
  readonly sealKeys: SealKeysService
  /** The JSON Schema of a tool's arguments; `undefined` when there is no such tool. */
  readonly inputSchema: (tool: string) => JsonObject | undefined
  /**
   * The error of a request that does not see a tool; the effect gives `undefined` to a request that sees the tool. `undefined` when
   * every request sees the tool.
   */
  readonly unseenTool: (tool: string) => Effect.Effect<McpError | undefined, unknown> | undefined
}

/** A middleware, and the services of the application that it runs with. */
export interface ServerMiddleware {
  readonly around: Middleware.Middleware<unknown, any>
  readonly context: Context.Context<never>
}
