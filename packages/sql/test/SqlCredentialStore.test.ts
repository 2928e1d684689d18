import { describe, it } from "@effect/vitest"
import * as SqlConnection from "@effect-mcp/sql/SqlConnection"
import * as SqlCredentialStore from "@effect-mcp/sql/SqlCredentialStore"
import { SqlStoreError } from "@effect-mcp/sql/SqlStoreError"
import { Effect, TestServices } from "effect"
import * as Laws from "../../auth/test/CredentialStoreLaws.js"
import { engines, inRealTime } from "./Engines.js"

const away = Effect.fail(new SqlStoreError({ message: "The database did not answer" }))

const storeOf = (owner: string, connection: SqlConnection.SqlConnectionService) =>
  Effect.provideService(
    SqlCredentialStore.make(owner, { maxRecords: Laws.MAX_RECORDS }),
    SqlConnection.SqlConnection,
    connection
  )

describe.each(engines)("credentials in $engine", ({ pair: connections }) => {
  const nodes = TestServices.provideLive(connections(Effect.map(SqlConnection.SqlConnection, inRealTime)))
  const pair = Effect.flatMap(nodes, ([one, other]) => Effect.zip(storeOf("ada", one), storeOf("ada", other)))
  for (const { check, name } of Laws.laws) it.scoped(name, () => check(pair))
  const shared = Effect.flatMap(nodes, ([one, other]) => {
    let isCut = false
    const cuttable: typeof one = {
      ...one,
      run: (what, effect) => Effect.suspend(() => isCut ? away : one.run(what, effect)),
      transaction: (what, effect) => Effect.suspend(() => isCut ? away : one.transaction(what, effect))
    }
    return Effect.map(storeOf("ada", cuttable), (store) => ({
      cut: (now: boolean) => Effect.sync(() => void (isCut = now)),
      one: store,
      of: (owner: string) => storeOf(owner, other)
    }))
  })
  for (const { check, name } of Laws.shared) it.scoped(name, () => check(shared))
})
