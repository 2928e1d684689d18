/**
 * The laws of nodes over PostgreSQL. It takes more than ten seconds: laws about nodes that end wait until their leases are over.
 */
import { assert, it } from "@effect/vitest"
import * as PgNodes from "@effect-mcp/sql/PgNodes"
import { Config, ConfigProvider, Effect, Layer, Redacted } from "effect"
import * as NodesLaws from "../../testing/test/support/NodesLaws.js"
import * as HttpNode from "./HttpNode.js"
import * as Postgres from "./Postgres.js"

const three = Effect.flatMap(
  Postgres.database,
  (url) => Effect.all([HttpNode.make(url), HttpNode.make(url), HttpNode.make(url)], { concurrency: 3 })
)

Postgres.suite("three nodes over PostgreSQL", () => {
  for (const { check, name } of NodesLaws.laws) it.scopedLive(name, () => check(three))
})

Postgres.suite("PgNodes", () => {
  it.scopedLive("takes its options from the configuration of the program", () =>
    Effect.gen(function*() {
      const live = Layer.provide(
        PgNodes.layerConfig({ url: Config.redacted("POSTGRES") }),
        Layer.setConfigProvider(ConfigProvider.fromMap(new Map([["POSTGRES", "postgres://127.0.0.1:1/mcp"]])))
      )
      assert.include(String(yield* Effect.flip(Layer.build(live))), "PostgreSQL at 127.0.0.1:1")
    }))

  it.scopedLive("does not start without a database, and says where it has looked, without the password", () =>
    Effect.gen(function*() {
      const url = Redacted.make("postgres://ada:secret@127.0.0.1:1/mcp")
      const { message } = yield* Effect.flip(Layer.build(PgNodes.layer({ url })))
      assert.strictEqual(
        message,
        "There is no connection to PostgreSQL at 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1: start PostgreSQL there, " +
          "or correct the option `url`"
      )
    }))

  it.scopedLive("does not start without its database in PostgreSQL, and names the option", () =>
    Effect.gen(function*() {
      const url = Object.assign(new URL(yield* Postgres.database), { pathname: "/nowhere" }).href
      const { message } = yield* Effect.flip(Layer.build(PgNodes.layer({ url })))
      assert.match(
        message,
        /: database "nowhere" does not exist: correct the option `url` or the settings of PostgreSQL$/
      )
    }))

  it.scopedLive("refuses what is not the address of a PostgreSQL, without its password", () =>
    Effect.forEach([
      "ada:secret@127.0.0.1/mcp",
      "redis://ada:secret@127.0.0.1:1",
      "postgres://ada:sec#ret@127.0.0.1:1/mcp",
      "/run/postgresql mcp"
    ], (url) =>
      Effect.gen(function*() {
        const { message } = yield* Effect.flip(Layer.build(PgNodes.layer({ url })))
        assert.strictEqual(
          message,
          "The option `url` is not the address of a PostgreSQL server: write it as postgres://user:password@host:5432/database, " +
            "with a password that `encodeURIComponent` has encoded"
        )
      })))

  it.scopedLive("looks for the socket of PostgreSQL in the folder that its address names", () =>
    Effect.forEach(
      ["postgres://ada:secret@/mcp?host=/nowhere", "socket:/nowhere?db=mcp"],
      (url) =>
        Effect.gen(function*() {
          const { message } = yield* Effect.flip(Layer.build(PgNodes.layer({ url })))
          assert.strictEqual(
            message,
            "There is no connection to PostgreSQL: connect ENOENT /nowhere/.s.PGSQL.5432: start PostgreSQL there, or correct " +
              "the option `url`"
          )
        })
    ))
})
