import { assert, describe, it } from "@effect/vitest"
import { LongBodies } from "../../../src/server/http/LongBodies.js"

const MIB = 1024 * 1024

/** Long bodies, what was read and refused, and the next turn of an event loop that the test turns. */
const make = (max = 100 * MIB) => {
  const log: Array<string> = []
  const due: Array<() => void> = []
  const bodies = new LongBodies(max, (run) => due.push(run))
  return {
    log,
    due,
    add: (name: string, user: string | undefined, size = MIB) =>
      bodies.add(user, { size, read: () => log.push(name), refuse: () => log.push(`${name} refused`) }),
    turn: () => {
      for (const run of due.splice(0)) run()
    }
  }
}

describe("Long bodies of an endpoint", () => {
  it("are read one in each turn of the event loop, the first of them at once", () => {
    const { add, due, log, turn } = make()
    for (const name of ["a", "b", "c"]) add(name, "ada")
    assert.deepStrictEqual(log, ["a"])
    turn()
    assert.deepStrictEqual(log, ["a", "b"])
    turn()
    turn()
    assert.deepStrictEqual([log, due], [["a", "b", "c"], []])
    add("d", "ada")
    assert.strictEqual(log.at(-1), "d")
  })

  it("of different users take turns", () => {
    const { add, log, turn } = make()
    for (const name of ["a1", "a2", "a3", "a4"]) add(name, "ada")
    for (const name of ["b1", "b2"]) add(name, "bob")
    add("c1", undefined)
    for (let n = 0; n < 6; n++) turn()
    assert.deepStrictEqual(log, ["a1", "a2", "b1", "c1", "a3", "b2", "a4"])
  })

  it("are read several in a turn when they are not so long, and do not keep short bodies waiting", () => {
    const { add, log, turn } = make()
    for (let n = 0; n < 8; n++) add(`${n}`, "ada", 64 * 1024)
    assert.lengthOf(log, 4)
    add("short", "ada", 16 * 1024)
    assert.deepStrictEqual(log.at(-1), "short")
    turn()
    assert.lengthOf(log, 9)
  })

  it("wait up to a number of characters, half of them of one user", () => {
    const { add, log, turn } = make(8 * MIB)
    for (const name of ["a0", "a1", "a2", "a3", "a4", "a5"]) add(name, "ada")
    assert.deepStrictEqual(log, ["a0", "a5 refused"])
    for (const name of ["b1", "b2", "b3"]) add(name, "bob")
    add("c1", "cyd")
    add("c2", "cyd")
    assert.deepStrictEqual(log, ["a0", "a5 refused", "c2 refused"])
    for (let n = 0; n < 8; n++) turn()
    assert.sameMembers(log.slice(3), ["a1", "a2", "a3", "a4", "b1", "b2", "b3", "c1"])
    turn()
    add("again", "ada")
    assert.strictEqual(log.at(-1), "again")
  })

  it("are forgotten when their clients disconnect", () => {
    const { add, due, log, turn } = make(8 * MIB)
    assert.isUndefined(add("a0", "ada"))
    const forget = ["a1", "a2", "a3", "a4"].map((name) => add(name, "ada")!)
    for (const one of forget) one()
    forget[0]!()
    for (const name of ["a5", "a6", "a7", "a8", "a9"]) add(name, "ada")
    assert.deepStrictEqual(log, ["a0", "a9 refused"])
    turn()
    assert.strictEqual(log.at(-1), "a5")
    assert.lengthOf(due, 1)
  })
})
