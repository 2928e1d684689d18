/**
 * Broken messages, each judged by us and by the official schemas: refused with the right code and a path that says where,
 * or taken where the specification bears it.
 */
import * as Json from "@effect-mcp/jsonrpc/unstable/Json"
import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import * as Canonical from "./Canonical.js"
import * as Judgement from "./Judgement.js"
import * as Mutants from "./Mutants.js"
import * as Sayings from "./Sayings.js"

const GENERATED = 100_000

const counts = () => ({ taken: 0, refused: 0 })

const canonical = (saying: Sayings.Saying): unknown => {
  const parts = (Sayings.modern.includes(saying) ? Canonical.modern : Canonical.legacy)[saying.method.name]!
  return parts[saying.part === "params" ? 0 : 1]
}

describe("mutants of messages written by hand", () => {
  const count = counts()
  for (const saying of Sayings.all) {
    it(saying.title, () => {
      const value = canonical(saying)
      expect(saying.decode(value)).toMatchObject({ _tag: "Right" })
      const told = Sayings.overTheWire(saying.told(value, saying.version))
      expect(saying.judge(told, saying.version, { closed: true })).toBeUndefined()
      for (const mutant of Mutants.all(told)) count[Judgement.of(saying, mutant)]++
    })
  }
  it("are more than two thousand", () => {
    console.log(`table: ${count.refused} refused, ${count.taken} taken of ${count.refused + count.taken}`)
    expect(count.refused).toBeGreaterThan(2000)
    expect(count.taken).toBeGreaterThan(2000)
  })
})

describe("mutants that the door refuses", () => {
  const inside = (value: unknown, at: string, text: string): string =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "any", params: { ...value as object, [at]: "HERE" } })
      .replace("\"HERE\"", text)

  it("MUST NOT nest ten thousand levels deep, nor name a member __proto__", () => {
    let refused = 0
    for (const saying of Sayings.all) {
      const value = canonical(saying)
      for (const at of [...Object.keys(value as object), "any"]) {
        const deep = Json.parse(inside(value, at, `${"[".repeat(10_000)}${"]".repeat(10_000)}`))
        const poisoned = Json.parse(inside(value, at, "{\"a\":[{\"__proto__\":{}}]}"))
        expect(deep).toMatchObject({ _tag: "Refused", reason: "depth" })
        expect(poisoned).toMatchObject({ _tag: "Refused", reason: "prototype" })
        refused += 2
      }
    }
    console.log(`door: ${refused} refused`)
  })
})

describe(`mutants of generated messages (seed ${Sayings.seed})`, () => {
  const count = counts()
  const runs = Math.ceil(GENERATED / Sayings.all.length)
  for (const saying of Sayings.all) {
    it(saying.title, () => {
      const values = Sayings.samples(saying.schema, 40)
        .filter((value) => !Sayings.isUnsayable(saying, value, saying.version))
        .map((value) => Sayings.overTheWire(saying.told(value, saying.version)))
        .map((value) => ({ value, paths: Mutants.paths(value) }))
      const choices = FastCheck.sample(
        FastCheck.tuple(FastCheck.nat(), FastCheck.nat(), FastCheck.constantFrom(...Mutants.kinds), FastCheck.nat()),
        { numRuns: runs, seed: Sayings.seed }
      )
      for (const [nth, place, kind, how] of choices) {
        const { paths, value } = values[nth % values.length]!
        // The root of a message can only have more.
        const mutant = Mutants.mutate(value, paths[place % paths.length]!, kind, how) ??
          Mutants.mutate(value, [], "extra", how)!
        count[Judgement.of(saying, mutant)]++
      }
    })
  }
  it("are a hundred thousand", () => {
    console.log(`generated: ${count.refused} refused, ${count.taken} taken of ${count.refused + count.taken}`)
    expect(count.refused + count.taken).toBeGreaterThanOrEqual(GENERATED)
  })
})
