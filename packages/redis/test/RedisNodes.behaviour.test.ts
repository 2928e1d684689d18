/**
 * Every behaviour of a client and a server, through three nodes over one Redis, where each request goes to the next node.
 * It takes more than ten seconds: each behaviour runs at four revisions.
 */
import * as RedisNodes from "@effect-mcp/redis/RedisNodes"
import { Effect, Layer } from "effect"
import { nodes } from "../../node/test/behaviour/Nodes.js"
import { over } from "../../node/test/behaviour/Suite.js"
import * as RedisProcess from "./RedisProcess.js"

let servers = 0

over(nodes(
  "Redis",
  Effect.map(RedisProcess.make([]), ({ url }) =>
    Effect.sync(() => {
      const prefix = `server${servers++}:`
      // Generous, because machines are busy with other things.
      return Effect.orDie(Layer.build(RedisNodes.layerWith({ url, prefix, timeout: "10 seconds" })))
    })),
  ["2024-11-05", "2025-03-26", "2025-11-25", "2026-07-28"],
  "streamable"
))
