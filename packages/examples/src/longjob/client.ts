/**
 * A client in two runs: `start` begins the film, stores the id of its task in a file, and exits; `collect`, which may run
 * tomorrow, reads the id and waits for the film. Both take the URL of the server, the revision, and the file.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Client from "@effect-mcp/core/Client"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Remote from "@effect-mcp/core/Remote"
import * as TasksClient from "@effect-mcp/core/TasksClient"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Render } from "./contract.js"

const [command, url = "", revision, file = ""] = process.argv.slice(2)

const start = Effect.gen(function*() {
  const task = yield* TasksClient.start(yield* Client.Client, Render, { scenes: 2 })
  const files = yield* FileSystem.FileSystem
  yield* files.writeFileString(file, Option.getOrThrow(task.taskId))
  yield* Console.log(`${revision}: the film has begun`)
})

const collect = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const task = yield* TasksClient.attach(yield* Client.Client, Render, yield* files.readFileString(file))
  const { status } = Option.getOrThrow(yield* Stream.runHead(task.status))
  yield* Console.log(`${revision}: the film is ${status}`)
  const film = yield* task.result
  yield* Console.log(`${revision}: ${film.file} has ${film.minutes} minutes`)
}).pipe(Effect.catchTags({
  NoScenes: () => Console.log("a film needs scenes"),
  TaskEnded: ({ message }) => Console.log(message)
}))

const Connected = Client.layer(Remote.connector(url), {
  versions: [Version.all.find((version) => version === revision) ?? Version.latestModern],
  extensions: [TasksClient.extension]
})

Effect.if(command === "start", { onTrue: () => start, onFalse: () => collect }).pipe(
  Effect.provide([
    Connected.pipe(Layer.provide(NodeHttpClient.layerUndici)),
    NodeContext.layer
  ]),
  NodeRuntime.runMain
)
