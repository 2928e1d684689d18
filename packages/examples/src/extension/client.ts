/**
 * The client of the example, and its program: it reads a job, and calls the same tool as a caller that knows nothing of
 * jobs. It reaches the server in its own process.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Client, Features } from "@effect-mcp/client"
import { InProcess } from "@effect-mcp/server"
import { Effect, Either, Option, Stream } from "effect"
import { Jobs } from "./contract.js"
import { Server } from "./server.js"

// What a caller gets that calls the tool and knows nothing of jobs.
const waiting = Features.result(
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

const main = Effect.gen(function*() {
  const client = yield* Client.make(InProcess.fromLayer(Server), {
    versions: ["2026-07-28"],
    extensions: [Jobs],
    features: waiting
  })
  const settings = yield* client.extension(Jobs)
  yield* Effect.log(Option.map(settings, ({ server }) => `the server runs ${server.maxJobs} jobs`))

  // The job itself, for a caller that knows the extension.
  const called = yield* client.callEither(Jobs.results.job, { name: "render", arguments: { jobId: "a" } })
  if (Either.isLeft(called)) yield* Effect.log(yield* client.request(Jobs.requests.get, { jobId: called.left.jobId }))

  yield* client.callTool("finish", { jobId: "a" })
  const { content } = yield* client.callTool("render", { jobId: "a" })
  yield* Effect.log(content)
}).pipe(Effect.scoped)

NodeRuntime.runMain(main)
