import { assert, describe, it } from "@effect/vitest"
import type { SlowReaders } from "../../../src/server/http/HttpExchange.js"
import * as Stage from "../../../src/server/http/Stage.js"
import { proper, TestExchange } from "./TestExchange.js"

const first: Stage.Stage<"first", {}, number> = { name: "first", run: () => 1 }

const second: Stage.Stage<"second", { readonly first: number }, string> = {
  name: "second",
  run: (_, { first }) => `${first + 1}`
}

const nothing: Stage.Stage<"nothing", {}, void> = { name: "nothing", run: () => undefined }

const slowReaders: SlowReaders = { sendLong: () => {}, watch: () => () => {}, tick: () => () => {} }

describe("The order of stages", () => {
  it("compiles where each stage reads what stages before it find", () => {
    assert.lengthOf(Stage.inOrder(first, second), 2)
    assert.lengthOf(Stage.inOrder(nothing, first, nothing, second), 4)
  })

  it("does not compile where a stage reads what a later stage finds, or no stage", () => {
    // @ts-expect-error The stage "second" reads a value that no earlier stage finds
    Stage.inOrder(second, first)
    // @ts-expect-error The stage "second" reads a value that no earlier stage finds
    Stage.inOrder(nothing, second)
  })

  it("does not compile where a stage reads something of another type", () => {
    const other: Stage.Stage<"first", {}, string> = { name: "first", run: () => "1" }
    // @ts-expect-error "first" is a text here
    Stage.inOrder(other, second)
  })

  it("does not compile where a stage reads what a stage finds that finds nothing", () => {
    const reads: Stage.Stage<"reads", { readonly nothing: string }, void> = { name: "reads", run: () => undefined }
    // @ts-expect-error "nothing" finds nothing
    Stage.inOrder(nothing, reads)
  })

  it("leaves out what is undefined", () => {
    const maybe = undefined as Stage.Stage<"maybe", {}, void> | undefined
    assert.deepStrictEqual(Stage.inOrder(maybe, first).map(({ name }) => name), ["first"])
  })
})

describe("A passage", () => {
  /** A list that logs what its last stage reads, and what goes on with a request that the list holds. */
  const held = () => {
    const log: Array<string> = []
    let goOn = () => {}
    const holds: Stage.Stage<"holds", {}, number> = {
      name: "holds",
      run: (request) => {
        goOn = () => request.pass(7)
        return Stage.HELD
      }
    }
    const last: Stage.Stage<"last", { readonly second: string; readonly holds: number }, void> = {
      name: "last",
      run: (request, { holds, second }) => {
        log.push(`${second} ${holds}`)
        request.reply(200, { "content-type": "text/plain" }, "done")
        return Stage.HELD
      }
    }
    return { list: Stage.inOrder(first, holds, second, last), log, goOn: () => goOn() }
  }

  const passage = (list: ReadonlyArray<Stage.Any>, isClosing: () => boolean = () => false) => {
    const exchange = new TestExchange("POST", "/mcp", proper)
    const refuses: Stage.Surroundings["refuses"] = (request) => {
      if (isClosing()) request.reply(503, {}, "")
      return isClosing()
    }
    const passage = new Stage.Passage(exchange, list, { slowReaders, refuses }, { connection: "close" })
    return { exchange, passage }
  }

  it("goes on after the stage that has held the request, with what that stage finds", () => {
    const { goOn, list, log } = held()
    const { exchange, passage: one } = passage(list)
    one.run()
    assert.deepStrictEqual([log, exchange.answers], [[], 0])
    goOn()
    assert.deepStrictEqual([log, exchange.answers], [["2 7"], 1])
  })

  it("refuses a request that was held while the endpoint has begun to close", () => {
    let isClosing = false
    const { goOn, list, log } = held()
    const { exchange, passage: one } = passage(list, () => isClosing)
    one.run()
    isClosing = true
    goOn()
    assert.deepStrictEqual([log, exchange.status, exchange.answers], [[], 503, 1])
  })

  it("adds headers to every answer, the later ones over the earlier", () => {
    const adds: Stage.Stage<"adds", {}, void> = {
      name: "adds",
      run: (request) => {
        request.add({ vary: "Origin" })
        request.add({ vary: "*" })
        request.reply(200, { vary: "none", "x-own": "1" }, "")
        return Stage.HELD
      }
    }
    const { exchange, passage: one } = passage(Stage.inOrder(adds))
    one.run()
    assert.deepStrictEqual(exchange.sent, { vary: "*", "x-own": "1", connection: "close" })
  })

  it("has the sender once a stage has admitted it", () => {
    const { passage: one } = passage([])
    assert.isUndefined(one.principal)
    const admitted = one.admit({ principal: { id: "ann" }, user: undefined, watchUser: undefined })
    assert.deepStrictEqual([admitted.principal?.id, admitted.headers], ["ann", proper])
  })
})
