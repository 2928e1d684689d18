import { assert, describe, it } from "@effect/vitest"
import { appendFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Entry } from "../src/nemesis/History.js"
import * as Journal from "../src/nemesis/Journal.js"

describe("the journal of a node", () => {
  it("has all that was written down, without the line that a killed process was writing", () => {
    const folder = mkdtempSync(join(tmpdir(), "journal-"))
    const path = join(folder, "journal")
    const entry: Entry = { _tag: "Started", at: 1, node: "one", call: "a" }
    const write = Journal.open(path)
    assert.deepStrictEqual(Journal.read(path), [])
    write(entry)
    write({ ...entry, call: "b" })
    appendFileSync(path, JSON.stringify(entry).slice(0, 20))
    assert.deepStrictEqual(Journal.read(path), [entry, { ...entry, call: "b" }])
    rmSync(folder, { recursive: true })
  })
})
