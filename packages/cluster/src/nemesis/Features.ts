/**
 * The features of the server of a run. Each call has a unique name, the argument `nonce`, which begins with the name of its client. The
 * handler repeats this name in its answer and in everything else that it sends.
 */
import * as Ask from "@effect-mcp/core/Ask"
import * as Authenticator from "@effect-mcp/core/Authenticator"
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as McpServer from "@effect-mcp/core/McpServer"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as Tool from "@effect-mcp/core/Tool"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { now } from "./History.js"
import type { Write } from "./Journal.js"
import { TOKEN } from "./NodeOptions.js"

const nonce = { nonce: Schema.String }

class Known extends Context.Tag("Known")<Known, "known">() {}

/** Accepts a request with the token that all clients of a run have. All clients are anonymous. */
export const authenticator = Authenticator.make(Known, {
  id: () => undefined,
  http: ({ headers }) =>
    headers.authorization === TOKEN ? Effect.succeed("known" as const) : Effect.fail(HttpRefusal.unauthorized("Bearer"))
})

/** The name of the call, the name of the client that the server has stored, and the node. */
const success = Schema.Struct({ echo: Schema.String, served: Schema.String, node: Schema.String })

/** Sends its client the progress of `steps` steps. Before each step there is a pause of `millis` milliseconds. */
const Work = Tool.make("work", {
  parameters: { ...nonce, steps: Schema.Int, millis: Schema.Int, padding: Schema.optional(Schema.String) },
  success
})

/** Waits `millis` milliseconds, as a task when the client wants a task, and sends no notifications. */
const Report = Tool.make("report", { parameters: { ...nonce, millis: Schema.Int }, success, task: "optional" })

/** Asks the user of its client a question. */
const Question = Tool.make("question", { parameters: nonce, success })

/** Sends a message on the standalone stream of its client. */
const Tell = Tool.make("tell", { parameters: nonce, success })

/** Notifies that a board has changed. (A board is a resource of the server.) */
const Change = Tool.make("change", { parameters: { ...nonce, uri: Schema.String }, success })

const Board = ResourceTemplate.fromString("board", "board://{number}", { parameters: { number: Schema.String } })

export const layer = (node: string, write: Write) => {
  const begin = (call: string) =>
    Effect.map(RequestContext, ({ client: { info } }) => {
      write({ _tag: "Started", at: now(), node, call })
      return { echo: call, served: info?.name ?? "", node }
    })
  return Layer.mergeAll(
    McpServer.tool(Work, ({ millis, nonce, steps }) =>
      Effect.gen(function*() {
        const answer = yield* begin(nonce)
        const { progress } = yield* RequestContext
        for (let step = 1; step <= steps; step++) {
          yield* Effect.sleep(millis)
          yield* progress(step, { total: steps, message: nonce })
        }
        return answer
      })),
    McpServer.tool(Report, ({ millis, nonce }) => Effect.zipLeft(begin(nonce), Effect.sleep(millis))),
    McpServer.tool(Question, ({ nonce }) =>
      Effect.gen(function*() {
        const answer = yield* begin(nonce)
        const { ask } = yield* ServerSession
        yield* Effect.orDie(ask({ sure: Ask.confirm(nonce) }))
        return answer
      })),
    McpServer.tool(Tell, ({ nonce }) =>
      Effect.gen(function*() {
        const answer = yield* begin(nonce)
        const { standalone } = yield* RequestContext
        yield* standalone.notify("notifications/message", { level: "info", data: nonce })
        return answer
      })),
    McpServer.tool(Change, ({ nonce, uri }) => Effect.zipLeft(begin(nonce), McpServer.resourceUpdated(uri))),
    McpServer.resourceTemplate(Board, ({ number }) => Effect.succeed(`Board ${number}`)),
    TasksServer.layerWith({ pollInterval: "200 millis", ttl: "15 seconds" })
  )
}
