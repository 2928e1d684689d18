/**
 * Makes skills from files, for `SkillsServer`. Each directory that contains a `SKILL.md` is a skill. This module reads the front matter and
 * computes the digests of the files. When a skill breaks a rule for which clients would refuse it, the result has the reason instead of the
 * skill. The files are in memory, or come from the disk through `SkillDirectory`. `SkillRegistration` registers the skills.
 */
import type { Fails } from "@effect-mcp/core/Feature"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FileBytes from "../format/FileBytes.js"
import * as FrontMatter from "../format/FrontMatter.js"
import * as SkillUri from "../format/SkillUri.js"
import { type Skill, type SkillChanged, SkillError, type SkillFile } from "../Skill.js"
import * as Skills from "../Skills.js"

/** A file that may belong to a skill. */
export interface Source<out R = never> {
  /** The name of the file in error messages. */
  readonly label: string
  /** Reads the file while `build` makes the skill. For a `SKILL.md` with generated content, the result has only the front matter. */
  readonly load: Effect.Effect<Uint8Array, SkillError>
  /** Reads the file for a client. Default: the client gets the bytes of `load`, which stay in memory. */
  readonly read?:
    | ((uri: string, stored: { readonly digest: string; readonly size: number }) => Effect.Effect<
      Uint8Array,
      SkillChanged | Fails,
      R
    >)
    | undefined
  /** Whether the content is generated for each client. Such a file has no digest. Default: false. */
  readonly isDynamic?: boolean | undefined
}

export interface Limits {
  readonly maxFiles: number
  readonly maxBytes: number
  readonly maxSkills: number
}

interface Self<R> {
  readonly sources: ReadonlyMap<string, Source<R>>
  readonly limits: Limits
  /** The directories of skills. */
  readonly roots: ReadonlySet<string>
  /**
   * For each directory, the number of files at any depth below the directory, and the number of bytes that have been read from these files.
   * `countFiles` counts the files, and `load` counts the bytes.
   */
  readonly counts: Map<string, { files: number; bytes: number }>
}

/**
 * Makes the skills. The keys of `sources` are the paths of the files. `directories` are the paths of all directories; a directory without
 * files becomes an empty directory of its skill. `Left` is the reason why a skill cannot be served. The effect fails when there are too
 * many skills, or when a `SKILL.md` is not in a directory.
 */
export const build = <R = never>(
  sources: ReadonlyMap<string, Source<R>>,
  directories: ReadonlyArray<string>,
  limits: Limits
): Effect.Effect<ReadonlyArray<Either.Either<Skill<R>, SkillError>>, SkillError> =>
  Effect.gen(function*() {
    if (sources.has(Skills.FILE)) {
      return yield* refuse(
        Skills.FILE,
        `a skill needs a directory with the name of the skill, as in refunds/${Skills.FILE}`
      )
    }
    const paths = [...sources.keys()].sort()
    const self: Self<R> = { sources, limits, roots: rootsOf(paths), counts: new Map() }
    yield* checkNumber(self)
    countFiles(self, paths)
    const empty = directories.filter((directory) => !self.counts.has(directory))
    const found = yield* Effect.forEach(filesOf(self, paths), ([root, files]) =>
      Effect.map(
        Effect.either(skillOf(self, root, files, empty.filter((directory) => rootOf(self, directory) === root))),
        (skill) => [root, skill] as const
      ))
    // Checks the bytes again, because the files of skills in directories below also count. `build` may have read these files after the
    // first check.
    return found.map(([root, skill]) => Either.flatMap(skill, (one) => Either.map(checkBytes(self, root), () => one)))
  })

const rootsOf = (paths: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(paths.flatMap((path) => path.endsWith(`/${Skills.FILE}`) ? SkillUri.directories(path).slice(0, 1) : []))

/** Returns the directory of the skill to which a path belongs; `undefined` when the path belongs to no skill. */
const rootOf = <R>({ roots }: Self<R>, path: string): string | undefined =>
  SkillUri.directories(path).find((directory) => roots.has(directory))

/** Returns the paths of the files of each skill, by the directory of the skill. */
const filesOf = <R>(self: Self<R>, paths: ReadonlyArray<string>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const files = new Map(Array.from(self.roots, (root) => [root, [] as Array<string>]))
  for (const path of paths) files.get(rootOf(self, path) ?? "")?.push(path)
  return files
}

const checkNumber = <R>({ limits: { maxSkills }, roots }: Self<R>): Effect.Effect<void, SkillError> => {
  const [first] = roots
  const problem = `there are ${roots.size} skills, more than ${maxSkills}: raise the limit with the option maxSkills`
  return roots.size > maxSkills ? refuse(first!, problem) : Effect.void
}

const countFiles = <R>({ counts }: Self<R>, paths: ReadonlyArray<string>): void => {
  for (const path of paths) {
    for (const directory of SkillUri.directories(path)) {
      const { bytes, files } = counts.get(directory) ?? { files: 0, bytes: 0 }
      counts.set(directory, { files: files + 1, bytes })
    }
  }
}

const checkFiles = <R>({ counts, limits: { maxFiles } }: Self<R>, root: string): Either.Either<void, SkillError> =>
  counts.get(root)!.files > maxFiles
    ? Either.left(tooMuch(root, `the skill has more than ${maxFiles} files`, "maxFiles"))
    : Either.void

const checkBytes = <R>({ counts, limits: { maxBytes } }: Self<R>, root: string): Either.Either<void, SkillError> =>
  counts.get(root)!.bytes > maxBytes
    ? Either.left(tooMuch(root, `the skill has more than ${maxBytes} bytes`, "maxBytes"))
    : Either.void

const tooMuch = (root: string, problem: string, option: string): SkillError =>
  new SkillError({
    file: root,
    problem:
      `${problem}: clients may refuse such a skill, so make it smaller, or raise the limit with the option ${option}`
  })

/** Reads a file of a skill. Fails when the skill has too many bytes. */
const load = <R>(self: Self<R>, root: string, path: string): Effect.Effect<Uint8Array, SkillError> =>
  Effect.tap(self.sources.get(path)!.load, ({ length }) => {
    for (const directory of SkillUri.directories(path)) self.counts.get(directory)!.bytes += length
    return checkBytes(self, root)
  })

const skillOf = <R>(
  self: Self<R>,
  root: string,
  files: ReadonlyArray<string>,
  empty: ReadonlyArray<string>
): Effect.Effect<Skill<R>, SkillError> =>
  Effect.gen(function*() {
    const { sources } = self
    yield* checkFiles(self, root)
    const main = `${root}/${Skills.FILE}`
    const text = yield* load(self, root, main)
    const frontmatter = yield* readFrontMatter(sources.get(main)!.label, text, SkillUri.nameOf(root))
    const others = files.filter((path) => path !== main)
    return {
      uri: yield* uriOf(main),
      frontmatter,
      files: [
        yield* fileOf(main, sources.get(main)!, text),
        ...yield* Effect.forEach(
          others,
          (path) => Effect.flatMap(load(self, root, path), (bytes) => fileOf(path, sources.get(path)!, bytes))
        )
      ],
      emptyDirectories: yield* Effect.forEach(empty, uriOf)
    }
  })

const fileOf = <R>(
  path: string,
  { isDynamic, read }: Source<R>,
  bytes: Uint8Array
): Effect.Effect<SkillFile<R>, SkillError> =>
  Effect.gen(function*() {
    const uri = yield* uriOf(path)
    const stored = { digest: yield* FileBytes.sha256(bytes), size: bytes.length }
    return {
      uri,
      mimeType: mediaTypeOf(SkillUri.nameOf(path), Either.isRight(FileBytes.text(bytes))),
      stored: isDynamic === true ? undefined : stored,
      read: read === undefined ? Effect.succeed(bytes) : read(uri, stored)
    }
  })

const readFrontMatter = (
  file: string,
  bytes: Uint8Array,
  directory: string
): Effect.Effect<Skills.Frontmatter, SkillError> =>
  Effect.gen(function*() {
    const decoded = FileBytes.text(bytes)
    if (Either.isLeft(decoded)) return yield* new SkillError({ file, problem: "the file is not UTF-8 text" })
    const { fields, lineOf } = yield* Effect.mapError(
      FrontMatter.read(decoded.right),
      ({ line, problem }) => new SkillError({ file, line, problem })
    )
    const problem = nameProblem(fields.name, directory)
    if (problem !== undefined) return yield* new SkillError({ file, line: lineOf("name"), problem })
    if (fields.description.length > MAX_DESCRIPTION) {
      return yield* new SkillError({
        file,
        line: lineOf("description"),
        problem: `the description has ${fields.description.length} characters; it may have ${MAX_DESCRIPTION}: ` +
          "move details below the front matter"
      })
    }
    return fields
  })

/** The limit in the specification of Agent Skills. */
const MAX_DESCRIPTION = 1024

const nameProblem = (name: string, directory: string): string | undefined =>
  !Skills.isName(name)
    ? `the name "${name.slice(0, 80)}" must have 1 to 64 lowercase letters, digits and single hyphens, as in pdf-forms`
    : name !== directory
    ? `the name is "${name}", but the directory of the skill is "${directory}": rename the skill or the directory`
    : undefined

const uriOf = (path: string): Effect.Effect<string, SkillError> => {
  const uri = SkillUri.fromPath(path)
  return uri === undefined
    ? refuse(path, "a name in the path is not safe on every system: use letters, digits, hyphens and dots")
    : Effect.succeed(uri)
}

const refuse = (file: string, problem: string): Effect.Effect<never, SkillError> =>
  Effect.fail(new SkillError({ file, problem }))

const mediaTypes: Readonly<Record<string, string>> = {
  bash: "application/x-sh",
  css: "text/css",
  csv: "text/csv",
  gif: "image/gif",
  html: "text/html",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: "text/javascript",
  json: "application/json",
  md: "text/markdown",
  mjs: "text/javascript",
  pdf: "application/pdf",
  png: "image/png",
  py: "text/x-python",
  sh: "application/x-sh",
  svg: "image/svg+xml",
  toml: "application/toml",
  ts: "text/x-typescript",
  txt: "text/plain",
  webp: "image/webp",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml",
  zip: "application/zip"
}

const mediaTypeOf = (name: string, isText: boolean): string => {
  const extension = name.slice(name.lastIndexOf(".") + 1).toLowerCase()
  return Object.hasOwn(mediaTypes, extension)
    ? mediaTypes[extension]!
    : isText
    ? "text/plain"
    : "application/octet-stream"
}
