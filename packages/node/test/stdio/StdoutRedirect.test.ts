import { assert, describe, it } from "@effect/vitest"
import { Writable } from "node:stream"
import { promisify } from "node:util"
import * as StdoutRedirect from "../../src/stdio/StdoutRedirect.js"

describe("StdoutRedirect", () => {
  it("replaces a method, and restores the object", () => {
    class Bell {
      ring(times: number) {
        return times
      }
    }
    const bell = new Bell()
    const restore = StdoutRedirect.replaceMethod(bell, "ring", (original) => (times) => original(times) + 1)
    assert.strictEqual(bell.ring(1), 2)
    restore()
    assert.strictEqual(bell.ring(1), 1)
    assert.deepStrictEqual(Object.keys(bell), [])
  })

  it("calls the original when code has stored or wrapped the replacement", () => {
    const bell = { ring: (times: number) => times }
    const restore = StdoutRedirect.replaceMethod(bell, "ring", (original) => (times) => original(times) + 1)
    const kept = bell.ring
    bell.ring = (times) => kept(times) * 10
    restore()
    assert.strictEqual(kept(1), 1)
    assert.strictEqual(bell.ring(1), 10)
  })

  it("can be restored in any order", () => {
    const bell = { ring: (times: number) => times }
    const first = StdoutRedirect.replaceMethod(bell, "ring", (original) => (times) => original(times) + 1)
    const second = StdoutRedirect.replaceMethod(bell, "ring", (original) => (times) => original(times) * 10)
    assert.strictEqual(bell.ring(1), 20)
    first()
    assert.strictEqual(bell.ring(1), 10)
    second()
    assert.strictEqual(bell.ring(1), 1)
  })

  it("keeps the properties that a function carries", () => {
    const target = {
      read: Object.assign(() => "read", { [promisify.custom]: () => Promise.resolve("promised") })
    }
    const restore = StdoutRedirect.replaceMethod(target, "read", (original) => original)
    assert.strictEqual((target.read as any)[promisify.custom].length, 0)
    restore()
  })

  it("gives children no standard input", () => {
    const inherited = (stdio: unknown) => StdoutRedirect.stdioOfChild(stdio, "input")
    assert.deepStrictEqual(inherited("inherit"), ["ignore", "inherit", "inherit"])
    assert.deepStrictEqual(inherited(["inherit", "pipe", "inherit"]), ["ignore", "pipe", "inherit"])
    assert.deepStrictEqual(inherited([0, 1, 2]), ["ignore", 1, 2])
    assert.deepStrictEqual(inherited([process.stdin, "pipe"]), ["ignore", "pipe"])
    assert.strictEqual(inherited("pipe"), "pipe")
    assert.isUndefined(inherited(undefined))
  })

  it("gives children stderr for their output", () => {
    const inherited = (stdio: unknown) => StdoutRedirect.stdioOfChild(stdio, "output")
    assert.deepStrictEqual(inherited("inherit"), ["inherit", 2, "inherit"])
    assert.deepStrictEqual(inherited(["pipe", "inherit", 1]), ["pipe", 2, 2])
    assert.deepStrictEqual(inherited(["pipe", process.stdout, "pipe", 1]), ["pipe", 2, "pipe", 2])
    assert.deepStrictEqual(inherited(["inherit", "inherit", "inherit", "ipc"]), ["inherit", 2, "inherit", "ipc"])
    assert.strictEqual(inherited("ignore"), "ignore")
  })

  it("writes to a broken stream without an error event", async () => {
    const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error("gone")) })
    const errors: Array<string | undefined> = []
    for (const text of ["a", "b"]) {
      await new Promise<void>((resolve) => {
        StdoutRedirect.writeQuietly(stream, text, (error) => {
          errors.push(error?.message)
          resolve()
        })
      })
    }
    await new Promise(setImmediate)
    assert.strictEqual(errors.length, 2)
    assert.strictEqual(errors[0], "gone")
    assert.strictEqual(stream.listenerCount("error"), 0)
  })
})
