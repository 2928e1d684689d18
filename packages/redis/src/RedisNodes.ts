/**
 * Provides all services that the nodes of a server share, with one Redis. A node is one process of the server.
 *
 * `services` has the default options of every service. To set options of a service, do not use `services`, but the layer of each single
 * service, such as `RedisTaskStore.layerWith`.
 *
 * @since 0.1.0
 */
import type { ChangeBus } from "@effect-mcp/core/ChangeBus"
import type { EventStore } from "@effect-mcp/core/EventStore"
import type { Inbox } from "@effect-mcp/core/Inbox"
import type { SealKeys } from "@effect-mcp/core/SealKeys"
import type { SessionDirectory } from "@effect-mcp/core/SessionDirectory"
import type { SharedLimits } from "@effect-mcp/core/SharedLimits"
import type { TaskStore } from "@effect-mcp/core/TaskStore"
import type * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Layer from "effect/Layer"
import * as RedisChangeBus from "./RedisChangeBus.js"
import * as RedisConnection from "./RedisConnection.js"
import type { RedisError } from "./RedisError.js"
import * as RedisEventStore from "./RedisEventStore.js"
import * as RedisInbox from "./RedisInbox.js"
import * as RedisSealKeys from "./RedisSealKeys.js"
import * as RedisSessionDirectory from "./RedisSessionDirectory.js"
import * as RedisSharedLimits from "./RedisSharedLimits.js"
import * as RedisTaskStore from "./RedisTaskStore.js"

/**
 * The services that the nodes of a server share.
 *
 * @category models
 */
export type Services = ChangeBus | EventStore | Inbox | SealKeys | SessionDirectory | SharedLimits | TaskStore

/**
 * All services over a `RedisConnection`, with the default options of each service.
 *
 * @category layers
 */
export const services: Layer.Layer<Services, never, RedisConnection.RedisConnection> = Layer.mergeAll(
  RedisChangeBus.layer,
  RedisEventStore.layer,
  RedisInbox.layer,
  RedisSealKeys.layer,
  RedisSessionDirectory.layer,
  RedisSharedLimits.layer,
  RedisTaskStore.layer
)

/**
 * Does the same as `layer`, with options of the connection.
 *
 * @category layers
 */
export const layerWith = (options?: RedisConnection.Options): Layer.Layer<Services, RedisError> =>
  Layer.provide(services, RedisConnection.layerWith(options))

/**
 * Connects to Redis, and provides all services to the server and to its HTTP endpoint. Fails when Redis cannot be reached.
 *
 * @example
 * ```ts
 * import * as McpServer from "@effect-mcp/core/McpServer"
 * import * as Tool from "@effect-mcp/core/Tool"
 * import * as HttpServer from "@effect-mcp/node/HttpServer"
 * import * as RedisNodes from "@effect-mcp/redis/RedisNodes"
 * import { Effect, Layer } from "effect"
 *
 * const Hello = McpServer.tool(Tool.make("hello"), () => Effect.succeed("Hello from any node!"))
 *
 * export const Live = HttpServer.layer({ port: 3000 }).pipe(
 *   Layer.provide(McpServer.layer({ name: "shop", version: "1.0.0" }, Hello)),
 *   Layer.provide(RedisNodes.layerWith({ url: "redis://redis.internal:6379" }))
 * )
 * ```
 * @category layers
 */
export const layer: Layer.Layer<Services, RedisError> = layerWith()

/**
 * Does the same as `layer`, with options from the configuration (`Config`) of your program.
 *
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<RedisConnection.Options>
): Layer.Layer<Services, RedisError | ConfigError> => Layer.provide(services, RedisConnection.layerConfig(options))
