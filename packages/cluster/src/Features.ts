/**
 * What the server of the cluster offers. Every call carries a nonce, which its answer repeats: an answer that another call should have
 * had is seen. Each handler names its node, and reports that it has begun.
 */
import * as Resource from "@effect-mcp/definition/Resource"
import * as Tool from "@effect-mcp/definition/Tool"
import * as Ask from "@effect-mcp/server/Ask"
import * as McpServer from "@effect-mcp/server/McpServer"
import { RequestContext } from "@effect-mcp/server/RequestContext"
import { ServerSession } from "@effect-mcp/server/ServerSession"
import * as Tasks from "@effect-mcp/server/Tasks"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const nonce = { nonce: Schema.String }

/** What every tool answers: the nonce of the call, and the node that its handler ran on. */
export const Answer = Schema.Struct({ ...nonce, node: Schema.String, text: Schema.String })

const success = Answer

export const Echo = Tool.make("echo", { parameters: nonce, success })

/** Answers after so many milliseconds. */
export const Slow = Tool.make("slow", { parameters: { ...nonce, millis: Schema.Int }, success })

/** Sends so many notifications of progress, with pauses of `millis` milliseconds between them. */
export const Count = Tool.make("count", {
  parameters: { ...nonce, steps: Schema.Int, millis: Schema.Int },
  success
})

/** Asks the person at the client for the nonce. */
export const Confirm = Tool.make("confirm", { parameters: nonce, success })

/** Asks the model of the client. */
export const Summarize = Tool.make("summarize", { parameters: nonce, success })

/** Notifies the subscribers of the resource. */
export const Update = Tool.make("update", { parameters: nonce, success })

/** Runs as a task for so many milliseconds. */
export const Report = Tool.make("report", { parameters: { ...nonce, millis: Schema.Int }, success, task: "required" })

export const BOARD = "cluster://board"

const Board = Resource.make("board", { uri: BOARD, mimeType: "text/plain" })

export interface Options {
  readonly node: string
  readonly onBegin: (tool: string, nonce: string) => Effect.Effect<void>
}

export const layer = ({ node, onBegin }: Options) => {
  const begin = (tool: { readonly name: string }, nonce: string, text = "") =>
    Effect.as(onBegin(tool.name, nonce), { nonce, node, text })

  return Layer.mergeAll(
    McpServer.tool(Echo, ({ nonce }) => begin(Echo, nonce)),
    McpServer.tool(Slow, ({ millis, nonce }) => Effect.zipLeft(begin(Slow, nonce), Effect.sleep(millis))),
    McpServer.tool(Count, ({ millis, nonce, steps }) =>
      Effect.gen(function*() {
        const { progress } = yield* RequestContext
        const answer = yield* begin(Count, nonce)
        for (let step = 1; step <= steps; step++) {
          yield* progress(step, { total: steps })
          yield* Effect.sleep(millis)
        }
        return answer
      })),
    McpServer.tool(Confirm, ({ nonce }) =>
      Effect.gen(function*() {
        const { ask } = yield* ServerSession
        const { sure } = yield* Effect.orDie(ask({ sure: Ask.confirm(nonce) }))
        return yield* begin(Confirm, nonce, `${sure}`)
      })),
    McpServer.tool(Summarize, ({ nonce }) =>
      Effect.gen(function*() {
        const { ask } = yield* ServerSession
        const { summary } = yield* Effect.orDie(ask({
          summary: Ask.sample({ messages: [{ role: "user", content: { type: "text", text: nonce } }], maxTokens: 100 })
        }))
        const text = "text" in summary.content ? summary.content.text : ""
        return yield* begin(Summarize, nonce, text)
      })),
    McpServer.tool(Update, ({ nonce }) => Effect.zipLeft(begin(Update, nonce), McpServer.resourceUpdated(BOARD))),
    McpServer.tool(Report, ({ millis, nonce }) => Effect.zipLeft(begin(Report, nonce), Effect.sleep(millis))),
    McpServer.resource(Board, Effect.succeed(`The board, as ${node} reads it.`)),
    Tasks.layer({ pollInterval: "200 millis" })
  )
}
