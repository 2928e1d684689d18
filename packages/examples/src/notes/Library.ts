/**
 * The notes of a folder: an ordinary service of an ordinary Effect application, which knows nothing of MCP.
 *
 * What is not in its list cannot be read: a path is looked up, never joined.
 */
import { FileSystem, Path } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Effect } from "effect"

/** A folder with more in it is cut off: any folder may be named, also one with a million files. */
export const MAX_ENTRIES = 20_000

/** Larger files are no notes. */
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
              // What cannot be looked at (a dangling link, a folder that is not ours) is no note.
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
