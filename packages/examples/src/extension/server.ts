/**
 * The server of the example: a tool that answers with a job of the extension, and the requests and notifications of jobs. In
 * revisions without results of extensions, the tool asks the client first, and renders while it waits.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import * as MethodHandler from "@effect-mcp/core/MethodHandler"
import * as Extension from "@effect-mcp/core/protocol/Extension"
import * as McpError from "@effect-mcp/core/protocol/McpError"
import * as ServerSession from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, HashMap, Layer, Option, Ref, Schema } from "effect"
import { Jobs } from "./contract.js"

const Live = Layer.unwrapEffect(Effect.map(Ref.make(HashMap.empty<string, string>()), (texts) => {
  const render = McpServer.tool(
    Tool.make("render", { parameters: { jobId: Schema.String } }),
    ({ jobId }) =>
      Effect.gen(function*() {
        const { client: { extension, supports }, request } = yield* ServerSession.ServerSession
        if (supports(Jobs.results.job)) return yield* MethodHandler.answer(Jobs.results.job, { jobId })
        // The client has not declared the extension.
        if (!supports(Jobs.requests.approve)) return `${jobId}, rendered at once`
        const { approved } = yield* request(Jobs.requests.approve, { jobId })
        const { client } = Option.getOrThrow(yield* extension(Jobs))
        return approved ? `${jobId}, rendered in ${client.language}` : `${jobId} was not approved`
      })
  )

  const finish = McpServer.tool(
    Tool.make("finish", { parameters: { jobId: Schema.String } }),
    ({ jobId }) =>
      Effect.gen(function*() {
        const text = `${jobId}, rendered slowly`
        yield* Ref.update(texts, HashMap.set(jobId, text))
        yield* McpServer.notifySubscribers(Jobs.notifications.changed, { jobId, text })
        return "finished"
      })
  )

  const get = MethodHandler.request(Jobs.requests.get, ({ jobId }) =>
    jobId === ""
      ? new McpError.InvalidParams({ message: "Invalid params: a job has an id" })
      : Effect.map(Ref.get(texts), (all) => ({ jobId, text: Option.getOrUndefined(HashMap.get(all, jobId)) })))

  const seen = MethodHandler.notification(
    Jobs.notifications.seen,
    ({ jobId }) => Ref.update(texts, HashMap.remove(jobId))
  )

  return Layer.mergeAll(render, finish, get, seen)
}))

export const Server = McpServer.layer({ name: "renderer", version: "1.0.0" }, Live, {
  extensions: [Extension.declare(Jobs, { server: { maxJobs: 10 } })]
})
