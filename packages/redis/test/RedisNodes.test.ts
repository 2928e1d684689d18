/**
 * The laws of nodes over Redis. It takes more than ten seconds: laws about nodes that end wait until their leases are over.
 */
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as NodesLaws from "../../testing/test/support/NodesLaws.js"
import * as RedisProcess from "./RedisProcess.js"
import * as ThreeNodes from "./ThreeNodes.js"

describe("three nodes over Redis", () => {
  const nodes = Effect.flatMap(RedisProcess.shared, ({ url }) => ThreeNodes.at(url))
  for (const { check, name } of NodesLaws.laws) it.scopedLive(name, () => check(nodes))
})
