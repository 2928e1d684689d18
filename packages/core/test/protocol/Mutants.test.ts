/**
 * Broken messages, each judged by this package and by the official schemas: refused with the right code and the path of
 * the broken member, or accepted where the specification allows it. Of the messages written by hand a run takes a third, always the
 * same; `npm run test:long` takes all, and more generated messages.
 */
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import * as JsonText from "../../src/jsonrpc/runtime/JsonText.js"
import * as Canonical from "./Canonical.js"
import * as MessageParts from "./MessageParts.js"
import * as Mutants from "./Mutants.js"
import * as Verdict from "./Verdict.js"

const isLong = process.env.EFFECT_MCP_TEST_LONG !== undefined

/** Set by the long run before a release; a push judges fewer. */
const GENERATED = isLong ? 100_000 : 5000

const counts = () => ({ accepted: 0, refused: 0 })

const canonical = (messagePart: MessageParts.MessagePart): unknown => {
  const parts =
    (MessageParts.modern.includes(messagePart) ? Canonical.modern : Canonical.legacy)[messagePart.method.name]!
  return parts[messagePart.part === "params" ? 0 : 1]
}

describe("mutants of messages written by hand", () => {
  const count = counts()
  const taken = MessageParts.all.filter((_, place) => isLong || place % 3 === 0)
  for (const messagePart of taken) {
    it(messagePart.title, () => {
      const value = canonical(messagePart)
      expect(Either.isRight(messagePart.decode(value))).toBe(true)
      const narrowed = MessageParts.throughJson(messagePart.narrow(value, messagePart.version))
      expect(messagePart.judge(narrowed, messagePart.version, { closed: true })).toBeUndefined()
      for (const mutant of Mutants.all(narrowed)) count[Verdict.of(messagePart, mutant)]++
    })
  }
  it("are more than two thousand", () => {
    console.log(`table: ${count.refused} refused, ${count.accepted} accepted of ${count.refused + count.accepted}`)
    expect(count.refused).toBeGreaterThan(2000)
    expect(count.accepted).toBeGreaterThan(2000)
  })
})

describe("messages that the JSON parser refuses", () => {
  const inside = (value: unknown, at: string, text: string): string =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "any", params: { ...value as object, [at]: "HERE" } })
      .replace("\"HERE\"", text)

  it("MUST NOT nest ten thousand levels deep, nor name a member __proto__", () => {
    let refused = 0
    for (const messagePart of MessageParts.all) {
      const value = canonical(messagePart)
      for (const at of [...Object.keys(value as object), "any"]) {
        const deep = JsonText.parse(inside(value, at, `${"[".repeat(10_000)}${"]".repeat(10_000)}`))
        const poisoned = JsonText.parse(inside(value, at, "{\"a\":[{\"__proto__\":{}}]}"))
        expect(deep).toMatchObject({ _tag: "Refused", reason: "depth" })
        expect(poisoned).toMatchObject({ _tag: "Refused", reason: "prototype" })
        refused += 2
      }
    }
    console.log(`parser: ${refused} refused`)
  })
})

describe(`mutants of generated messages (seed ${MessageParts.seed})`, () => {
  const count = counts()
  const runs = Math.ceil(GENERATED / MessageParts.all.length)
  for (const messagePart of MessageParts.all) {
    it(messagePart.title, () => {
      const values = MessageParts.samples(messagePart.schema, 40)
        .filter((value) => !MessageParts.cannotBeSent(messagePart, value, messagePart.version))
        .map((value) => MessageParts.throughJson(messagePart.narrow(value, messagePart.version)))
        .map((value) => ({ value, paths: Mutants.paths(value) }))
      const choices = FastCheck.sample(
        FastCheck.tuple(FastCheck.nat(), FastCheck.nat(), FastCheck.constantFrom(...Mutants.kinds), FastCheck.nat()),
        { numRuns: runs, seed: MessageParts.seed }
      )
      for (const [nth, place, kind, how] of choices) {
        const { paths, value } = values[nth % values.length]!
        // At the root of a message only a member can be added.
        const mutant = Mutants.mutate(value, paths[place % paths.length]!, kind, how) ??
          Mutants.mutate(value, [], "extra", how)!
        count[Verdict.of(messagePart, mutant)]++
      }
    })
  }
  it("all of them were judged", () => {
    console.log(`generated: ${count.refused} refused, ${count.accepted} accepted of ${count.refused + count.accepted}`)
    expect(count.refused + count.accepted).toBeGreaterThanOrEqual(GENERATED)
  })
})
