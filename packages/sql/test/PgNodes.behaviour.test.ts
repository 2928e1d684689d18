/**
 * Every behaviour of a client and a server, through three nodes over one PostgreSQL, where each request goes to the next node.
 */
import * as PgNodes from "@effect-mcp/sql/PgNodes"
import { Effect, Layer } from "effect"
import { nodes } from "../../node/test/behaviour/Nodes.js"
import { over } from "../../node/test/behaviour/Suite.js"
import * as Postgres from "./Postgres.js"

let servers = 0

Postgres.suite("nodes over PostgreSQL:", () =>
  over(nodes(
    "PostgreSQL",
    Effect.map(Effect.orDie(Postgres.database), (url) =>
      Effect.sync(() => {
        const prefix = `server${servers++}_`
        return Effect.orDie(Layer.build(PgNodes.layer({ url, prefix, maxConnections: 4 })))
      })),
    ["2025-06-18"]
  )))
