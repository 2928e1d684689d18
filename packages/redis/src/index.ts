/**
 * State of an MCP server that several nodes share, in Redis.
 *
 * @since 0.1.0
 */
export * as RedisChangeBus from "./RedisChangeBus.js"
export * as RedisCommand from "./RedisCommand.js"
export * as RedisConnection from "./RedisConnection.js"
export * as RedisError from "./RedisError.js"
export * as RedisEventStore from "./RedisEventStore.js"
export * as RedisInbox from "./RedisInbox.js"
export * as RedisNodes from "./RedisNodes.js"
export * as RedisSealKeys from "./RedisSealKeys.js"
export * as RedisSessionDirectory from "./RedisSessionDirectory.js"
export * as RedisSharedLimits from "./RedisSharedLimits.js"
export * as RedisTaskStore from "./RedisTaskStore.js"
