/**
 * A server on stdio that asks for confirmation before it deletes. It serves clients of every revision with the same
 * handler: up to 2025-11-25 the handler waits for the answer; from 2026-07-28 on the question ends the call, and the handler
 * runs again with the answer.
 */
import * as Ask from "@effect-mcp/core/Ask"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as ServerSession from "@effect-mcp/core/ServerSession"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HashSet from "effect/HashSet"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import { Delete, FileNotFound, List } from "./contract.js"

/** The files, in memory. */
class Folder extends Context.Tag("example/Folder")<Folder, Ref.Ref<HashSet.HashSet<string>>>() {}

const FolderLive = Layer.effect(Folder, Ref.make(HashSet.make("draft.txt", "report.txt")))

const ListLive = McpServer.tool(
  List,
  () => Effect.map(Effect.flatMap(Folder, Ref.get), (files) => ({ files: [...files].sort() }))
)

const DeleteLive = McpServer.tool(Delete, ({ file }) =>
  Effect.gen(function*() {
    const folder = yield* Folder
    const session = yield* ServerSession.ServerSession
    yield* Effect.logInfo(`the handler begins to delete ${file}`)
    if (!HashSet.has(yield* Ref.get(folder), file)) return yield* new FileNotFound({ file })
    // Ask first, act after: what stands before the question may run twice.
    const { sure } = yield* session.ask({ sure: Ask.confirm(`Delete ${file}?`) })
    if (sure) yield* Ref.update(folder, HashSet.remove(file))
    return { deleted: sure }
  }))

const Server = McpServer.layer({ name: "files", version: "1.0.0" }, Layer.merge(ListLive, DeleteLive))

StdioServer.layer.pipe(
  Layer.provide(Server),
  Layer.provide(FolderLive),
  Layer.launch,
  StdioServer.runMain
)
