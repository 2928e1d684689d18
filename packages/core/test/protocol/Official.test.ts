/**
 * Both tables against the official schemas, method by method, and every message of the vocabulary against the schema of
 * its revision.
 */
import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import * as MessageParts from "./MessageParts.js"

/** How many messages of each kind: more in `npm run test:long`. */
const RUNS = process.env.EFFECT_MCP_TEST_LONG === undefined ? 20 : 60

describe(`generated messages, judged by the official schemas (seed ${MessageParts.seed})`, () => {
  let judged = 0
  let needed = 0
  for (const messagePart of MessageParts.all) {
    it(`${messagePart.title}: is accepted, decodes to itself, and is accepted by older revisions`, () => {
      for (const value of MessageParts.samples(messagePart.schema, RUNS)) {
        expect(Either.getOrThrow(messagePart.decode(value))).toEqual(value)
        for (const version of [messagePart.version, ...messagePart.older]) {
          if (MessageParts.cannotBeSent(messagePart, value, version)) continue
          if (messagePart.judge(value, version, { closed: true }) !== undefined) needed++
          const narrowed = MessageParts.throughJson(messagePart.narrow(value, version))
          const wrong = messagePart.judge(narrowed, version, { closed: true })
          if (wrong !== undefined) expect.fail(`${wrong}\n${JSON.stringify(value)}\n${JSON.stringify(narrowed)}`)
          expect(Either.getOrThrow(messagePart.decode(narrowed))).toEqual(narrowed)
          judged++
        }
      }
    })
  }
  it("counts what was judged", () => {
    console.log(
      `${MessageParts.all.length} kinds of message, ${judged} messages judged; ${needed} would be refused without projection`
    )
    expect(judged).toBeGreaterThan(300 * RUNS)
    expect(needed).toBeGreaterThan(80 * RUNS)
  })
})
