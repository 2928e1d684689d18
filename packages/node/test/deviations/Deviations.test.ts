/**
 * Runs the table of deviations. It takes more than ten seconds: the table has hundreds of rows, each with a conversation of its own.
 */
import { describe, it, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { expect } from "vitest"
import { isTaken } from "../Third.js"
import * as ClientUnderTest from "./ClientUnderTest.js"
import type { Over } from "./Row.js"
import * as ServerUnderTest from "./ServerUnderTest.js"
import * as Table from "./Table.js"

/** Each row with the transports that a run takes: the first, which shows what the row means, and a third of the others. */
const taken = <R extends { readonly over?: ReadonlyArray<Over> }>(rows: ReadonlyArray<R>) =>
  rows.flatMap((row, place) =>
    (row.over ?? (["memory", "stdio", "http"] as const)).flatMap((over, column) =>
      column === 0 || isTaken(place + column) ? [[row, over] as const] : []
    )
  )

describe("The table of deviations", () => {
  it("has at least 200 rows, each with an id of its own, and both roles", () => {
    expect(Table.clients.length).toBeGreaterThan(80)
    expect(Table.servers.length).toBeGreaterThan(80)
    const ids = [...Table.clients, ...Table.servers].map(({ id }) => id)
    expect(ids.length).toBeGreaterThanOrEqual(200)
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
  })
})

describe("A server, when a client", () => {
  layer(ServerUnderTest.layer, { excludeTestServices: true })((it) => {
    for (const [row, over] of taken(Table.clients)) {
      it.scoped(`${row.deviation} (${row.id}, over ${over})`, () =>
        Effect.flatMap(
          Effect.context<Layer.Layer.Success<typeof ServerUnderTest.layer>>(),
          (context) => Effect.scoped(Effect.provide(ServerUnderTest.run(row, over), context))
        ))
    }
  })
})

describe("A client, when a server", () => {
  for (const [row, over] of taken(Table.servers)) {
    it.scopedLive(`${row.deviation} (${row.id}, over ${over})`, () => ClientUnderTest.run(row, over))
  }
})
