/**
 * An agent with the tools of two servers: a language model calls them until it has an answer. Sampling and elicitation are answered
 * by layers, progress is shown, each call has a time-out. The program is the same in both eras.
 */
import * as Chat from "@effect/ai/Chat"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as ClientToolkit from "@effect-mcp/ai/ClientToolkit"
import * as ModelSampling from "@effect-mcp/ai/ModelSampling"
import * as ToolList from "@effect-mcp/ai/ToolList"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import type * as Version from "@effect-mcp/core/protocol/Version"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { fileURLToPath } from "node:url"
import { ScriptedModel } from "./model.js"

const server = (file: string) =>
  StdioClient.connector({ command: process.execPath, args: [fileURLToPath(new URL(file, import.meta.url))] })

/** Answers the questions of the servers: their model is ours, after a look at each request; their user is a script. */
const answers = Layer.merge(
  ModelSampling.layer({
    name: "small-scripted",
    approve: ({ messages }) => Effect.as(Console.log(`    ? a server asks the model: ${messages.length} message`), true)
  }),
  ClientFeatures.elicitation(({ message }) =>
    Effect.as(Console.log(`    ? ${message}`), { action: "accept", content: { note: "a day off" } })
  )
)

const agent = (version: Version.Version) =>
  Effect.gen(function*() {
    const group = yield* ClientSessionGroup.make()
    for (const name of ["notes", "calendar"]) {
      yield* group.connect(name, server(`${name}.js`), { features: answers, versions: [version] })
    }
    const following = yield* ToolList.follow(group, { dialect: "openai-strict" })
    const { tools } = yield* following.current
    yield* Console.log(`\n${version}: ${tools.map(({ name }) => name).join(", ")}`)

    const toolkit = Effect.flatMap(following.current, (list) =>
      ClientToolkit.fromList(list, {
        call: (name) => ({
          // The office is not always there.
          timeout: name === "sync" ? "3 seconds" : "1 minute",
          onProgress: ({ message, progress, total }) =>
            Console.log(`    … ${name}: ${message} (${progress} of ${total})`)
        })
      }))
    const chat = yield* Chat.fromPrompt("When is my talk? Keep the day after it free for me.")
    const turn = Effect.gen(function*() {
      const response = yield* chat.generateText({ prompt: [], toolkit, concurrency: "unbounded" })
      for (const { encodedResult, isFailure, name } of response.toolResults) {
        yield* Console.log(`  ${isFailure ? "✗" : "←"} ${name}: ${JSON.stringify(encodedResult)}`)
      }
      return response
    })
    const last = yield* Effect.repeat(turn, { while: ({ finishReason }) => finishReason === "tool-calls" })
    yield* Console.log(`  = ${last.text}`)
  }).pipe(Effect.scoped)

Effect.zipRight(agent("2025-11-25"), agent("2026-07-28")).pipe(Effect.provide(ScriptedModel), NodeRuntime.runMain)
