/**
 * A server with users: each user has notes of their own, and the admin counts the notes of all users. The server does not know how its
 * users are found: the programs that serve it say that.
 */
import * as HttpRefusal from "@effect-mcp/core/HttpRefusal"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import { Context, Effect, Layer, Ref, Schema } from "effect"

export class User extends Context.Tag("users/User")<User, {
  readonly name: string
  readonly scopes: ReadonlyArray<string>
}>() {}

/** The notes of all users, by their names. */
export class Notes extends Context.Tag("users/Notes")<Notes, Ref.Ref<ReadonlyMap<string, ReadonlyArray<string>>>>() {
  static readonly Live = Layer.effect(Notes, Ref.make<ReadonlyMap<string, ReadonlyArray<string>>>(new Map()))
}

/** How many notes a client has written: a service of its session, or of the session of its user where the transport has none. */
export class Written extends Context.Tag("users/Written")<Written, Ref.Ref<number>>() {
  static readonly Live = Layer.effect(Written, Ref.make(0))
}

const notesOf = (name: string) => Effect.map(Effect.flatMap(Notes, Ref.get), (all) => all.get(name) ?? [])

const Write = Tool.make("write", { parameters: { text: Schema.String } })
const Read = Tool.make("read", { success: Schema.Array(Schema.String) })
const Count = Tool.make("count", { success: Schema.Number })

/** Handlers require the user as any other service. */
export const NotesLive = Layer.mergeAll(
  McpServer.tool(Write, ({ text }) =>
    Effect.gen(function*() {
      const { name } = yield* User
      const all = yield* Ref.updateAndGet(
        yield* Notes,
        (all) => new Map(all).set(name, [...(all.get(name) ?? []), text])
      )
      const written = yield* Ref.updateAndGet(yield* Written, (n) => n + 1)
      return `${name} has ${all.get(name)?.length} notes, ${written} of this session`
    })),
  McpServer.tool(Read, () => Effect.flatMap(User, ({ name }) => notesOf(name))),
  McpServer.tool(Count, () =>
    Effect.gen(function*() {
      const { scopes } = yield* User
      if (!scopes.includes("admin")) {
        const challenge = HttpRefusal.challenge("Bearer", { error: "insufficient_scope", scope: "admin" })
        return yield* HttpRefusal.forbidden("Forbidden: only an admin counts the notes", challenge)
      }
      return [...(yield* Ref.get(yield* Notes)).values()].flat().length
    }))
)
