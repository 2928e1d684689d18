import { describe, it, layer } from "@effect/vitest"
import type { Layer } from "effect"
import { Effect } from "effect"
import { expect } from "vitest"
import * as ClientUnderTest from "./ClientUnderTest.js"
import type { Over } from "./Row.js"
import * as ServerUnderTest from "./ServerUnderTest.js"
import * as Table from "./Table.js"

const overs = ({ over = ["memory", "stdio", "http"] }: { readonly over?: ReadonlyArray<Over> }) => over

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
    for (const row of Table.clients) {
      for (const over of overs(row)) {
        it.scoped(`${row.deviation} (${row.id}, over ${over})`, () =>
          Effect.flatMap(
            Effect.context<Layer.Layer.Success<typeof ServerUnderTest.layer>>(),
            (context) => Effect.scoped(Effect.provide(ServerUnderTest.run(row, over), context))
          ))
      }
    }
  })
})

describe("A client, when a server", () => {
  for (const row of Table.servers) {
    for (const over of overs(row)) {
      it.scopedLive(`${row.deviation} (${row.id}, over ${over})`, () => ClientUnderTest.run(row, over))
    }
  }
})
