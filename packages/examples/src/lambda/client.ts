/**
 * A client of the function. Its transport invokes the function once for each message; when the client cancels a request, it aborts the
 * invocation. With the SDK of a cloud, `invoke` would be a call over the network.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Client from "@effect-mcp/core/Client"
import * as Connector from "@effect-mcp/core/Connector"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import * as LocalError from "@effect-mcp/core/LocalError"
import * as Message from "@effect-mcp/core/Message"
import * as MessageText from "@effect-mcp/core/MessageText"
import * as Transport from "@effect-mcp/core/Transport"
import { Console, Effect, FiberMap, Queue, Stream } from "effect"
import { handler } from "./function.js"

const invoke = (message: Message.Message) =>
  Effect.map(
    Effect.tryPromise({
      try: (signal) => handler({ user: "ada", message: MessageText.stringify(message) ?? "" }, signal),
      catch: (cause) => new LocalError.TransportError({ reason: "Write", message: "The function has failed", cause })
    }),
    ({ messages }) => messages.map((text) => MessageText.parse(text))
  )

const connector = Connector.make(
  "a function",
  Effect.gen(function*() {
    const incoming = yield* Queue.unbounded<Message.Incoming>()
    const invocations = yield* FiberMap.make<unknown>()
    const send = (message: Message.Message) =>
      Effect.flatMap(invoke(message), (messages) => Queue.offerAll(incoming, messages))
    return yield* Transport.make({
      incoming: Stream.fromQueue(incoming),
      write: (message) => {
        if (Message.isResponse(message)) return Effect.void
        if (Message.isRequest(message)) {
          const { id } = message
          const served = Effect.catchAll(
            send(message),
            (error) =>
              Queue.offer(incoming, Message.failure(id, { code: JsonRpcError.INTERNAL_ERROR, message: error.message }))
          )
          return Effect.asVoid(FiberMap.run(invocations, id, served))
        }
        return message.method === "notifications/cancelled"
          ? FiberMap.remove(invocations, message.params?.requestId)
          : Effect.asVoid(send(message))
      }
    })
  })
)

const main = Effect.gen(function*() {
  const client = yield* Client.make(connector, { versions: ["2026-07-28"] })
  yield* Console.log(`${client.serverInfo.name} in a function, protocol ${client.version}`)

  const { structuredContent } = yield* client.callTool("forecast", { city: "Oslo" }, {
    onProgress: ({ message, progress, total }) => Console.log(`  ${progress} of ${total}: ${message}`)
  })
  yield* Console.log(`  ${structuredContent}`)

  const refused = yield* Effect.flip(client.callTool("hindcast"))
  yield* Console.log(`  refused: ${refused.message}`)

  const late = yield* Effect.timeoutOption(client.callTool("forecast", { city: "Atlantis" }), "500 millis")
  yield* Console.log(`  Atlantis: ${late._tag === "None" ? "the client has waited long enough" : "found"}`)
})

main.pipe(Effect.scoped, NodeRuntime.runMain)
