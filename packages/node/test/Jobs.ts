/**
 * An extension for work that takes long: a tool answers at once with a job, which the client reads later. It has one of
 * everything that an extension can add.
 */
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Extension from "@effect-mcp/core/protocol/Extension"
import { InvalidParams } from "@effect-mcp/core/protocol/McpError"
import type { Registry } from "@effect-mcp/core/Registry"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, Layer, Option, Ref, Schema, Stream } from "effect"

const Job = Schema.Struct({
  jobId: Schema.String,
  /** The text of a job that has ended. */
  text: Schema.optional(Schema.String),
  started: Schema.Date
})

type Job = typeof Job.Type

export const Jobs = Extension.make("com.example/jobs", {
  settings: {
    client: Schema.Struct({ language: Schema.String }),
    server: Schema.Struct({ maxJobs: Schema.Int })
  },
  requests: {
    get: Extension.request("jobs/get", {
      params: Schema.Struct({ jobId: Schema.String }),
      result: Job,
      nameParameter: "jobId"
    }),
    mayStart: Extension.request("jobs/mayStart", {
      from: "server",
      params: Schema.Struct({ tool: Schema.String }),
      result: Schema.Struct({ yes: Schema.Boolean })
    })
  },
  notifications: {
    changed: Extension.notification("notifications/jobs/changed", {
      params: Job,
      filter: "jobIds",
      key: ({ jobId }) => jobId
    }),
    idle: Extension.notification("notifications/jobs/idle", {
      params: Schema.Struct({ since: Schema.Date }),
      filter: "jobsIdle"
    }),
    viewed: Extension.notification("notifications/jobs/viewed", {
      from: "client",
      params: Schema.Struct({ jobId: Schema.String })
    })
  },
  results: {
    job: Extension.resultType("job", { method: "tools/call", value: Job })
  }
})

const { notifications, requests, results } = Jobs

export const serverJobs = Extension.declare(Jobs, { server: { maxJobs: 2 } })
export const clientJobs = Extension.declare(Jobs, { client: { language: "nn" } })

const started = new Date(0)
const unknown = new InvalidParams({ message: "Invalid params: no such job" })

/** The tools `render` and `finish`, and the jobs. `viewed` gets the ids that clients have viewed. */
export const served = (viewed: Array<string> = []): Layer.Layer<never, never, Registry> =>
  Layer.unwrapEffect(Effect.map(Ref.make<ReadonlyMap<string, Job>>(new Map()), (jobs) => {
    const put = (job: Job) => Ref.update(jobs, (all) => new Map(all).set(job.jobId, job))
    const render = McpServer.tool(
      Tool.make("render", { parameters: { jobId: Schema.String } }),
      ({ jobId }) =>
        Effect.gen(function*() {
          const { client: { extension } } = yield* RequestContext
          const settings = yield* extension(Jobs)
          if (Option.isNone(settings)) return "rendered at once"
          const { client, server } = settings.value
          if ((yield* Ref.get(jobs)).size === server.maxJobs) return `too many jobs, in ${client.language}`
          const job: Job = { jobId, started }
          yield* put(job)
          return yield* MethodHandler.answer(results.job, job)
        })
    )
    const finish = McpServer.tool(
      Tool.make("finish", { parameters: { jobId: Schema.String } }),
      ({ jobId }) =>
        Effect.gen(function*() {
          const job: Job = { jobId, started, text: `${jobId} is rendered` }
          yield* put(job)
          yield* McpServer.notifySubscribers(notifications.changed, job)
          yield* McpServer.notifySubscribers(notifications.idle, { since: started })
          return "finished"
        })
    )
    const begin = McpServer.tool(
      Tool.make("begin"),
      () =>
        Effect.flatMap(
          ServerSession,
          ({ request }) =>
            Effect.map(request(requests.mayStart, { tool: "begin" }), ({ yes }) => yes ? "begun" : "not begun")
        )
    )
    return Layer.mergeAll(
      render,
      finish,
      begin,
      MethodHandler.request(
        requests.get,
        ({ jobId }) =>
          Effect.flatMap(Ref.get(jobs), (all) => Effect.mapError(Option.fromNullable(all.get(jobId)), () => unknown))
      ),
      MethodHandler.subscription(
        notifications.changed,
        (ids) => Effect.map(Ref.get(jobs), (all) => ids.filter((id) => all.has(id)))
      ),
      MethodHandler.notification(notifications.viewed, ({ jobId }) => Effect.sync(() => viewed.push(jobId)))
    ) as Layer.Layer<never, never, Registry>
  }))

/** Waits until a job has ended, for callers that expect the result of a tool. */
export const waiting = ClientFeatures.result(
  results.job,
  ({ jobId }, { listen, request }) =>
    listen(notifications.changed, [jobId], { current: Effect.map(request(requests.get, { jobId }), (job) => [job]) })
      .pipe(
        Stream.filter(({ text }) => text !== undefined),
        Stream.runHead,
        Effect.map((job) => ({ content: [{ type: "text" as const, text: Option.getOrThrow(job).text! }] }))
      )
)

export const allowing = ClientFeatures.request(
  requests.mayStart,
  ({ tool }) => Effect.succeed({ yes: tool === "begin" })
)
