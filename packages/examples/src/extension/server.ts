/**
 * The server of the example: a tool that answers with a job of the extension, and the requests and notifications of
 * jobs. Jobs are kept in memory.
 */
import { Tool } from "@effect-mcp/definition"
import { Extension, McpError } from "@effect-mcp/protocol"
import { Handler, McpServer, RequestContext } from "@effect-mcp/server"
import { Effect, HashMap, Layer, Option, Ref, Schema } from "effect"
import { Jobs } from "./contract.js"

const Live = Layer.unwrapEffect(Effect.map(Ref.make(HashMap.empty<string, string>()), (texts) => {
  const render = McpServer.tool(
    Tool.make("render", { parameters: { jobId: Schema.String } }),
    ({ jobId }) =>
      Effect.gen(function*() {
        const { extension } = yield* RequestContext.RequestContext
        // None when the client has not declared the extension.
        if (Option.isNone(yield* extension(Jobs))) return `${jobId}, rendered at once`
        return yield* Handler.answer(Jobs.results.job, { jobId })
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

  const get = Handler.request(Jobs.requests.get, ({ jobId }) =>
    jobId === ""
      ? new McpError.InvalidParams({ message: "Invalid params: a job has an id" })
      : Effect.map(Ref.get(texts), (all) => ({ jobId, text: Option.getOrUndefined(HashMap.get(all, jobId)) })))

  return Layer.mergeAll(render, finish, get)
}))

export const Server = McpServer.layer({ name: "renderer", version: "1.0.0" }, Live, {
  extensions: [Extension.declare(Jobs, { server: { maxJobs: 10 } })]
})
