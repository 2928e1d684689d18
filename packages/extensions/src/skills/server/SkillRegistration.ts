/**
 * Registers the files of skills as resources, for `SkillsServer`. When `SkillsServer` reads the skills again, this module replaces only the
 * skills that have changed. It removes the old version of a skill and registers the new version, and no other fiber runs in between. So a
 * request never finds the skill missing. `SkillIndex` finds the files of skills among the resources.
 */
import type { Hints } from "@effect-mcp/core/CacheHints"
import { InternalError } from "@effect-mcp/core/protocol/McpError"
import * as Registry from "@effect-mcp/core/Registry"
import * as Resource from "@effect-mcp/core/Resource"
import * as ScopeEnd from "@effect-mcp/core/unstable/kit/ScopeEnd"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as FileBytes from "../format/FileBytes.js"
import * as SkillUri from "../format/SkillUri.js"
import { type Skill, SkillChanged, type SkillFile } from "../Skill.js"
import * as Skills from "../Skills.js"
import type { FileResource } from "./SkillIndex.js"

export interface Options {
  readonly registry: Registry.RegistryService
  /** The services of the layer. Effects that generate the content of a file use these services. */
  readonly context: Context.Context<never>
  readonly hints: Hints | undefined
  /** Runs when a client reads a file that has changed since its digest was computed. */
  readonly onChanged: Effect.Effect<void>
}

/** A function that replaces the skills of the feature by `skills`. It dies when another feature has a resource with the same URI. */
export type Replace = (skills: ReadonlyArray<Skill<any>>) => Effect.Effect<void>

/**
 * Makes the function that replaces the skills of the feature. At first the feature has no skills. When the scope closes, this module
 * removes all skills.
 */
export const make = (options: Options): Effect.Effect<Replace, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    let registered: ReadonlyMap<string, Registered> = new Map()
    return (skills) =>
      Effect.gen(function*() {
        const next = new Map(skills.map((skill) => [skill.uri, { skill, content: contentOf(skill) }]))
        const kept = new Map<string, Registered>()
        const updated: Array<string> = []
        for (const [uri, old] of registered) {
          const now = next.get(uri)
          if (now !== undefined && isSame(now.content, old.content)) {
            kept.set(uri, old)
            continue
          }
          for (const [file, digest] of old.content.digests) {
            if (now !== undefined && now.content.digests.get(file) !== digest) updated.push(file)
          }
          yield* ScopeEnd.close(old.scope, Exit.void)
        }
        for (const [uri, { content, skill }] of next) {
          if (kept.has(uri)) continue
          const own = yield* Scope.fork(scope, { _tag: "Sequential" })
          yield* Effect.forEach(skill.files, (file) => register(options, skill, file), { discard: true }).pipe(
            Scope.extend(own)
          )
          kept.set(uri, { content, scope: own })
        }
        registered = kept
        return updated
      }).pipe(
        Registry.batch,
        Effect.withMaxOpsBeforeYield(Number.MAX_SAFE_INTEGER),
        Effect.flatMap((updated) => Effect.forEach(updated, options.registry.updated, { discard: true })),
        Effect.uninterruptible
      )
  })

interface Registered {
  readonly content: FileBytes
  readonly scope: Scope.CloseableScope
}

/** Everything of a skill that clients can see. */
interface FileBytes {
  readonly facts: string
  readonly digests: ReadonlyMap<string, string | undefined>
}

const contentOf = ({ emptyDirectories, files, frontmatter }: Skill<any>): FileBytes => ({
  facts: JSON.stringify([frontmatter, emptyDirectories, files.map(({ mimeType, uri }) => [uri, mimeType])]),
  digests: new Map(files.map(({ stored, uri }) => [uri, stored?.digest]))
})

const isSame = (one: FileBytes, other: FileBytes): boolean =>
  one.facts === other.facts && [...one.digests].every(([uri, digest]) => other.digests.get(uri) === digest)

const register = (
  { context, hints, onChanged, registry }: Options,
  skill: Skill<any>,
  { mimeType, read, stored, uri }: SkillFile<any>
): Effect.Effect<void, never, Scope.Scope> => {
  const isMain = uri === skill.uri
  const { description, name } = skill.frontmatter
  const entry: FileResource = {
    skill,
    stored: stored === undefined ? undefined : { uri, ...stored },
    advertised: {
      uri,
      mimeType,
      ...(isMain ? { name, description } : { name: decodeURIComponent(SkillUri.nameOf(uri)) }),
      ...(stored === undefined ? undefined : { size: stored.size })
    },
    // Only `SKILL.md` is listed among the resources. Clients find the other files in the entry or in the directories of the skill.
    isListed: isMain,
    context,
    hints,
    read: Effect.map(
      Effect.catchIf(read, (error) => error instanceof SkillChanged, () => Effect.zipRight(onChanged, changed(uri))),
      (bytes) => Resource.toResult(Either.getOrElse(FileBytes.text(bytes), () => bytes), uri, mimeType)
    )
  }
  return registry.resources.register(entry)
}

const changed = (uri: string) =>
  new InternalError({
    message: `The file ${uri} has changed since its digest was computed: get the entry of the skill again with ` +
      Skills.extension.requests.get.name
  })
