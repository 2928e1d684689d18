/**
 * A client of one revision that works with the server through the load balancer, and writes down how each call ended. It answers the
 * questions of the server with what they ask for.
 */
import type { HttpClient } from "@effect/platform/HttpClient"
import * as Client from "@effect-mcp/client/Client"
import type { ConnectError } from "@effect-mcp/client/ClientError"
import * as Features from "@effect-mcp/client/Features"
import * as Remote from "@effect-mcp/client/Remote"
import * as ClientTasks from "@effect-mcp/client/Tasks"
import type { JsonObject } from "@effect-mcp/protocol/Json"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Answer, BOARD } from "../Features.js"
import * as Ledger from "./Ledger.js"

export const VERSIONS = ["2025-06-18", "2025-11-25", "2026-07-28"] as const

export interface WorkingClient {
  readonly name: string
  readonly version: typeof VERSIONS[number]
  /** The ids of its sessions, the newest last: more than one when the server has lost one. */
  readonly sessions: ReadonlyArray<string>
  /** How often it has heard that the board has changed. */
  readonly updates: () => number
  readonly call: (
    tool: string,
    args?: JsonObject,
    onProgress?: (progress: number) => void
  ) => Effect.Effect<Ledger.Call>
}

export const make = (
  url: string,
  name: string,
  version: typeof VERSIONS[number],
  ledger: Ledger.Ledger
): Effect.Effect<WorkingClient, ConnectError, HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    const sessions: Array<string> = []
    let updates = 0
    let calls = 0
    const client = yield* Client.make(
      Remote.connector(url, { onSession: ({ id }) => Effect.sync(() => void sessions.push(id)) }),
      {
        versions: [version],
        extensions: [ClientTasks.extension],
        features: Layer.merge(
          Features.elicitation(() => Effect.succeed({ action: "accept", content: {} })),
          Features.sampling(() =>
            Effect.succeed({ role: "assistant", model: "none", content: { type: "text", text: "short" } })
          )
        )
      }
    )
    yield* client.subscribeResource(BOARD)
    yield* Effect.forkScoped(Stream.runForEach(client.resourceUpdates, () => Effect.sync(() => updates++)))
    yield* client.awaitSubscription
    return {
      name,
      version,
      sessions,
      updates: () => updates,
      call: (tool, args = {}, onProgress) =>
        Effect.gen(function*() {
          ledger.open++
          const nonce = `${name}.${++calls}`
          const began = yield* Clock.currentTimeMillis
          const result = yield* Effect.either(client.callTool(tool, { ...args, nonce }, {
            timeout: "30 seconds",
            ...(onProgress && { onProgress: ({ progress }) => Effect.sync(() => onProgress(progress)) })
          }))
          const ended = yield* Clock.currentTimeMillis
          const call: Ledger.Call = {
            client: name,
            tool,
            nonce,
            session: sessions.at(-1),
            began,
            ended,
            ...Either.match(result, {
              onLeft: (error) => ({ end: Ledger.endOf(error), message: error.message }),
              onRight: ({ content, isError, structuredContent }) =>
                Option.match(answerOf(structuredContent), {
                  onNone: () => ({
                    end: "another error",
                    message: `${isError === true} ${JSON.stringify(content)}`
                  }),
                  onSome: (answer) => ({
                    end: answer.nonce === nonce ? "answered" : "another call's answer",
                    message: undefined
                  })
                })
            })
          }
          ledger.open--
          ledger.calls.push(call)
          return call
        })
    }
  })

const answerOf = Schema.decodeUnknownOption(Answer)
