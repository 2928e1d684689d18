/**
 * What a server is, for both eras: its name, what it offers at the moment, and what surrounds its handlers.
 * `McpServer.layer` makes one; the `Serve` module of each era serves requests from it.
 */
import type { ServerCapabilities } from "@effect-mcp/protocol/Capabilities"
import type { Implementation } from "@effect-mcp/protocol/Implementation"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import type { ExtensionTable } from "@effect-mcp/protocol/unstable/ExtensionTable"
import type { Version } from "@effect-mcp/protocol/Version"
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type { ServerCacheOptions } from "../CacheOptions.js"
import type { ListenOptions } from "../ListenOptions.js"
import type * as Middleware from "../Middleware.js"
import type { RoundOptions } from "../RoundOptions.js"
import type { Router } from "./Router.js"
import type { SessionLayer } from "./SessionLayer.js"

export interface Server {
  readonly info: Implementation
  /** The revisions that the server supports. */
  readonly versions: ReadonlyArray<Version>
  readonly instructions: string | undefined
  /** The capabilities that the server has at the moment. */
  readonly capabilities: () => ServerCapabilities
  readonly router: Router
  readonly extensions: ExtensionTable
  /** Whether log messages of handlers are sent to clients. */
  readonly logging: boolean
  /** How long a request to a client waits, unless it has a timeout of its own. */
  readonly requestTimeout: Duration.DurationInput
  /** How long a question to a person waits, unless it has a timeout of its own. */
  readonly elicitationTimeout: Duration.DurationInput
  /** The application's session layer. */
  readonly session: SessionLayer | undefined
  /** The middleware around every message, and the services of the application that it runs with. */
  readonly middleware: {
    readonly around: Middleware.Middleware<unknown, any>
    readonly context: Context.Context<never>
  } | undefined
  /** `undefined` when clients cannot subscribe to resources. `max` is the limit for one client. */
  readonly subscriptions: {
    readonly isKnown: (uri: string) => boolean
    readonly max: number | undefined
  } | undefined
  /** The limits of `subscriptions/listen`. */
  readonly listen: ListenOptions
  /** The hints for caches of clients. */
  readonly cache: ServerCacheOptions | undefined
  /** How requests that take several rounds are served. */
  readonly rounds: RoundOptions | undefined
  /** The JSON Schema of a tool's arguments; `undefined` when there is no such tool. */
  readonly inputSchema: (tool: string) => JsonObject | undefined
}
