/**
 * An extension from end to end: a client and a server that were given it, over every transport and in both eras.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@effect-mcp/core/Client"
import { NotNegotiated } from "@effect-mcp/core/ClientError"
import type * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import type { Version } from "@effect-mcp/core/protocol/Version"
import { Chunk, Deferred, Effect, Either, Fiber, Layer, Option, Stream } from "effect"
import { info, until } from "./HttpFixture.js"
import { allowing, clientJobs, Jobs, served, serverJobs, waiting } from "./Jobs.js"
import { ways } from "./Reached.js"

const text = ({ content: [block] }: { readonly content: ReadonlyArray<{ readonly type: string }> }) =>
  (block as { readonly text?: string }).text

for (const [transport, open] of Object.entries(ways([Jobs]))) {
  /** A client and a server. By default both were given the extension. */
  const connect = (
    version: Version,
    options: {
      readonly client?: Client.Options["extensions"]
      readonly server?: McpServer.Options["extensions"]
      readonly viewed?: Array<string>
      readonly features?: Layer.Layer<never, never, ClientFeatures.ClientFeatures>
    } = {}
  ) =>
    Effect.gen(function*() {
      const http = yield* Layer.build(NodeHttpClient.layerUndici)
      const connector = yield* open(
        McpServer.layer(info, served(options.viewed), { extensions: options.server ?? [serverJobs] })
      )
      const client = Client.make(connector, {
        versions: [version],
        extensions: options.client ?? [clientJobs],
        features: options.features ?? Layer.merge(waiting, allowing)
      })
      return yield* Effect.provide(client, http)
    })

  describe(`An extension over ${transport}, at 2026-07-28`, () => {
    const modern = (options?: Parameters<typeof connect>[1]) => connect("2026-07-28", options)

    it.scopedLive("shows both sides the settings of each other", () =>
      Effect.gen(function*() {
        const client = yield* modern()
        assert.deepStrictEqual(
          yield* client.extension(Jobs),
          Option.some({ client: { language: "nn" }, server: { maxJobs: 2 } })
        )
        for (const jobId of ["a", "b"]) {
          yield* client.callEither(Jobs.results.job, { name: "render", arguments: { jobId } })
        }
        assert.strictEqual(text(yield* client.callTool("render", { jobId: "c" })), "too many jobs, in nn")
      }))

    it.scopedLive("gives a result of its own to a caller that wants it, decoded, and its requests and notifications are served", () =>
      Effect.gen(function*() {
        const viewed: Array<string> = []
        const client = yield* modern({ viewed })
        const called = yield* client.callEither(Jobs.results.job, { name: "render", arguments: { jobId: "a" } })
        assert.deepStrictEqual(called, Either.left({ jobId: "a", started: new Date(0) }))
        assert.deepStrictEqual(yield* client.request(Jobs.requests.get, { jobId: "a" }), {
          jobId: "a",
          started: new Date(0)
        })
        const finished = yield* client.callEither(Jobs.results.job, { name: "finish", arguments: { jobId: "a" } })
        assert.strictEqual(text(Either.getOrThrow(finished)), "finished")
        yield* client.notify(Jobs.notifications.viewed, { jobId: "a" })
        yield* until(() => viewed.includes("a"))
        const error = yield* Effect.flip(client.request(Jobs.requests.get, { jobId: "ørret" }))
        assert.instanceOf(error, McpError.InvalidParams)
      }))

    it.scopedLive("gives a caller that knows nothing of it the result that its feature makes", () =>
      Effect.gen(function*() {
        const client = yield* modern()
        const calling = yield* Effect.fork(client.callTool("render", { jobId: "a" }))
        yield* Effect.retry(client.request(Jobs.requests.get, { jobId: "a" }), { times: 1000 })
        yield* client.callTool("finish", { jobId: "a" })
        assert.strictEqual(text(yield* Fiber.join(calling)), "a is rendered")
      }))

    it.scopedLive("fails the call of such a caller when no feature reads its results", () =>
      Effect.gen(function*() {
        const client = yield* modern({ features: allowing })
        const error = yield* Effect.flip(client.callTool("render", { jobId: "a" }))
        assert.include(error.message, `a result of the type "job", which this client cannot read`)
      }))

    it.scopedLive("notifies those that have subscribed, of the keys that the server has accepted", () =>
      Effect.gen(function*() {
        const client = yield* modern()
        for (const jobId of ["a", "b"]) {
          yield* client.callEither(Jobs.results.job, { name: "render", arguments: { jobId } })
        }
        const opened = yield* Effect.makeLatch()
        const collect = (keys: ReadonlyArray<string>, count: number) =>
          Effect.gen(function*() {
            const isOpen = yield* Deferred.make<void>()
            const current = Effect.as(Deferred.succeed(isOpen, undefined), [{
              jobId: keys.join(),
              started: new Date(0)
            }])
            const collecting = yield* client.listen(Jobs.notifications.changed, keys, { current }).pipe(
              Stream.map(({ jobId, text }) => text ?? `open: ${jobId}`),
              Stream.take(count),
              Stream.runCollect,
              Effect.map(Chunk.toReadonlyArray),
              Effect.fork
            )
            yield* Deferred.await(isOpen)
            return collecting
          })
        const idle = yield* Effect.fork(
          Stream.runHead(client.listen(Jobs.notifications.idle, { current: Effect.as(opened.open, []) }))
        )
        yield* opened.await
        const both = yield* collect(["a", "b"], 3)
        const one = yield* collect(["b"], 2)
        assert.deepStrictEqual(yield* Fiber.join(yield* collect(["a"], 1)), ["open: a"])
        for (const jobId of ["a", "b"]) yield* client.callTool("finish", { jobId })
        assert.deepStrictEqual(yield* Fiber.join(both), ["open: a,b", "a is rendered", "b is rendered"])
        assert.deepStrictEqual(yield* Fiber.join(one), ["open: b", "b is rendered"])
        assert.deepStrictEqual(yield* Fiber.join(idle), Option.some({ since: new Date(0) }))
        const error = yield* Effect.flip(Stream.runDrain(client.listen(Jobs.notifications.changed, ["a", "foreign"])))
        assert.include(error.message, `did not acknowledge the subscription to "jobIds"`)
      }))
  })

  describe(`An extension over ${transport}, up to 2025-11-25`, () => {
    it.scopedLive("has its requests and notifications in both directions, and no results and subscriptions", () =>
      Effect.gen(function*() {
        for (const version of ["2024-11-05", "2025-11-25"] as const) {
          const viewed: Array<string> = []
          const client = yield* connect(version, { viewed })
          const settings = { client: { language: "nn" }, server: { maxJobs: 2 } }
          assert.deepStrictEqual(yield* client.extension(Jobs), Option.some(settings))
          assert.strictEqual(text(yield* client.callTool("finish", { jobId: "a" })), "finished")
          assert.strictEqual((yield* client.request(Jobs.requests.get, { jobId: "a" })).text, "a is rendered")
          assert.strictEqual(text(yield* client.callTool("begin")), "begun")
          yield* client.notify(Jobs.notifications.viewed, { jobId: "a" })
          yield* until(() => viewed.length > 0)
          const either = yield* client.callEither(Jobs.results.job, { name: "finish", arguments: { jobId: "a" } })
          assert.isTrue(Either.isRight(either))
          assert.instanceOf(yield* Effect.flip(Stream.runDrain(client.listen(Jobs.notifications.idle))), NotNegotiated)
        }
      }))
  })
}
