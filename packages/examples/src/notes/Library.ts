/**
 * The notes of a folder: a service of an Effect application, which knows nothing of MCP.
 *
 * It reads only notes that are in its list, so that a client cannot read other files with a path of its own.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"

/** How many files and folders are searched for notes; the rest of a larger folder is ignored. */
export const MAX_ENTRIES = 20_000

/** Larger files are ignored. */
export const MAX_BYTES = 2 * 1024 * 1024

const skipped = new Set(["node_modules", "dist", "build"])

export class Library extends Effect.Service<Library>()("examples/notes/Library", {
  effect: (options: { readonly folder: string; readonly only?: ReadonlyArray<string> }) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = path.resolve(options.folder)

      const walk = (relative: string, seen: { entries: number }): Effect.Effect<Array<string>, PlatformError> =>
        Effect.gen(function*() {
          const name = path.basename(relative)
          if (name.startsWith(".") && relative !== "." || skipped.has(name) || ++seen.entries > MAX_ENTRIES) return []
          const info = yield* fs.stat(path.join(folder, relative))
          if (info.type === "Directory") {
            const names = yield* fs.readDirectory(path.join(folder, relative))
            const found = yield* Effect.forEach(names.sort(), (name) =>
              // Ignore what cannot be read, such as a dangling link or a folder of another user.
              Effect.orElseSucceed(walk(path.join(relative, name), seen), () => []))
            return found.flat()
          }
          return info.type === "File" && /\.(?:md|markdown)$/i.test(name) && info.size <= MAX_BYTES ? [relative] : []
        })

      const list = Effect.suspend(() => {
        const seen = { entries: 0 }
        return Effect.map(
          Effect.forEach(options.only ?? ["."], (root) => Effect.orElseSucceed(walk(root, seen), () => [])),
          (notes) => notes.flat()
        )
      })
      const lines = (note: string) =>
        Effect.map(fs.readFileString(path.join(folder, note)), (text) => text.replace(/\n$/, "").split(/\r?\n/))

      yield* fs.access(folder)
      return { folder, list, lines }
    })
}) {}
