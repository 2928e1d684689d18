import { assert, describe, it } from "@effect/vitest"
import * as Message from "@effect-mcp/core/Message"
import { Chunk, Effect, Stream } from "effect"
import { PassThrough } from "node:stream"
import * as Pipe from "../../src/stdio/Pipe.js"

const text = JSON.stringify(Message.notification("grüße", { price: "5€" })) + "\n"

const bytesOf: Readonly<Record<string, Buffer>> = {
  "utf-8": Buffer.from(text),
  "utf-16le": Buffer.from(text, "utf16le"),
  "utf-16be": Buffer.from(text, "utf16le").swap16(),
  "windows-1252": Buffer.from(text.replace("€", "\u0080"), "latin1")
}

const read = (bytes: Buffer, options: Partial<Pipe.Options>) =>
  Effect.gen(function*() {
    const input = new PassThrough()
    const pipe = yield* Pipe.make({ input, output: new PassThrough(), ...options })
    // Every character is cut in two.
    for (const byte of bytes) input.write(Buffer.of(byte))
    input.end()
    return Chunk.toReadonlyArray(yield* Stream.runCollect(pipe.incoming))
  })

describe("a pipe in another encoding", () => {
  for (const [encoding, bytes] of Object.entries(bytesOf)) {
    it.scoped(`reads and writes ${encoding}`, () =>
      Effect.gen(function*() {
        const message = Message.notification("grüße", { price: "5€" })
        assert.deepStrictEqual(yield* read(bytes, { encoding }), [message])
        const output = new PassThrough()
        const pipe = yield* Pipe.make({ input: new PassThrough(), output, encoding })
        yield* pipe.send(message)
        const written = yield* Effect.async<Buffer>((resume) => {
          output.once("data", (chunk: Buffer) => resume(Effect.succeed(chunk)))
        })
        assert.deepStrictEqual(JSON.parse(new TextDecoder(encoding).decode(written)), message)
      }))
  }

  it.scoped("replaces bytes that the encoding does not have, leaves them out, or refuses their line", () =>
    Effect.gen(function*() {
      // 0xff stands for no character in EUC-JP.
      const bad = Buffer.from("{\"jsonrpc\":\"2.0\",\"method\":\"a\xff\"}\n", "latin1")
      const outcome = (invalidBytes: Pipe.Options["invalidBytes"]) =>
        Effect.map(
          read(bad, { encoding: "euc-jp", invalidBytes }),
          (all) =>
            all.map((one) =>
              Message.isMalformed(one as Message.Incoming) ? "refused" : (one as Message.Notification).method
            )
        )
      assert.deepStrictEqual(yield* outcome(undefined), ["a\ufffd"])
      assert.deepStrictEqual(yield* outcome("replace"), ["a\ufffd"])
      assert.deepStrictEqual(yield* outcome("ignore"), ["a"])
      assert.deepStrictEqual(yield* outcome("strict"), ["refused"])
    }))

  it.scoped("is refused when its label is unknown", () =>
    Effect.gen(function*() {
      const streams = { input: new PassThrough(), output: new PassThrough() }
      const { message, reason } = yield* Effect.flip(Pipe.make({ ...streams, encoding: "klingon" }))
      assert.deepStrictEqual([reason, message], [
        "Open",
        "Unknown encoding \"klingon\": use a label of the Encoding Standard"
      ])
    }))
})
