/**
 * Both tables against the official schemas, method by method, and every message of the vocabulary against the revision it
 * is said to.
 */
import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import * as Sayings from "./Sayings.js"

const RUNS = 60

describe(`what is said, judged by the official schemas (seed ${Sayings.seed})`, () => {
  let said = 0
  let needed = 0
  for (const saying of Sayings.all) {
    it(`${saying.title}: is accepted, decodes to what it was, and is accepted by older revisions`, () => {
      for (const value of Sayings.samples(saying.schema, RUNS)) {
        expect(Either.getOrThrow(saying.decode(value))).toEqual(value)
        for (const version of [saying.version, ...saying.older]) {
          if (Sayings.isUnsayable(saying, value, version)) continue
          if (saying.judge(value, version, { closed: true }) !== undefined) needed++
          const told = Sayings.overTheWire(saying.told(value, version))
          const wrong = saying.judge(told, version, { closed: true })
          if (wrong !== undefined) expect.fail(`${wrong}\n${JSON.stringify(value)}\n${JSON.stringify(told)}`)
          expect(Either.getOrThrow(saying.decode(told))).toEqual(told)
          said++
        }
      }
    })
  }
  it("says how much was judged", () => {
    console.log(
      `${Sayings.all.length} kinds of message, ${said} messages judged; ${needed} would be refused without projection`
    )
    expect(said).toBeGreaterThan(20_000)
    expect(needed).toBeGreaterThan(5000)
  })
})
