import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import * as EventId from "../../../src/server/legacy/EventId.js"

const session = "181ba960-2981-46fd-93c8-e870d3b3d831"

describe("EventId", () => {
  it("is decoded to stream and position in its session", () => {
    fc.assert(fc.property(
      fc.uuid(),
      fc.stringMatching(/^[0-9a-z]{1,16}$/),
      fc.nat(),
      (session, stream, position) => {
        const id = EventId.encode(session, stream, position)
        assert.match(id, /^[\x21-\x7e]+$/)
        assert.deepStrictEqual(EventId.decode(session, id), { stream, position })
      }
    ))
  })

  it("is undefined in another session", () => {
    const id = EventId.encode(session, "g", 7)
    assert.isUndefined(EventId.decode("0c6d4c2e-31b3-4f5e-9f3c-0d3c2a5d1e11", id))
  })

  it("begins at the same positions on nodes of every release, and no stream reaches those of the next node", () => {
    assert.deepStrictEqual([undefined, 1, 2, 3].map((epoch) => EventId.before(epoch)), [0, 0, 1e10, 2e10])
  })

  it("does not reveal the id of the session", () => {
    const id = EventId.encode(session, "g", 7)
    for (const part of session.split("-")) assert.notInclude(id, part)
    assert.isAtMost(EventId.prefixOf(session).length, 7)
  })

  it("decodes nothing else", () => {
    const prefix = EventId.prefixOf(session)
    for (
      const id of [
        "",
        "g",
        "7",
        prefix,
        `${prefix}_g`,
        `${prefix}_g_`,
        `${prefix}_g_-1`,
        `${prefix}_g_1.5`,
        `${prefix}_g_1e3`,
        `${prefix}_G_1`,
        `${prefix}__1`,
        `${prefix}_g_1_2`,
        ` ${prefix}_g_1`,
        `${prefix}_g_1\n`,
        `${prefix}_g_${"9".repeat(16)}`,
        `${prefix}_${"x".repeat(17)}_1`
      ]
    ) {
      assert.isUndefined(EventId.decode(session, id), id)
    }
  })
})
