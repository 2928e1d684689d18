import { assert, describe, it } from "@effect/vitest"
import type { ClientError, ToolError } from "@effect-mcp/core/ClientError"
import type { ClientSessionService, Task } from "@effect-mcp/core/ClientSession"
import type * as Tools from "@effect-mcp/core/protocol/Tools"
import * as TasksClient from "@effect-mcp/core/TasksClient"
import * as Tool from "@effect-mcp/core/Tool"
import { type Effect, Schema } from "effect"
import { expectTypeOf } from "vitest"

class Closed extends Schema.TaggedError<Closed>()("Closed", {}) {}

const Book = Tool.make("book", { parameters: { table: Schema.Int }, success: Schema.Date, failure: Closed })
const Tell = Tool.make("tell", { parameters: { what: Schema.optional(Schema.String) } })

type Booked = Task<Date, Closed | ToolError | ClientError>

describe("The type of a task", () => {
  it("is that of the definition of its tool", () => {
    const start = (session: ClientSessionService) => TasksClient.start(session, Book, { table: 1 }, { ttl: "1 hour" })
    expectTypeOf(start).returns.toEqualTypeOf<Effect.Effect<Booked, ClientError>>()
    const attach = (session: ClientSessionService) => TasksClient.attach(session, Book, "id")
    expectTypeOf(attach).returns.toEqualTypeOf<Effect.Effect<Booked>>()
    // @ts-expect-error the tool needs a table
    const without = (session: ClientSessionService) => TasksClient.start(session, Book)
    // @ts-expect-error a table is a number
    const wrong = (session: ClientSessionService) => TasksClient.start(session, Book, { table: "1" })
    const optional = (session: ClientSessionService) => TasksClient.start(session, Tell)
    assert.isFunction(without)
    assert.isFunction(wrong)
    assert.isFunction(optional)
  })

  it("has the whole result where the tool has no definition, or no success", () => {
    const start = (session: ClientSessionService) => TasksClient.start(session, "book", { table: 1 })
    expectTypeOf(start).returns.toEqualTypeOf<Effect.Effect<Task<Tools.CallToolResult, ClientError>, ClientError>>()
    const told = (session: ClientSessionService) => TasksClient.attach(session, Tell, "id")
    expectTypeOf(told).returns.toEqualTypeOf<Effect.Effect<Task<Tools.CallToolResult, ToolError | ClientError>>>()
    assert.isFunction(start)
    assert.isFunction(told)
  })
})
