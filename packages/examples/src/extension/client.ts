/**
 * The client of the example, and its program: it calls the tool as a caller that knows the extension, and as one that does
 * not, in both eras. It reaches the server in its own process.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as Extension from "@effect-mcp/core/protocol/Extension"
import { Console, Effect, Either, Layer, Option, Stream } from "effect"
import { Jobs } from "./contract.js"
import { Server } from "./server.js"

// What a caller gets that calls the tool and knows nothing of jobs.
const waiting = ClientFeatures.result(
  Jobs.results.job,
  ({ jobId }, { listen, request }) =>
    listen(Jobs.notifications.changed, [jobId], {
      current: Effect.map(request(Jobs.requests.get, { jobId }), (job) => [job])
    }).pipe(
      Stream.filterMap(({ text }) => Option.fromNullable(text)),
      Stream.runHead,
      Effect.map((text) => ({ content: [{ type: "text", text: Option.getOrElse(text, () => "") }] }))
    )
)

// The server asks, up to 2025-11-25.
const approving = ClientFeatures.request(
  Jobs.requests.approve,
  ({ jobId }) => Effect.succeed({ approved: jobId !== "b" })
)

const main = (version: "2025-11-25" | "2026-07-28") =>
  Effect.gen(function*() {
    const client = yield* Client.make(InProcess.fromLayer(Server), {
      versions: [version],
      extensions: [Extension.declare(Jobs, { client: { language: "Norwegian" } })],
      features: Layer.merge(waiting, approving)
    })
    const settings = yield* client.extension(Jobs)
    const maxJobs = Option.map(settings, ({ server }) => server.maxJobs)
    yield* Console.log(`${version}: the server runs ${Option.getOrElse(maxJobs, () => 0)} jobs`)

    // The job itself, for a caller that knows the extension. Before 2026-07-28, the result of the tool.
    for (const jobId of ["a", "b"]) {
      const called = yield* client.callEither(Jobs.results.job, { name: "render", arguments: { jobId } })
      yield* Console.log("  rendering:", JSON.stringify(Either.merge(Either.map(called, ({ content }) => content))))
    }
    yield* client.callTool("finish", { jobId: "a" })
    yield* Console.log("  the job:", JSON.stringify(yield* client.request(Jobs.requests.get, { jobId: "a" })))

    // A caller that knows nothing of jobs.
    const { content } = yield* client.callTool("render", { jobId: "a" })
    yield* Console.log("  the tool:", JSON.stringify(content))
    yield* client.notify(Jobs.notifications.seen, { jobId: "a" })

    const refused = yield* Effect.flip(client.request(Jobs.requests.get, { jobId: "" }))
    yield* Console.log(`  refused: ${refused.message}`)
  }).pipe(Effect.scoped)

const withoutJobs = Effect.gen(function*() {
  const client = yield* Client.make(InProcess.fromLayer(Server))
  const { content } = yield* client.callTool("render", { jobId: "c" })
  yield* Console.log("a client without the extension:", JSON.stringify(content))
}).pipe(Effect.scoped)

NodeRuntime.runMain(Effect.forEach(["2025-11-25", "2026-07-28"] as const, main).pipe(Effect.zipRight(withoutJobs)))
