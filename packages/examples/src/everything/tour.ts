/**
 * A client of the everything server, over HTTP and in one process: it calls tools, reads a resource, completes an argument,
 * and answers the requests of the server.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as EventStore from "@effect-mcp/core/EventStore"
import * as Remote from "@effect-mcp/core/Remote"
import * as TaskStore from "@effect-mcp/core/TaskStore"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Everything from "./Everything.js"

const text = ({ content }: { readonly content: ReadonlyArray<object> }): string =>
  content.map((block) => "text" in block ? String(block.text) : "(not text)").join(" ")

const features = Layer.mergeAll(
  ClientFeatures.sampling(({ messages }) =>
    Effect.succeed({
      role: "assistant",
      model: "a model of this client",
      content: { type: "text", text: `an answer to ${messages.length} message` }
    })
  ),
  ClientFeatures.elicitation(() =>
    Effect.succeed({ action: "accept", content: { username: "ada", email: "ada@example.com" } })
  ),
  ClientFeatures.roots(Effect.succeed([{ uri: "file:///home/ada", name: "home" }])),
  ClientFeatures.logging(({ data, level }) => Console.log(`the server logs, ${level}: ${String(data)}`))
)

const tour = Effect.gen(function*() {
  const { url } = yield* HttpServer.HttpServer
  const client = yield* Client.make(Remote.connector(url), { features })
  yield* Console.log(`${client.serverInfo.name} ${client.serverInfo.version}, protocol ${client.version}`)
  yield* Console.log(
    `${yield* Stream.runCount(client.tools)} tools, ${yield* Stream.runCount(client.resources)} resources`
  )
  const call = (name: string, args?: Record<string, unknown>) => Effect.map(client.callTool(name, args), text)
  yield* Console.log(yield* call("test_sampling", { prompt: "hello" }))
  yield* Console.log(yield* call("test_elicitation", { message: "Who are you?" }))
  yield* Console.log(yield* call("test_list_roots"))
  yield* call("test_tool_with_logging")
  yield* client.callTool("test_tool_with_progress", {}, {
    onProgress: ({ progress, total }) => Console.log(`${progress} of ${total ?? "?"}`)
  })
  const data = yield* client.readResource("test://template/7/data")
  yield* Console.log(data.contents.map((one) => "text" in one ? one.text : "bytes").join())
  const ref = { type: "ref/prompt", name: "test_prompt_with_choice" } as const
  const { values } = yield* client.complete(ref, { name: "tone", value: "f" })
  yield* Console.log(`tones that begin with "f": ${values.join(", ")}`)
  const cancelled = yield* Effect.timeoutOption(client.callTool("test_sleep", { seconds: 60 }), "100 millis")
  yield* Console.log(`a call of a minute timed out: ${cancelled._tag === "None"}`)
})

tour.pipe(
  Effect.scoped,
  Effect.provide(
    HttpServer.layer({ port: 0 }).pipe(
      Layer.provide(Everything.layer()),
      Layer.provide([EventStore.layerMemory, TaskStore.layerMemory])
    )
  ),
  Effect.provide(NodeHttpClient.layerUndici),
  NodeRuntime.runMain
)
