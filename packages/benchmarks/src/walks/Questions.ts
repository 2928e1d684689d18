/**
 * The walks of a server that asks its client, in both eras, and of a call that becomes a task. All walks use standard streams, so that they
 * show the work for the questions and the task, and no work for HTTP.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import * as ServerSession from "@effect-mcp/core/ServerSession"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect, Layer, Schema } from "effect"
import { check, envelope, initialize, initialized, serveLines, text, type Walk } from "./Wire.js"

const info = { name: "walk", version: "1.0.0" }

const Deploy = Tool.make("deploy", { parameters: { to: Schema.String } })

const Confirmation = Schema.Struct({ sure: Schema.Boolean })

const DeployLive = McpServer.tool(Deploy, ({ to }) =>
  Effect.gen(function*() {
    const session = yield* ServerSession.ServerSession
    const answer = yield* session.elicit({ message: `To ${to}?`, schema: Confirmation })
    return answer.action === "accept" && answer.content.sure ? `deployed to ${to}` : "nothing was deployed"
  }))

const Asking = McpServer.layer(info, DeployLive)

const deploy = (id: number, to: number, more: object = {}): string =>
  text({ id, method: "tools/call", params: { name: "deploy", arguments: { to: `node ${to}` }, ...more } })

const accepted = { action: "accept", content: { sure: true } }

export const legacy: Walk = async () => {
  const { ask, send } = await serveLines(Asking)
  await ask(initialize({ elicitation: {} }))
  send(initialized)
  return async (id) => {
    const question = JSON.parse(await ask(deploy(id, id)))
    check(await ask(text({ id: question.id, result: accepted })), `deployed to node ${id}`)
  }
}

export const modern: Walk = async () => {
  const { ask } = await serveLines(Asking)
  const _meta = envelope({ elicitation: {} })
  return async (id) => {
    const { result: { inputRequests, requestState } } = JSON.parse(await ask(deploy(id, id, { _meta })))
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, accepted]))
    check(await ask(deploy(id + 1_000_000, id, { _meta, requestState, inputResponses })), `deployed to node ${id}`)
  }
}

const Report = Tool.make("report", { task: "optional", parameters: { year: Schema.Int } })

const ReportLive = McpServer.tool(Report, ({ year }) => Effect.succeed(`The report of ${year}`))

const Working = McpServer.layer(info, Layer.merge(ReportLive, TasksServer.layer), {
  extensions: [TasksServer.extension]
}).pipe(Layer.provide(TaskStore.layerMemory))

export const task: Walk = async () => {
  const { ask } = await serveLines(Working)
  const _meta = envelope({ extensions: { [TasksServer.extension.id]: {} } })
  const get = async (taskId: string, id: number): Promise<string> => {
    const answer = await ask(text({ id, method: "tasks/get", params: { taskId, _meta } }))
    return answer.includes("\"working\"") ? get(taskId, id + 1_000_000) : answer
  }
  return async (id) => {
    const params = { name: "report", arguments: { year: id }, _meta }
    const { result: { taskId } } = JSON.parse(await ask(text({ id, method: "tools/call", params })))
    check(await get(taskId, id + 1_000_000), `The report of ${id}`)
  }
}
