/**
 * A client of tasks and its scripted server, which makes a call a task, answers the polls, and asks in them.
 */
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as Message from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as TasksClient from "@effect-mcp/core/TasksClient"
import type * as TestClient from "@effect-mcp/testing/TestClient"
import { Effect, TestClock } from "effect"
import * as ModernServer from "./ModernServer.js"

export const ID = "io.modelcontextprotocol/tasks"

export const declared = { tools: {}, prompts: {}, extensions: { [ID]: {} } }

const form = {
  method: "elicitation/create",
  params: { mode: "form", message: "Sure?", requestedSchema: { type: "object", properties: {} } }
}

export const result = { content: [{ type: "text" as const, text: "done" }] }

export const task = (status = "working", more: JsonObject = {}): JsonObject => ({
  taskId: "t1",
  status,
  createdAt: "2026-07-28T10:00:00Z",
  lastUpdatedAt: "2026-07-28T10:00:00Z",
  ttlMs: 60_000,
  pollIntervalMs: 500,
  ...more
})

export type Server = TestClient.TestClient["server"]

export const connect = (
  capabilities: Record<string, unknown> = declared,
  client: TestClient.Options<never, ClientFeatures.ClientFeatures>["client"] = {}
) => ModernServer.connect(capabilities, { extensions: [TasksClient.extension], ...client })

/** Receives a request, and answers it. */
export const answer = (server: Server, method: string, result: JsonObject, resultType = "complete") =>
  Effect.flatMap(
    server.expectRequest(method),
    (request) => Effect.as(server.send(Message.success(request.id, { resultType, ...result })), request)
  )

export const refuse = (server: Server, method: string, code = -32602) =>
  Effect.flatMap(
    server.expectRequest(method),
    ({ id }) => server.send({ jsonrpc: "2.0", id, error: { code, message: "no" } })
  )

/** A client whose call of a tool has become a task, and waits for its result. */
export const waiting = (
  client?: TestClient.Options<never, ClientFeatures.ClientFeatures>["client"],
  more?: JsonObject
) =>
  Effect.gen(function*() {
    const { client: session, server } = yield* connect(declared, client)
    const calling = yield* ModernServer.beside(session.callTool("t"))
    yield* answer(server, "tools/call", task("working", more), "task")
    return { calling, client: session, server }
  })

/** Checks that the client has sent nothing more. */
export const silence = (client: TestClient.TestClient["client"], server: Server) =>
  Effect.zipRight(client.notify("com.example/marker"), server.expectNotification("com.example/marker"))

/** Answers the next poll, when it is due. */
export const poll = (server: Server, status: string, more?: JsonObject) =>
  Effect.zipRight(TestClock.adjust(500), answer(server, "tasks/get", task(status, more)))

export const asking = (...keys: ReadonlyArray<string>) => ({
  inputRequests: Object.fromEntries(keys.map((key) => [key, form]))
})

export const accepts = ClientFeatures.elicitation(() => Effect.succeed({ action: "accept" }))
