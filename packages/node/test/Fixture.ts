/**
 * Programs that tests launch.
 */
import * as Conversation from "@effect-mcp/core/Conversation"
import * as JsonRpcError from "@effect-mcp/core/JsonRpcError"
import type * as LocalError from "@effect-mcp/core/LocalError"
import type * as Message from "@effect-mcp/core/Message"
import * as Side from "@effect-mcp/core/Side"
import type * as Transport from "@effect-mcp/core/Transport"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Effect, Queue, Schedule, type Scope } from "effect"
import { build } from "esbuild"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export const node = process.execPath

export const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))

/** Bundles a TypeScript fixture to a program, in a folder that is removed when the scope closes. */
export const bundled = (name: string): Effect.Effect<string, never, Scope.Scope> =>
  Effect.gen(function*() {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-mcp-node-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
    const outfile = join(folder, name.replace(/\.ts$/, ".mjs"))
    yield* Effect.promise(() =>
      build({
        entryPoints: [fixture(name)],
        outfile,
        bundle: true,
        format: "esm",
        platform: "node",
        target: "node20",
        conditions: ["@effect-mcp/source"],
        // Packages of the platform's HTTP server are CommonJS.
        banner: {
          js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url)"
        },
        logLevel: "error"
      })
    )
    return outfile
  })

/** Waits until a condition holds. */
export const until = (so: () => boolean): Effect.Effect<void> =>
  Effect.sync(so).pipe(
    Effect.repeat({ until: (is) => is, schedule: Schedule.spaced("5 millis") }),
    Effect.asVoid
  )

/** A conversation that refuses all requests and keeps the notifications. */
export const talk = (transport: Transport.Transport): Effect.Effect<
  { readonly conversation: Conversation.Conversation; readonly received: Queue.Dequeue<Message.Notification> },
  never,
  Scope.Scope
> =>
  Effect.gen(function*() {
    const received = yield* Queue.unbounded<Message.Notification>()
    const side = yield* Side.make({
      onRequest: ({ method }) =>
        Effect.fail(new JsonRpcError.JsonRpcError({ code: JsonRpcError.METHOD_NOT_FOUND, message: method })),
      onNotification: (notification) => Effect.asVoid(Queue.offer(received, notification))
    })
    const conversation = yield* Conversation.make(transport, side, { report: () => Effect.void })
    return { conversation, received }
  })

/** Connects to the fixture of this name, with a grace period that is longer than a test. */
export const connect = (
  name: string,
  args: ReadonlyArray<string> = [],
  options: Partial<StdioClient.Options> = {}
): Effect.Effect<Transport.Transport, LocalError.TransportError, Scope.Scope> =>
  StdioClient.connector({
    command: node,
    args: [fixture(name), ...args],
    stderr: () => Effect.void,
    closeTimeouts: { grace: "1 minute" },
    ...options
  }).connect
