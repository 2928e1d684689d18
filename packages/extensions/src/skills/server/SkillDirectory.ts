/**
 * Finds the files below a directory on the disk, for `SkillsServer`. This module does not follow links, so that the server serves no file
 * outside of the directory. By default it skips files and directories whose names begin with a dot. When a client reads a file, this module
 * reads the file from the disk, and compares the content with the digest in the entry of the skill. `SkillFiles` makes skills from the
 * files.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as StreamArrays from "@effect-mcp/core/unstable/kit/StreamArrays"
import * as Effect from "effect/Effect"
import * as FileBytes from "../format/FileBytes.js"
import * as SkillUri from "../format/SkillUri.js"
import { SkillChanged, SkillError } from "../Skill.js"
import type { Source } from "./SkillFiles.js"

export interface Options {
  readonly dotfiles: boolean
  readonly maxEntries: number
  readonly maxBytes: number
}

export interface Found {
  /** The files, by their paths relative to the directory, with `/` between the names. */
  readonly files: ReadonlyMap<string, Source>
  readonly directories: ReadonlyArray<string>
  /** The name of the directory itself. */
  readonly name: string
}

/** The most levels of directories below the given directory. */
const MAX_DEPTH = 32

export const find = (
  directory: string,
  { dotfiles, maxBytes, maxEntries }: Options
): Effect.Effect<Found, SkillError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const files = new Map<string, Source>()
    const directories: Array<string> = []
    let entries = 0

    const visit = (real: string, names: ReadonlyArray<string>): Effect.Effect<void, SkillError> =>
      Effect.gen(function*() {
        const label = path.join(directory, ...names)
        if (names.length > MAX_DEPTH) return yield* tooMuch(label, `directories are nested deeper than ${MAX_DEPTH}`)
        const found = yield* readable(label, fs.readDirectory(real))
        for (const name of found.sort()) {
          if (name.startsWith(".") && !(dotfiles && SkillUri.isHarmless(name))) continue
          if (++entries > maxEntries) {
            const problem =
              `the directory has more than ${maxEntries} entries: give a directory that contains skills ` +
              "only, or raise the limit with the option maxEntries"
            return yield* tooMuch(directory, problem)
          }
          yield* enter(path.join(real, name), [...names, name])
        }
      })

    const enter = (own: string, names: ReadonlyArray<string>): Effect.Effect<void, SkillError> =>
      Effect.gen(function*() {
        const label = path.join(directory, ...names)
        // A link whose target does not exist has no real path.
        const real = yield* Effect.orElseSucceed(fs.realPath(own), () => undefined)
        if (real !== own) return yield* Effect.logWarning(`${label} is a link: it is not served with the skills`)
        const { type } = yield* readable(label, fs.stat(own))
        const below = names.join("/")
        if (type === "Directory") {
          directories.push(below)
          return yield* visit(own, names)
        }
        if (type !== "File") return yield* Effect.logWarning(`${label} is not a file: it is not served with the skills`)
        files.set(below, sourceOf(fs, own, label, maxBytes))
      })

    const root = yield* readable(directory, fs.realPath(directory))
    yield* visit(root, [])
    return { files, directories, name: path.basename(root) }
  })

const sourceOf = (fs: FileSystem.FileSystem, own: string, label: string, maxBytes: number): Source => {
  /**
   * Returns the bytes of the file. Returns `undefined` when the path is now a link or not a file, or when the file has more than `max`
   * bytes. Reads at most `max` + 1 bytes.
   */
  const bytes = (max: number): Effect.Effect<Uint8Array | undefined, PlatformError> =>
    Effect.gen(function*() {
      if ((yield* fs.realPath(own)) !== own) return undefined
      const { size, type } = yield* fs.stat(own)
      if (type !== "File" || size > max) return undefined
      const pieces = yield* StreamArrays.collect(fs.stream(own, { bytesToRead: FileSystem.Size(max + 1) }))
      const all = FileBytes.concat(pieces)
      return all.length > max ? undefined : all
    })
  return {
    label,
    load: Effect.flatMap(
      readable(label, bytes(maxBytes)),
      (all) => all === undefined ? tooMuch(label, `the file has more than ${maxBytes} bytes`) : Effect.succeed(all)
    ),
    read: (uri, { digest, size }) => {
      const changed = new SkillChanged({ uri })
      return Effect.flatMap(
        Effect.catchAll(bytes(size), () => changed),
        (all) =>
          all?.length !== size
            ? changed
            : Effect.flatMap(FileBytes.sha256(all), (now) => now === digest ? Effect.succeed(all) : changed)
      )
    }
  }
}

const tooMuch = (file: string, problem: string): Effect.Effect<never, SkillError> =>
  Effect.fail(new SkillError({ file, problem }))

const readable = <A>(file: string, effect: Effect.Effect<A, PlatformError>): Effect.Effect<A, SkillError> =>
  Effect.mapError(effect, ({ message }) => new SkillError({ file, problem: `it cannot be read: ${message}` }))
